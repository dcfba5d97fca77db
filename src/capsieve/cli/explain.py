"""``capsieve explain``: the nine panels of one frame, and why."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from capsieve.aperture import FieldOfView
    from capsieve.parameters import Parameters

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve explain frame.png -o panels.png
  capsieve explain frame.png --json
"""


class _Circle(click.ParamType):
    """ROW,COL,RADIUS in the source's pixels, or "auto"."""

    name = "row,col,radius"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, float, float] | str:
        if isinstance(value, tuple) or value == "auto":
            return value
        try:
            row, col, radius = (float(part) for part in value.split(","))
        except ValueError:
            self.fail(
                f"{value!r} is neither auto nor ROW,COL,RADIUS, for instance 255.5,255.5,240",
                param,
                ctx,
            )
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
    metavar="auto|ROW,COL,RADIUS",
    help="The circle that the camera sees, in the frame's pixels; auto finds it on this frame. "
    "By default the whole frame is taken.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and only that.")
@click.option("--show", is_flag=True, help="Open a window with the nine panels.")
def command(
    frame: Path,
    out: Path | None,
    parameters_file: Path | None,
    channel: str | None,
    circle: tuple[float, float, float] | str | None,
    as_json: bool,
    show: bool,
) -> None:
    """Show every step of the algorithm for one FRAME, and why it was flagged or not.

    FRAME is a JPEG, PNG, BMP or TIFF file. Prints the words; -o also writes the picture.
    """
    import capsieve
    from capsieve.cli.output import explanation_json, say_first_run, say_why
    from capsieve.sources.image_file import read_image

    _check_target(frame, out)
    parameters = _parameters(parameters_file, channel)
    pixels = read_image(frame)
    view = _view(circle, pixels)
    say_first_run()
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


def _view(
    circle: tuple[float, float, float] | str | None, pixels: "NDArray[Any]"
) -> "FieldOfView | None":
    """Return the field of view that was asked for; one that was searched is told on stderr."""
    import capsieve

    if circle is None:
        return None
    if not isinstance(circle, str):
        row, col, radius = circle
        return capsieve.FieldOfView(shape="circle", row=row, col=col, radius=radius)
    view = capsieve.field_of_view([pixels])
    if view.confidence == 0.0:
        click.echo("No field of view was found; the whole frame is taken.", err=True)
        return None
    click.echo(
        f"Field of view: {view.shape}, row {view.row:.1f}, column {view.col:.1f}, radius "
        f"{view.radius:.1f}, confidence {view.confidence:.2f}.",
        err=True,
    )
    return view


def _check_target(frame: Path, out: Path | None) -> None:
    """Say before the work what would fail after it."""
    if out is None:
        return
    from capsieve.errors import FileError
    from capsieve.report.figure_file import check_ending

    check_ending(out)
    if not out.absolute().parent.is_dir():
        raise FileError(f"cannot write {out}: there is no folder {out.parent}; make it first")
    if out.resolve() == frame.resolve():
        raise click.UsageError(f"-o {out} would overwrite the frame itself.")


def _parameters(file: Path | None, channel: str | None) -> "Parameters":
    from capsieve.parameters import Parameters

    parameters = Parameters() if file is None else Parameters.load(file)
    if channel is None:
        return parameters
    return Parameters.from_dict({**parameters.to_dict(), "channel": channel})
