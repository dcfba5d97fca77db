"""Options that several commands share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.settings_options import PathType

if TYPE_CHECKING:
    from capsieve.parameters import Parameters

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class ParametersFile(PathType):
    """The parameters of a preset (``printed`` or ``inferred``) or in a TOML file."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> "Parameters":
        """Return the parameters; fail if the file cannot be read.

        The name of a preset wins over a file of that name, which is then given as ``./inferred``.
        """
        from capsieve.parameters import PRESETS, Parameters

        if value in PRESETS:
            return PRESETS[value]
        return Parameters.load(super().convert(value, param, ctx))


labels_option: Decorator = click.option(
    "--labels",
    type=PathType(),
    required=True,
    metavar="FILE",
    help="What the frames show: a table, or the folder of a known data set.",
)

label_format_option: Decorator = click.option(
    "--label-format", metavar="NAME", help="Format of the labels, if it is not recognised."
)

quiet_option: Decorator = click.option("--quiet", is_flag=True, help="Show no progress.")


def json_option(what: str = "the outcome as JSON") -> Decorator:
    """Return the option that prints a result for programs."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what}, and only that.")


def out_folder_option(help_text: str, metavar: str = "OUT") -> Decorator:
    """Return the option for the folder that a command writes."""
    folder = PathType(file_okay=False)
    return click.option("-o", "--out", type=folder, required=True, metavar=metavar, help=help_text)
