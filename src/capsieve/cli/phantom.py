"""``capsieve phantom``: synthetic exams with their truth."""

from pathlib import Path
from typing import Any

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import quiet_option, workers_option
from capsieve.cli.settings_options import PathType

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve phantom -o study --study demo
  capsieve phantom -o mine --patients 3 --frames 400 --polyps 2 --seed 7 --format png
"""


@click.command("phantom", epilog=_EXAMPLE)
@click.option(
    "-o",
    "--out",
    type=PathType(file_okay=False),
    required=True,
    metavar="STUDY",
    help="Folder of the study. An interrupted run of the same study is resumed.",
)
@click.option(
    "--study",
    "name",
    type=click.Choice(["demo", "paper"]),
    help="Study of fixed composition: demo (5 patients, 16 polyps, 670 frames) or that of the "
    "paper (18,968 frames).",
)
@click.option("--patients", type=click.IntRange(1), metavar="N", help="Patients, one exam each.")
@click.option("--frames", type=click.IntRange(1), metavar="N", help="Frames per patient.")
@click.option("--polyps", type=click.IntRange(0), metavar="N", help="Polyps per patient.")
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Each seed gives another study."
)
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["mp4", "png"]),
    default="mp4",
    show_default=True,
    help="H.264 video, or a folder of PNG files per exam.",
)
@click.option("--size", type=int, default=512, show_default=True, help="Rows and columns.")
@click.option("--heads", type=click.IntRange(1, 2), default=1, show_default=True, help="Cameras.")
@click.option(
    "--field",
    type=click.Choice(["circle", "cut-square"]),
    default="circle",
    show_default=True,
    help="Shape of the field of view.",
)
@click.option(
    "--surround",
    type=click.Choice(["black", "grey", "blue"]),
    default="black",
    show_default=True,
    help="Colour around the field of view.",
)
@click.option("--text", is_flag=True, help="Burn time and frame number into the surround.")
@click.option("--depth", is_flag=True, help="Also write depth maps.")
@workers_option
@click.option("--overwrite", is_flag=True, help="Remove another study from the folder first.")
@quiet_option
def command(
    out: Path,
    name: str | None,
    patients: int | None,
    frames: int | None,
    polyps: int | None,
    seed: int,
    file_format: Any,
    depth: bool,
    workers: int | None,
    overwrite: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Render synthetic exams of the colon with known truth.

    Writes the exams, labels.csv, polyps.csv and masks.csv, and per exam poses, visible polyps and
    masks.
    """
    from capsieve.cli.progress import frame_progress
    from capsieve.phantom import plan_study, write_study

    if name is None and None in (patients, frames, polyps):
        raise click.UsageError("Give --study demo or paper, or --patients, --frames and --polyps.")
    study = plan_study(
        name or "custom", patients=patients, frames=frames, polyps=polyps, seed=seed, **options
    )
    total = sum(exam.plan.frames * exam.plan.heads for exam in study.exams)
    with (
        interruptible(overwrite=overwrite),
        frame_progress("Rendering", total, quiet=quiet) as advance,
    ):
        write_study(
            study,
            out,
            file_format=file_format,
            depth=depth,
            workers=workers,
            overwrite=overwrite,
            progress=lambda exam, count: advance(count),
        )
    click.echo(f"{len(study.exams)} exams, {total} frames: {out}")
    click.echo(f"Labels: {out / 'labels.csv'}")
