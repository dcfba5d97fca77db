"""``capsieve explain``: the nine panels of one frame, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from capsieve.parameters import Parameters

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve explain frame.png -o panels.png
  capsieve explain frame.png --json
"""


class _Circle(click.ParamType):
    """ROW,COL,RADIUS in the source's pixels."""

    name = "row,col,radius"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float, float]:
        if isinstance(value, tuple):
            return value
        try:
            row, col, radius = (float(part) for part in value.split(","))
        except ValueError:
            self.fail(f"{value!r} is not ROW,COL,RADIUS, for instance 255.5,255.5,240", param, ctx)
        return row, col, radius


@click.command("explain", epilog=_EXAMPLE)
@click.argument("frame", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the nine panels there, as PNG, SVG or PDF by the ending.",
)
@click.option(
    "--parameters",
    "parameters_file",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Parameters other than the paper's; see capsieve parameters.",
)
@click.option(
    "--channel",
    type=click.Choice(["gray", "red", "lab-a"]),
    help="What the sieve looks at; wins over the file.",
)
@click.option(
    "--field-of-view",
    "circle",
    type=_Circle(),
    metavar="ROW,COL,RADIUS",
    help="The circle that the camera sees, in the frame's pixels; by default the whole frame.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and only that.")
@click.option("--show", is_flag=True, help="Open a window with the nine panels.")
def command(
    frame: Path,
    out: Path | None,
    parameters_file: Path | None,
    channel: str | None,
    circle: tuple[float, float, float] | None,
    as_json: bool,
    show: bool,
) -> None:
    """Show every step of the algorithm for one FRAME, and why it was flagged or not.

    FRAME is a JPEG, PNG, BMP or TIFF file. Prints the words; -o also writes the picture.
    """
    import capsieve
    from capsieve.cli.output import explanation_json, say_why
    from capsieve.sources.image_file import read_image

    _check_target(frame, out)
    parameters = _parameters(parameters_file, channel)
    pixels = read_image(frame)
    view = None
    if circle is not None:
        row, col, radius = circle
        view = capsieve.FieldOfView(shape="circle", row=row, col=col, radius=radius, confidence=1.0)
    explanation = capsieve.explain(pixels, parameters, view)
    if out is not None:
        from capsieve.report.nine_panels import nine_panels, save_figure

        save_figure(nine_panels(explanation, parameters), out)
    if as_json:
        figure = None if out is None else str(out)
        click.echo(explanation_json(explanation, parameters, file=str(frame), figure=figure))
    else:
        say_why(explanation, parameters)
        if out is not None:
            click.echo(f"Wrote {out}")
        elif not show:
            click.echo("For the nine panels add -o FILE.png, .svg or .pdf, or --show.", err=True)
    if show:
        from capsieve.report.nine_panels import nine_panels
        from capsieve.report.window import show_in_window

        show_in_window(
            lambda figure: nine_panels(explanation, parameters, figure=figure),
            title=f"capsieve: {frame.name}",
        )


def _check_target(frame: Path, out: Path | None) -> None:
    """Say before the work what would fail after it."""
    if out is None:
        return
    from capsieve.report.figure_file import check_ending

    check_ending(out)
    if out.resolve() == frame.resolve():
        raise click.UsageError(f"-o {out} would overwrite the frame itself.")


def _parameters(file: Path | None, channel: str | None) -> "Parameters":
    from capsieve.parameters import Parameters

    parameters = Parameters() if file is None else Parameters.load(file)
    if channel is None:
        return parameters
    return Parameters.from_dict({**parameters.to_dict(), "channel": channel})
