"""Detectors that learned from labelled frames, and what they look at."""
