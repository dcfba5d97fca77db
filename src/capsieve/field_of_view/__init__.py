"""Find the part of a frame that shows the gut.

Modules in reading order: find (the search), surround (frames in, colours of the surround, edge of
the rest), shapes (discs and polygons fitted to that edge).
"""

from capsieve.field_of_view.find import find_field_of_view

__all__ = ["find_field_of_view"]
