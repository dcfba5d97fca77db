"""``capsieve phantom``: synthetic exams with their truth."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import out_folder_option, quiet_option
from capsieve.cli.settings_options import settings_options
from capsieve.option_fields import option

_EXAMPLE = """\b
Example:
  capsieve phantom -o study --study demo
  capsieve phantom -o mine --patients 3 --frames 400 --polyps 2 --seed 7 --format png
"""


@dataclass(frozen=True)
class PhantomSettings:
    """Which synthetic study is rendered, and how it is written."""

    study: Literal["demo", "paper"] | None = option(
        None,
        "Study of fixed composition: demo (5 patients, 16 polyps, 670 frames) or that of the paper "
        "(18,968 frames).",
    )
    patients: int | None = option(None, "Patients, one exam each.", min=1)
    frames: int | None = option(None, "Frames per patient.", min=1)
    polyps: int | None = option(None, "Polyps per patient.", min=0)
    seed: int = option(0, "Each seed gives another study.")
    file_format: Literal["mp4", "png"] = option(
        "mp4", "H.264 video, or a folder of PNG files per exam.", option="--format"
    )
    size: int = option(512, "Rows and columns.")
    heads: int = option(1, "Cameras.", min=1, max=2)
    field: Literal["circle", "cut-square"] = option("circle", "Shape of the field of view.")
    surround: Literal["black", "grey", "blue"] = option("black", "Colour around the field of view.")
    text: bool = option(False, "Burn time and frame number into the surround.")
    depth: bool = option(False, "Also write depth maps.")
    workers: int | None = option(None, "Processes; by default one per core.", min=1)
    overwrite: bool = option(False, "Remove another study from the folder first.")


@click.command("phantom", epilog=_EXAMPLE)
@out_folder_option(
    "Folder of the study. An interrupted run of the same study is continued.", "STUDY"
)
@settings_options(PhantomSettings)
@quiet_option
def command(settings: PhantomSettings, out: Path, quiet: bool) -> None:
    """Render synthetic exams of the colon with known truth.

    Writes the exams, labels.csv, polyps.csv and masks.csv, and per exam poses, visible polyps and
    masks.
    """
    from capsieve.cli.progress import frame_progress
    from capsieve.phantom import plan_study, write_study

    if settings.study is None and None in (settings.patients, settings.frames, settings.polyps):
        raise click.UsageError("Give --study demo or paper, or --patients, --frames and --polyps.")
    study = plan_study(
        settings.study or "custom",
        patients=settings.patients,
        frames=settings.frames,
        polyps=settings.polyps,
        seed=settings.seed,
        size=settings.size,
        heads=settings.heads,
        field=settings.field,
        surround=settings.surround,
        text=settings.text,
    )
    total = sum(exam.plan.frames * exam.plan.heads for exam in study.exams)
    with (
        interruptible(overwrite=settings.overwrite),
        frame_progress("Rendering", total, quiet=quiet) as advance,
    ):
        write_study(
            study,
            out,
            file_format=settings.file_format,
            depth=settings.depth,
            workers=settings.workers,
            overwrite=settings.overwrite,
            progress=lambda exam, count: advance(count),
        )
    click.echo(f"{len(study.exams)} exams, {total} frames: {out}")
    click.echo(f"Labels: {out / 'labels.csv'}")
