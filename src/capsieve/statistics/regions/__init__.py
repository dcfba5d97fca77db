"""Where polyps lie on frames: boxes and masks, and whether a detector points at them."""
