"""Compiled loops of the curvature detector."""
