"""The curvature of the frame as a surface: the way that the paper's introduction argues against."""
