"""Compiled loops of the calibration."""
