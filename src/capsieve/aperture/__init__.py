"""The field of view: which part of a capsule's picture shows the gut."""

from capsieve.aperture.field import FieldOfView
from capsieve.aperture.find import field_of_view

__all__ = ["FieldOfView", "field_of_view"]
