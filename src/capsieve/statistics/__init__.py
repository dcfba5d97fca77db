"""Statistics: pure functions on arrays, and the types of their results.

In reading order: definitions (of metrics), results (types, options), frames (labelled frames),
intervals, operating_point, delong, roc, rates, reading_effort, breakdown, comparison, robustness.
Statistics take a mask of flagged frames, so thresholds and reading lists are evaluated alike.
"""
