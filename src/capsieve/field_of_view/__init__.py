"""Find the part of a frame that shows the gut."""

from capsieve.field_of_view.find import find_field_of_view

__all__ = ["find_field_of_view"]
