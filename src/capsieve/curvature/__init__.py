"""The curvature detector, the baseline that the paper's introduction argues against.

Modules in reading order: detector (its scores), domes (curvatures and the regions found with them),
kernels (compiled loops).
"""
