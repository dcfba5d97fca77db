"""Features of a frame that a doctor would understand. See docs/features.md."""
