"""Output that several commands share: lines for people, JSON for programs."""

import dataclasses
import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from capsieve._version import __version__
from capsieve.detectors import parameters_of
from capsieve.parameters import Parameters
from capsieve.results import Feature, FrameResult

if TYPE_CHECKING:
    from capsieve.detector import Detector
    from capsieve.labels import LabelProblem
    from capsieve.report.frame_flag import FrameFlag

__all__ = [
    "EXPLANATION_SCHEMA",
    "announce_compilation",
    "explanation_json",
    "say",
    "say_cautions",
    "say_compiling",
    "say_why",
    "score_json",
]

EXPLANATION_SCHEMA = 2
"""Version of the JSON object; it grows when a name in it changes its meaning."""


def announce_compilation() -> None:
    """Call :func:`say_compiling` if this command compiles kernels, just before it does."""
    from capsieve.compiling import on_first_compilation

    on_first_compilation(say_compiling)


def say(text: str, *, err: bool = False) -> None:
    """Print one line; control characters, also bidirectional ones, are replaced."""
    from capsieve.report.text import plain

    click.echo(plain(" ".join(text.split("\n"))), err=err)


def say_compiling() -> None:
    """Print on stderr why the first run takes longer."""
    click.echo("First run: compiling the program. This takes half a minute, once.", err=True)


def say_cautions(
    leaks: Iterable[str], warnings: Iterable[str], problems: "Iterable[LabelProblem]"
) -> None:
    """Print leaks, warnings and problems of the labels on stderr, one line each."""
    for leak in leaks:
        say(f"capsieve: leak, allowed: {leak}", err=True)
    for warning in warnings:
        say(f"capsieve: {warning[:1].upper()}{warning[1:]}", err=True)
    for problem in problems:
        examples = f" ({'; '.join(problem.examples[:3])})" if problem.examples else ""
        used = "used" if problem.used else "not used"
        say(f"capsieve: {problem.rows:,} {used}: {problem.what}{examples}", err=True)


def say_why(why: Sequence[str]) -> None:
    """Print the reasons for a decision, the first in bold if stdout is a terminal."""
    first, *rest = why
    click.secho(first, bold=True)
    for line in rest:
        click.echo(line)


def explanation_json(
    result: FrameResult,
    parameters: Parameters,
    *,
    why: Sequence[str],
    flag: "FrameFlag | None",
    **more: str | int | None,
) -> str:
    """Return the result as a JSON object.

    Every number is finite or null: an infinite eccentricity (a feature that is a line of pixels)
    is null. Positions are 0-based pixel centres, on the working grid and in the source's pixels.

    Parameters
    ----------
    result, parameters, why
        The result, the parameters, and the reasons as text.
    flag
        The stored flag of a frame of a screened exam.
    **more
        Further entries for the top of the object, such as the file's name.
    """
    content = {
        "schema": EXPLANATION_SCHEMA,
        "capsieve": __version__,
        **more,
        "label": result.label,
        "reason": result.reason,
        "score": _number(result.score),
        "texture_max": _number(result.texture_max),
        "radius_max": int(result.radius_max),
        "midpass_max": _number(result.midpass_max),
        "segmentation_threshold": _number(result.segmentation_threshold),
        "flagging": _flagging(flag),
        "why": list(why),
        "best": result.best.number if result.best else None,
        "features": [_feature(feature, result) for feature in result.features],
        "placement": {
            name: _number(value) for name, value in dataclasses.asdict(result.placement).items()
        },
        "preset": parameters.preset,
        "parameters": parameters.to_dict(),
        "derived": dataclasses.asdict(parameters.derived),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def score_json(
    detector: "Detector",
    result: FrameResult,
    *,
    threshold: float | None,
    why: Sequence[str],
    flag: "FrameFlag | None",
    **more: str | int | None,
) -> str:
    """Return the result of a detector other than the paper's as a JSON object.

    Parameters
    ----------
    detector, result, why
        The detector, its result, and the reasons as text.
    threshold
        The detector's own, or that of the exam; None if there is none.
    flag
        The stored flag of a frame of a screened exam.
    **more
        Further entries for the top of the object, such as the file's name.
    """
    place = result.place
    values = dict(zip(detector.value_names, map(_number, result.values), strict=False))
    content = {
        "schema": EXPLANATION_SCHEMA,
        "capsieve": __version__,
        **more,
        "label": result.label,
        "reason": result.reason,
        "score": _number(result.score),
        "score_threshold": _number(threshold),
        "flagging": _flagging(flag),
        "why": list(why),
        "place": place and {name: _number(value) for name, value in place._asdict().items()},
        "values": values,
        "detector": detector.identity,
        "parameters": parameters_of(detector).to_dict(),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def _flagging(flag: "FrameFlag | None") -> dict[str, Any] | None:
    """The rule of the exam, and the position of the frame in the order of scores."""
    if flag is None:
        return None
    return {**flag.flagging, "position": flag.position, "duplicate_of": flag.duplicate_of}


def _feature(feature: Feature, result: FrameResult) -> dict[str, Any]:
    to_source = result.placement.to_source
    row, col = to_source(feature.row, feature.col)
    ball_row, ball_col = to_source(feature.ball_row, feature.ball_col)
    working = (feature.row, feature.col, feature.ball_row, feature.ball_col, feature.radius)
    source = (row, col, ball_row, ball_col, result.placement.length_to_source(feature.radius))
    return {
        "number": int(feature.number),
        "size": int(feature.size),
        "eccentricity": _number(feature.eccentricity),
        "rejected": feature.rejected,
        "working": _position(working),
        "source": _position(source),
    }


def _position(values: tuple[float, ...]) -> dict[str, float | int | None]:
    names = ("row", "col", "ball_row", "ball_col", "radius")
    return {name: _number(value) for name, value in zip(names, values, strict=True)}


def _number(value: float | None) -> float | int | None:
    """A plain Python number; JSON knows neither NumPy's nor infinite ones."""
    if value is None or not math.isfinite(value):
        return None
    return int(value) if isinstance(value, int) else float(value)
