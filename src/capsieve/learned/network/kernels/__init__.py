"""Compiled loops of the network's training."""
