"""Every feature of a frame, in the order of the values."""

from capsieve.learned.features import bumps, colour, domes, sharpness, spots
from capsieve.learned.features.description import FeatureDescription

__all__ = ["FEATURES", "NAMES", "VERSION", "FeatureDescription"]

VERSION = 2
"""Raised with any change of a value or of the order: a model says which one it learned from."""

FEATURES: tuple[FeatureDescription, ...] = (
    *bumps.DESCRIPTIONS,
    *domes.DESCRIPTIONS,
    *colour.DESCRIPTIONS,
    *sharpness.DESCRIPTIONS,
    *spots.DESCRIPTIONS,
)
"""Name, group, unit and words of each value."""

NAMES: tuple[str, ...] = tuple(feature.name for feature in FEATURES)
"""The names alone."""
