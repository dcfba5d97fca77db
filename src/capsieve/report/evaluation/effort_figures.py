"""What is found for what is read: reading effort, alarms in time, marks on polyps."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from capsieve.report.evaluation.cells import decimals, rate_text
from capsieve.report.evaluation.drawing import (
    BLUE,
    GREY,
    MARKS,
    ORANGE,
    VERMILLION,
    axes_labels,
    count_axis,
    drawing_style,
    legends_below,
    mathematical,
    new_figure,
    panel_title,
    percent_axis,
)
from capsieve.report.evaluation.operating import distinct_points, place_of, threshold_name
from capsieve.report.evaluation.thinning import thinned
from capsieve.report.formats import plural
from capsieve.statistics.evaluation import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["alarms_figure", "effort_figure", "froc_figure"]

Floats = NDArray[np.float64]
_MOST_DRAWN = 2000
_ABOVE_MINUTES = 0.78


def effort_figure(evaluation: Evaluation) -> "Figure | None":
    """Draw polyps found against frames to read per exam, and against events where times exist."""
    curve = evaluation.effort
    if curve is None or not np.isfinite([curve.polyps_found, curve.frames_found]).any():
        return None  # without a polyp there is nothing to find
    events = np.isfinite(curve.events).any()
    speed = decimals(curve.frames_per_second, digits=0 if curve.frames_per_second >= 1 else 2)
    notes = [
        f"Mean over {plural(curve.exams, 'exam')} with "
        f"{decimals(curve.all_frames, digits=0)} frames each on average. "
        f"Minutes at {speed} frames per second."
    ]
    if events and _runs_back(curve.events, curve.polyps_found):
        notes.append(_back_words("events"))
    unit = f"{curve.unit}s"
    with drawing_style():
        figure, panels = new_figure(
            2 if events else 1, width=3.7, height=3.1, top=_ABOVE_MINUTES, notes=notes
        )
        first = panels[0]
        _line(first, curve.frames, curve.polyps_found, f"{unit} found", BLUE, "-")
        if np.isfinite(curve.frames_found).any():
            _line(first, curve.frames, curve.frames_found, "polyp frames found", ORANGE, "--")
        _finish(
            first,
            curve.frames,
            f"{unit} found, by frames",
            "frames to read per exam",
            "a" if events else "",
        )
        _mark(
            first,
            evaluation,
            curve.thresholds,
            curve.frames,
            curve.polyps_found,
            curve.polyps,
            "frames",
        )
        _minutes(first, curve.frames_per_second)
        if events:
            second = panels[1]
            _line(second, curve.events, curve.polyps_found, f"{unit} found", BLUE, "-")
            _finish(
                second, curve.events, f"{unit} found, by events", "events to read per exam", "b"
            )
            _mark(
                second,
                evaluation,
                curve.thresholds,
                curve.events,
                curve.polyps_found,
                curve.polyps,
                "events",
            )
        legends_below(figure, panels)
        return figure


def alarms_figure(evaluation: Evaluation) -> "Figure | None":
    """Draw polyps found in time against false alarms per exam."""
    curve = evaluation.alarms
    if curve is None or not np.isfinite(curve.found).any():
        return None
    notes = [
        f"{plural(curve.polyps, curve.unit)}, {plural(curve.exams, 'exam')}. In time: within "
        f"{curve.within:g} s of the first frame. A false alarm is a run of flagged frames "
        f"without a polyp frame; pauses of up to {curve.gap:g} s do not end it."
    ]
    if curve.shortest > 0:
        notes.append(f"Alarms shorter than {curve.shortest:g} s do not count.")
    if _runs_back(curve.alarms, curve.found):
        notes.append(_back_words("alarms"))
    with drawing_style():
        figure, [axes] = new_figure(1, width=4.6, height=3.1, notes=notes)
        _line(axes, curve.alarms, curve.found, f"{curve.unit}s found in time", BLUE, "-")
        _finish(
            axes, curve.alarms, "Polyps found in time, and false alarms", "false alarms per exam"
        )
        axes.set_ylabel(f"{curve.unit}s found within {curve.within:g} s")
        _mark(axes, evaluation, curve.thresholds, curve.alarms, curve.found, curve.polyps, "alarms")
        legends_below(figure, [axes])
        return figure


def froc_figure(evaluation: Evaluation) -> "Figure | None":
    """Draw the free-response ROC: outlines that hold a mark against marks beside them."""
    curve = evaluation.froc
    if curve is None or not curve.marks.size:
        return None
    notes = [
        f"{plural(curve.outlines, 'outline')} (one polyp on one frame), "
        f"{plural(curve.frames, 'frame')} looked at."
    ]
    with drawing_style():
        figure, [axes] = new_figure(1, width=4.6, height=3.1, notes=notes)
        _line(axes, curve.marks, curve.hit_rate, "FROC", BLUE, "-")
        _finish(axes, curve.marks, "Does the ball lie on the polyp?", "marks beside, per frame")
        axes.set_ylabel("outlines that hold a mark's centre")
        _mark(
            axes, evaluation, curve.thresholds, curve.marks, curve.hit_rate, curve.outlines, "marks"
        )
        legends_below(figure, [axes])
        return figure


def _line(axes: "Axes", x: Floats, y: Floats, label: str, color: str, dashes: str) -> None:
    chosen = thinned(x, y, most=_MOST_DRAWN)
    axes.plot(x[chosen], y[chosen], dashes, color=color, label=mathematical(label))
    if chosen.size:
        end = chosen[-1]
        axes.plot([x[end]], [y[end]], "o", color=color, markerfacecolor="white", zorder=4)


def _runs_back(x: Floats, y: Floats) -> bool:
    """Whether a lower threshold leaves less somewhere on the curve as it is drawn."""
    return bool((np.diff(x[thinned(x, y, most=_MOST_DRAWN)]) < 0).any())


def _back_words(noun: str) -> str:
    return f"Where the curve runs back, a lower threshold has merged {noun} into fewer."


def _finish(axes: "Axes", x: Floats, title: str, label: str, letter: str = "") -> None:
    finite = x[np.isfinite(x)]
    axes.set_xlim(0, float(finite.max(initial=0.0)) * 1.03 or 1)
    axes.set_ylim(0, 1.02)
    percent_axis(axes.yaxis)
    count_axis(axes.xaxis)
    axes_labels(axes, label, "share found")
    # Panels with a letter leave room for the axis in minutes above one of them.
    panel_title(axes, title[:1].upper() + title[1:], letter, pad=40 if "to read" in label else 8)


def _mark(
    axes: "Axes",
    evaluation: Evaluation,
    thresholds: Floats,
    x: Floats,
    y: Floats,
    whole: int,
    noun: str,
) -> None:
    for mark, point in zip(MARKS, distinct_points(evaluation.points), strict=False):
        place = place_of(thresholds, point.threshold)
        if place < 0 or not np.isfinite([x[place], y[place]]).all():
            continue
        across = decimals(
            float(x[place]), digits=0 if x[place] >= 100 else 1 if x[place] >= 1 else 2
        )
        found = rate_text(float(y[place]), whole)
        name = f"{threshold_name(evaluation, point)}: {found} for {across} {noun}"
        axes.plot(
            [x[place]], [y[place]], mark, color=VERMILLION, markersize=10, markeredgewidth=2.2,
            linestyle="none", label=mathematical(name), zorder=5, clip_on=False,
        )  # fmt: skip


def _minutes(axes: "Axes", speed: float) -> None:
    """A second axis above: the same way in minutes of reading."""
    if not speed > 0:
        return
    above = axes.secondary_xaxis(
        "top",
        functions=(
            lambda frames: np.asarray(frames, np.float64) / speed / 60,
            lambda minutes: np.asarray(minutes, np.float64) * speed * 60,
        ),
    )
    above.set_xlabel("minutes of reading per exam", fontsize=8.6)
    above.tick_params(labelsize=8.2, colors=GREY, labelcolor="#5b6875")
