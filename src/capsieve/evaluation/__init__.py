"""Evaluate, compare and calibrate detectors; check for leaks; study and search parameters."""
