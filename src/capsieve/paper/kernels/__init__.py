"""Compiled loops: the only place with machine-level code. The formulas are in the modules above.

Importing this package imports numba, which takes a second; only the detector does it, and late.
"""
