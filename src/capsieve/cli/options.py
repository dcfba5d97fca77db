"""Options that several commands share: they read the same everywhere."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.circle import Circle

if TYPE_CHECKING:
    from capsieve.engine.views import FieldChoice

__all__ = [
    "field_choice",
    "field_of_view_option",
    "full_names_option",
    "labels_option",
    "layout_option",
    "parameters_option",
    "workers_option",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

labels_option: Decorator = click.option(
    "--labels",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="What the frames truly show: a table, or the folder of a known collection.",
)

layout_option: Decorator = click.option(
    "--layout", metavar="NAME", help="The labels' layout, where it is not recognised."
)

full_names_option: Decorator = click.option(
    "--full-names",
    is_flag=True,
    help="Name exams after the folders that they lie in as well: Polyp/KID is Polyp-KID.",
)

workers_option: Decorator = click.option(
    "--workers", type=click.IntRange(1), help="Processes; one per core by default."
)

field_of_view_option: Decorator = click.option(
    "--field-of-view",
    "circle",
    type=Circle("auto", "whole"),
    default="auto",
    show_default=True,
    metavar="auto|whole|ROW,COL,RADIUS",
    help="The circle that the camera sees: searched for each exam, the whole frame, or in the "
    "frame's pixels.",
)


def parameters_option(help_text: str) -> Decorator:
    """Return the option that names a file of parameters."""
    return click.option(
        "--parameters",
        "parameters_file",
        type=click.Path(path_type=Path),
        metavar="FILE.toml",
        help=help_text,
    )


def field_choice(circle: tuple[float, float, float] | str) -> "FieldChoice":
    """Return what the user said of the field of view, as the engine takes it."""
    from capsieve.aperture.field import FieldOfView

    if isinstance(circle, str):
        return circle  # pyright: ignore[reportReturnType]
    row, col, radius = circle
    return FieldOfView("circle", row, col, radius)
