"""Calibration: the operating point, and the search for parameters."""
