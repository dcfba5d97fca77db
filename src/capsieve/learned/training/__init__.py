"""Training: examples in, a model out."""
