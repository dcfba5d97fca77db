"""``capsieve explain`` with a detector other than the paper's: its evidence for one frame."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve._version import __version__

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from capsieve.detector import Detector
    from capsieve.frames import FieldOfView
    from capsieve.results import Evidence, FrameResult

__all__ = ["explain_score"]

SCHEMA = 1
"""Version of the JSON object; it grows when a name in it changes its meaning."""


def explain_score(
    detector: "Detector",
    pixels: "NDArray[Any]",
    field_of_view: "FieldOfView | None",
    *,
    out: Path | None,
    as_json: bool,
    show: bool,
    named: Mapping[str, Any],
    title: str,
) -> None:
    """Print why a frame was flagged or not, and draw the evidence where that is asked for.

    Parameters
    ----------
    detector
        Not the paper's.
    pixels, field_of_view
        The frame, and the circle that the camera sees.
    out, as_json, show
        As the command has them.
    named
        Names of the frame, for the JSON object.
    title
        Of the window.
    """
    from capsieve.engine.evidence import strongest
    from capsieve.report.learned_panels import learned_panels
    from capsieve.report.nine_panels import save_figure
    from capsieve.report.score_words import is_probability, score_why
    from capsieve.results import Evidence

    result = detector.score(pixels, field_of_view)
    ask = getattr(detector, "evidence", None)
    evidence = Evidence() if ask is None else ask(pixels, field_of_view)
    drawing = {
        "threshold": detector.score_threshold,
        "probability": is_probability(detector.identity),
        "words": getattr(detector, "value_words", None),
    }
    why = score_why(result, weights=strongest(evidence.weights), **drawing)
    if out is not None:
        save_figure(learned_panels(pixels, result, evidence, **drawing), out)
    if as_json:
        more = dict(named) | {"figure": None if out is None else str(out)}
        click.echo(_json(detector, result, evidence, why, more))
    else:
        click.secho(why[0], bold=True)
        for line in why[1:]:
            click.echo(line)
        if out is not None:
            click.echo(f"Wrote {out}")
        elif not show:
            click.echo("For the picture add -o FILE.png, .svg or .pdf, or --show.", err=True)
    if show:
        from capsieve.report.window import show_in_window

        show_in_window(
            lambda figure: learned_panels(pixels, result, evidence, figure=figure, **drawing),
            title=title,
        )


def _json(
    detector: "Detector",
    result: "FrameResult",
    evidence: "Evidence",
    why: list[str],
    more: Mapping[str, Any],
) -> str:
    values = dict(zip(detector.value_names, map(_number, result.values), strict=False))
    place = result.place
    content = {
        "schema": SCHEMA,
        "capsieve": __version__,
        **more,
        "label": result.label,
        "reason": result.reason,
        "score": _number(result.score),
        "threshold": _number(detector.score_threshold),
        "why": why,
        "place": None
        if place is None
        else {name: _number(value) for name, value in place._asdict().items()},
        "values": values,
        "weights": [
            {
                "name": weight.name,
                "value": _number(weight.value),
                "typical": _number(weight.typical),
                "change": _number(weight.change),
            }
            for weight in evidence.weights
        ],
        "detector": detector.identity,
        "parameters": detector.parameters.to_dict(),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def _number(value: float) -> float | None:
    """A plain number; JSON knows neither NumPy's nor infinite ones."""
    return float(value) if math.isfinite(value) else None
