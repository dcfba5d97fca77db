"""``capsieve demo``: the way of one frame, with nothing else needed."""

from pathlib import Path

import click

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve demo
  capsieve demo -o /tmp/demo
"""


@click.command("demo", epilog=_EXAMPLE)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("capsieve-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the pictures; it is made where it is absent.",
)
def command(out: Path) -> None:
    """Explain a synthetic frame with a polyp that capsieve makes itself.

    Writes the frame and its nine panels into a folder.
    """
    import capsieve
    from capsieve.cli.output import say_first_run, say_why
    from capsieve.errors import FileError
    from capsieve.report.nine_panels import nine_panels, save_figure
    from capsieve.whole_file import whole_file

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {out}: {error.strerror}") from error
    pixels = capsieve.phantom.polyp_frame()
    frame_file, panels_file = out / "frame.png", out / "nine-panels.png"
    with whole_file(frame_file) as temporary:
        from PIL import Image

        Image.fromarray(pixels).save(temporary, optimize=True)
    parameters = capsieve.Parameters()
    say_first_run()
    explanation = capsieve.explain(pixels, parameters)
    save_figure(nine_panels(explanation, parameters), panels_file)
    say_why(explanation, parameters)
    click.echo()
    click.echo(f"The frame:        {frame_file}")
    click.echo(f"The nine panels:  {panels_file}")
