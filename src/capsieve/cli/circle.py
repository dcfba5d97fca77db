"""The option that takes a circle."""

from typing import Any

import click

__all__ = ["Circle"]


class Circle(click.ParamType):
    """ROW,COL,RADIUS in the source's pixels, or one of a few words."""

    name = "row,col,radius"

    def __init__(self, *words: str) -> None:
        self._words = words

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float, float] | str:
        """Return the three numbers, or the word."""
        if isinstance(value, tuple) or value in self._words:
            return value
        try:
            row, col, radius = (float(part) for part in value.split(","))
        except ValueError:
            words = " nor ".join(self._words)
            self.fail(
                f"{value!r} is neither {words} nor ROW,COL,RADIUS, for instance 255.5,255.5,240",
                param,
                ctx,
            )
        return row, col, radius
