"""Screened frames and labels brought together: which label belongs to which frame."""

from capsieve.statistics.matching.matched import Matched, match
from capsieve.statistics.matching.pixels import pixel_codes

__all__ = ["Matched", "match", "pixel_codes"]
