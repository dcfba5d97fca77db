"""Compiled loops of the statistics. Importing this package imports numba; do it late."""
