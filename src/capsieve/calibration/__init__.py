"""Calibration: the choice of the operating point."""
