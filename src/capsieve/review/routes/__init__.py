"""What the reading room answers: one small file per subject."""
