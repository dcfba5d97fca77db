"""Compiled loops of the synthetic colon.

A kernel calls only kernels of its own file, because numba notices changes of that file only.
"""
