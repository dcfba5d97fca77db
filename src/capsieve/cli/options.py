"""Options that several commands share: they read the same everywhere."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from capsieve.cli.field_of_view import FieldOfViewType
from capsieve.cli.settings_options import PathType

__all__ = [
    "allow_leaks_option",
    "field_of_view_option",
    "full_names_option",
    "gap_option",
    "json_option",
    "labels_option",
    "layout_option",
    "out_folder_option",
    "parameters_option",
    "quiet_option",
    "reading_speed_option",
    "rounds_option",
    "seed_option",
    "seed_option_of",
    "splits_option",
    "train_patient_option",
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

rounds_option: Decorator = click.option(
    "--rounds",
    type=click.IntRange(100),
    default=2000,
    show_default=True,
    metavar="N",
    help="Rounds of the bootstrap.",
)

quiet_option: Decorator = click.option("--quiet", is_flag=True, help="Show no progress.")


def json_option(what: str = "the outcome as JSON") -> Decorator:
    """Return the option that has a command print for machines."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what}, and only that.")


def seed_option_of(help_text: str) -> Decorator:
    """Return the option that says where chance begins."""
    return click.option(
        "--seed",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        metavar="S",
        help=help_text,
    )


seed_option: Decorator = seed_option_of("Of the bootstrap: the same seed gives the same intervals.")

reading_speed_option: Decorator = click.option(
    "--reading-speed",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    metavar="FPS",
    help="Frames that a reader looks at in a second.",
)

gap_option: Decorator = click.option(
    "--gap",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Flagged frames no further apart are one event.",
)

splits_option: Decorator = click.option(
    "--splits",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Parts of the study, from capsieve splits: train chooses and test judges; folds judge "
    "each other.",
)

train_patient_option: Decorator = click.option(
    "--train-patient",
    "train_patients",
    multiple=True,
    metavar="NAME",
    help="A patient on whose frames the operating point is chosen; may be given several times.",
)

allow_leaks_option: Decorator = click.option(
    "--allow-leaks",
    is_flag=True,
    help="Go on although training and test share patients or pictures; what is written says so.",
)

field_of_view_option: Decorator = click.option(
    "--field-of-view",
    type=FieldOfViewType("auto", "whole"),
    default="auto",
    show_default=True,
    metavar="auto|whole|ROW,COL,RADIUS",
    help="The circle that shows the gut: searched in each exam, the whole frame, or in pixels of "
    "the frame.",
)


def out_folder_option(help_text: str) -> Decorator:
    """Return the option that names the folder for what a command writes."""
    return click.option(
        "-o",
        "--out",
        type=PathType(file_okay=False),
        required=True,
        metavar="OUT",
        help=help_text,
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
