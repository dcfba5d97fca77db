"""Compiled loops of the synthetic colon."""
