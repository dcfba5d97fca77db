"""Compiled loops of the curvatures."""
