"""Artificial frames with known content, for tests, docs and demonstrations."""

from capsieve.phantom.still import polyp_frame

__all__ = ["polyp_frame"]
