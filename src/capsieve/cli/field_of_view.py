"""The value of the option --field-of-view."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from capsieve.frames import FieldOfView


class FieldOfViewType(click.ParamType):
    """ROW,COL,RADIUS in pixels of the source, or one of the given words."""

    name = "row,col,radius"

    def __init__(self, *words: str) -> None:
        self._words = words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> "FieldOfView | str":
        """Return the field of view, or the word."""
        from capsieve.frames import FieldOfView

        if isinstance(value, FieldOfView) or value in self._words:
            return value
        try:
            row, col, radius = (float(part) for part in value.split(","))
        except ValueError:
            words = ", ".join(self._words)
            self.fail(f"{value!r}: use {words} or ROW,COL,RADIUS, such as 255,255,240", param, ctx)
        return FieldOfView("circle", row, col, radius)
