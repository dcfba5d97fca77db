"""Galleries: frames side by side, like the paper's figures, as PNG files.

Low, medium and high texture, components of a polyp and of folds, best-fit balls on polyps, missed
polyps, and false positives with the highest scores. The choice depends on the tables alone: the
same evaluation gives the same frames. For the paper's detector the steps of Algorithm 1 are drawn
(step_figures), for other detectors the frames with the place that the detector points at.
"""

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.detectors import rule_parameter
from capsieve.frame_images import rgb, shrink
from capsieve.frame_table import NORMAL, Integers, LabelledFrames, Mask
from capsieve.parameters import Parameters
from capsieve.report import figures
from capsieve.report.figures import Drawing
from capsieve.report.step_figures import (
    ACROSS,
    ShownFrame,
    balls_drawing,
    errors_drawing,
    geometry_drawing,
    texture_drawing,
)
from capsieve.report.text import clock, count, digits, distinct, math_symbols, plain, plural
from capsieve.results import Explanation
from capsieve.statistics.results import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MOST = {"found": 8, "missed": 24, "false-positives": 12}
_WIDTH = 300  # pixels of a frame
_CLOSE = 25  # frames: false positives nearer than this show the same thing
_STEPS = {"radius-low": 3, "score-low": 3, "no-feature": 2, "texture-low": 1, "texture-high": 1}
_DRAWN_WITH_STEPS = {
    "texture": texture_drawing,
    "geometry": geometry_drawing,
    "found": balls_drawing,
    "missed": errors_drawing,
    "false-positives": errors_drawing,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameImages:
    """Images of the labelled frames, by their rows.

    Attributes
    ----------
    pixels
        Returns the pixels of a frame, or None if it cannot be read.
    explain
        Of the paper's detector: returns the explanation of a frame, with the label "polyp" if the
        evaluation flags it; or None if it cannot be read.
    components
        Of the paper's detector: the number of connected components of each frame.
    fold
        Of the paper's detector: the size of the largest component of each frame that the limit of
        the eccentricity rejected; 0 for none.
    """

    pixels: Callable[[int], NDArray[Any] | None]
    explain: Callable[[int], Explanation | None] | None = None
    components: Integers | None = None
    fold: Integers | None = None


class Gallery(NamedTuple):
    """Frames of a gallery: rows of the labelled frames, and a title per frame."""

    key: str
    title: str
    caption: str
    rows: list[int]
    titles: list[str]


def choose(evaluation: Evaluation, images: FrameImages) -> list[Gallery]:
    """Choose the frames; galleries without any are left out."""
    frames, flagged, word = evaluation.frames, _flagged(evaluation), evaluation.frames.polyp_word
    missed = _missed(frames, flagged)
    false = _false_positives(frames, flagged)
    all_false = int(np.count_nonzero(flagged & frames.normal_frames))
    most = _MOST["missed"]
    galleries = [
        _texture(evaluation),
        _geometry(evaluation, images),
        _found(evaluation),
        Gallery(
            "missed",
            f"Missed {word}s",
            f"{_number(min(most, len(missed)), len(missed))} {word}s without a flagged frame: the "
            "frame with the highest score, and the rule that stopped it.",
            missed[:most],
            [_name(word, frames.polyp[row]) for row in missed[:most]],
        ),
        Gallery(
            "false-positives",
            "False positives with the highest scores",
            f"{_number(len(false), all_false)} flagged normal frames; of frames close together "
            "only one.",
            false,
            [_name(frames.group_kind, frames.group[row] or frames.exam[row]) for row in false],
        ),
    ]
    return [gallery for gallery in galleries if gallery.rows]


def draw(evaluation: Evaluation, gallery: Gallery, images: FrameImages) -> Iterator[Drawing]:
    """Draw a gallery as one figure or several."""
    if images.explain is None:
        yield Drawing(
            _frames_figure(evaluation, gallery, images),
            "" if gallery.key == "texture" else "Circle: place found by the detector.",
            gallery.title,
        )
        return
    parameters = _parameters(evaluation)
    draw_steps = _DRAWN_WITH_STEPS[gallery.key]
    shown = shown_frames(evaluation, gallery, images)
    at_once = ACROSS if draw_steps is errors_drawing else max(len(shown), 1)
    for first in range(0, len(shown), at_once):
        yield draw_steps(shown[first : first + at_once], parameters)


def shown_frames(evaluation: Evaluation, gallery: Gallery, images: FrameImages) -> list[ShownFrame]:
    """Return the explained frames of a gallery, with their names, rules and places."""
    assert images.explain is not None
    explained = {row: images.explain(row) for row in sorted(gallery.rows)}  # in stored order
    return [
        ShownFrame(explained[row], _lines(evaluation, gallery, row, title))
        for row, title in zip(gallery.rows, gallery.titles, strict=True)
    ]


def _lines(evaluation: Evaluation, gallery: Gallery, row: int, title: str) -> list[str]:
    lines = [plain(title), _rule(evaluation, row), _place(evaluation.frames, row)]
    if _DRAWN_WITH_STEPS[gallery.key] is errors_drawing:
        return [_shortened(line, 40) for line in lines]
    # The title of a frame of the texture gallery has the value that decided.
    first = lines[0] if gallery.key == "texture" else f"{lines[0]}: {lines[1]}"
    return [_shortened(first, 75), _shortened(lines[2], 75)]


def _shortened(line: str, wide: int) -> str:
    return textwrap.shorten(line, wide, placeholder="…") or line[:wide]


def _frames_figure(evaluation: Evaluation, gallery: Gallery, images: FrameImages) -> "Figure":
    """Draw the frames with the detector's circle; below each its name, the rule and its place."""
    across = min(ACROSS, max(3, len(gallery.rows)))
    down = -(-len(gallery.rows) // across)
    pixels = {row: images.pixels(row) for row in sorted(gallery.rows)}  # in stored order
    with figures.style():
        from matplotlib.figure import Figure

        drawing = Figure(figsize=(2.4 * across, 2.9 * down), layout="constrained")
        panels: list[Axes] = list(drawing.subplots(down, across, squeeze=False).flat)
        for axes in panels:
            axes.set_axis_off()
        for axes, row, title in zip(panels, gallery.rows, gallery.titles, strict=False):
            ball = gallery.key != "texture"
            _draw_frame(axes, evaluation.frames, row, pixels[row], ball=ball)
            lines = [plain(title), _rule(evaluation, row), _place(evaluation.frames, row)]
            if gallery.key == "texture":
                del lines[1]  # the title has the value
            axes.set_anchor("N")
            shown = "\n".join(math_symbols(_shortened(line, 40)) for line in lines)
            axes.text(0.5, -0.03, shown, transform=axes.transAxes, ha="center", va="top", size=7.5)
    return drawing


def _draw_frame(
    axes: "Axes", frames: LabelledFrames, row: int, pixels: "NDArray[Any] | None", *, ball: bool
) -> None:
    from matplotlib.patches import Circle

    if pixels is None:
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.text(0.5, 0.5, "The frame cannot\nbe read", ha="center", va="center", fontsize=8)
        return
    shown = shrink(rgb(pixels), width=_WIDTH)
    axes.imshow(shown)
    scale = shown.shape[1] / pixels.shape[1]
    y, x, radius = (_value(each, row) for each in (frames.row, frames.col, frames.radius))
    if ball and y is not None and x is not None and radius:
        y, x, radius = scale * (y + 0.5) - 0.5, scale * (x + 0.5) - 0.5, scale * radius
        for color, width in (("#101418", 3.0), (figures.YELLOW, 1.5)):
            axes.add_patch(Circle((x, y), radius, fill=False, color=color, linewidth=width))


def _flagged(evaluation: Evaluation) -> Mask:
    points = evaluation.points
    return points[0].flagged if points else evaluation.frames.flagged


def _is_paper(evaluation: Evaluation) -> bool:
    return rule_parameter(evaluation.detector) is not None


def _parameters(evaluation: Evaluation) -> Parameters:
    """Return the parameters of the detector, with the R_P that the evaluation flags by."""
    values, points = dict(evaluation.parameters), evaluation.points
    rule = points[0].rule if points else None
    if rule is not None and not rule.is_list:
        values["radius_threshold"] = max(1, round(rule.value))
    return Parameters.from_dict(values)


def _found(evaluation: Evaluation) -> Gallery:
    """Show the best flagged frame of each found polyp; with outlines, one whose ball is on it."""
    frames, flagged, word = evaluation.frames, _flagged(evaluation), evaluation.frames.polyp_word
    best = _best_frames(frames, flagged)
    shown, more = best, " Outlines are not known, so the circle may be elsewhere on the frame."
    if evaluation.on_polyp is not None:
        shown = _best_frames(frames, flagged & evaluation.on_polyp)
        place = "centre of the ball" if _is_paper(evaluation) else "place found by the detector"
        more = f" Only frames with the {place} inside the outline of the polyp are shown."
        if missing := len(best) - len(shown):
            more += f" {plural(missing, f'found {word}')} without such a frame."
    rows = sorted(_by_turns(frames, np.array(shown, np.intp))[: _MOST["found"]])
    return Gallery(
        "found",
        f"Found {word}s",
        f"{_number(len(rows), len(best))} found {word}s: the flagged frame with the highest "
        f"score.{more}",
        rows,
        [_name(word, frames.polyp[row]) for row in rows],
    )


def _missed(frames: LabelledFrames, flagged: Mask) -> list[int]:
    """Return for each polyp without a flagged frame the frame that came closest."""
    polyp = frames.polyp.code
    detected = np.unique(polyp[flagged & frames.polyp_frames])
    return _best_frames(frames, ~np.isin(polyp, detected))


def _best_frames(frames: LabelledFrames, among: Mask) -> list[int]:
    """Return for each polyp its frame with the highest score, of the frames of a mask."""
    shown = np.flatnonzero(among & frames.polyp_frames & (frames.polyp.code >= 0))
    step = np.array([_STEPS.get(frames.reason[row] or "", 0) for row in shown.tolist()])
    score = np.nan_to_num(frames.score[shown], nan=-np.inf)
    polyp = frames.polyp.code[shown]
    order = np.lexsort((shown, -step, -score, polyp))
    first = np.flatnonzero(np.diff(polyp[order], prepend=-1))
    return sorted(shown[order[first]].tolist())


def _false_positives(frames: LabelledFrames, flagged: Mask) -> list[int]:
    kept: list[int] = []
    for row in _by_turns(frames, np.flatnonzero(flagged & frames.normal_frames))[:2000]:
        close = (
            frames.exam.code[row] == frames.exam.code[other]
            and frames.head[row] == frames.head[other]
            and abs(int(frames.frame[row]) - int(frames.frame[other])) < _CLOSE
            for other in kept
        )
        if not any(close):
            kept.append(row)
        if len(kept) == _MOST["false-positives"]:
            break
    return kept


def _by_turns(
    frames: LabelledFrames, rows: NDArray[np.intp], score: NDArray[Any] | None = None
) -> list[int]:
    """The best frame of every group, best group first; then the second best of each, ..."""
    score = frames.score if score is None else score
    group, score = frames.group.code[rows], np.nan_to_num(score[rows], nan=-np.inf)
    order = np.lexsort((rows, -score, group))
    rows, group, score = rows[order], group[order], score[order]
    starts = np.flatnonzero(np.diff(group, prepend=-2))
    rank = np.arange(group.size) - np.repeat(starts, np.diff(starts, append=group.size))
    return rows[np.lexsort((rows, -score, rank))].tolist()


def _texture(evaluation: Evaluation) -> Gallery:
    """Low, medium and high texture: the frames that are nearest to the three of the paper."""
    frames, parameters = evaluation.frames, evaluation.parameters
    low, high = parameters.get("texture_low"), parameters.get("texture_high")
    texture = frames.texture_max
    rows, titles = [], []
    if texture is not None and isinstance(low, int | float) and isinstance(high, int | float):
        inside, normal = (texture >= low) & (texture <= high), frames.truth == NORMAL
        for name, mask, target in (
            ("Low", (texture < low) & normal, 2.6),  # T_max of the paper's figure
            ("Medium", inside & frames.polyp_frames, 6.5),
            ("High", (texture > high) & normal, 17.1),
        ):
            candidates = np.flatnonzero(mask)
            if candidates.size:
                row = int(candidates[np.argmin(np.abs(texture[candidates] - target))])
                rows.append(row)
                titles.append(f"{name} texture, T_max = {digits(float(texture[row]), low, high)}")
    caption = (
        "Normal frames below and above the bounds of pre-selection and a polyp frame between them: "
        "those nearest to the frames of the paper (T_max 2.6, 17.1 and 6.5)."
    )
    return Gallery("texture", "Low, medium and high texture", caption, rows, titles)


def _geometry(evaluation: Evaluation, images: FrameImages) -> Gallery:
    """Compare a found polyp with two normal frames that show the largest folds."""
    frames, flagged, on_polyp = evaluation.frames, _flagged(evaluation), evaluation.on_polyp
    rows: list[int] = []
    if images.fold is not None and images.components is not None:
        usable = frames.polyp_frames & (flagged if on_polyp is None else flagged & on_polyp)
        polyps = np.flatnonzero(usable & (frames.polyp.code >= 0))
        order = np.lexsort((-frames.score[polyps], images.components[polyps]))
        folds = np.flatnonzero((images.fold > 0) & frames.normal_frames & ~flagged)
        folds = _by_turns(frames, folds, images.fold)[:2]
        if polyps.size and folds:
            rows = [int(polyps[order[0]]), *folds]
    names = ["Fold"] * len(rows)
    if rows:
        names[0] = _name(frames.polyp_word, frames.polyp[rows[0]])
    caption = (
        "The flagged frame of a polyp with the fewest components, and normal frames with the "
        "largest component that was rejected because it is stretched: a fold."
    )
    return Gallery(
        "geometry", "Geometry of a polyp and of folds", caption, rows, names[: len(rows)]
    )


def _rule(evaluation: Evaluation, row: int) -> str:
    """Why the frame was flagged, or the rule that stopped it, with values and bounds."""
    frames, parameters = evaluation.frames, evaluation.parameters
    point = evaluation.points[0] if evaluation.points else None
    score = float(frames.score[row])
    reason = frames.reason[row] or ""
    texture = _value(frames.texture_max, row)
    if np.isnan(score):
        return "not scored"
    rules = {"texture-low": ("T_L", "below"), "texture-high": ("T_U", "above")}
    bound = parameters.get(reason.replace("-", "_")) if reason in rules else None
    if texture is not None and isinstance(bound, int | float):
        symbol, word = rules[reason]
        return f"T_max {digits(texture, bound)}, {word} {symbol} = {digits(bound)}"
    if score == -np.inf:
        rejected = f"rejected {plain(reason)}".strip()
        return "no feature passed" if reason == "no-feature" else rejected
    name, symbol = ("R_max", "R_P") if _is_paper(evaluation) else ("Score", "")
    if point is None or point.rule is None or point.rule.is_list:
        return f"{name} {distinct(score)}"
    threshold = point.rule.value
    bound = f"{symbol} = {distinct(threshold, [score])}".removeprefix(" = ")
    word = "at least" if score >= threshold else "below"
    return f"{name} {distinct(score, [threshold])}, {word} {bound}"


def _place(frames: LabelledFrames, row: int) -> str:
    parts = [plain(frames.exam[row] or "")]
    if frames.head.any():
        parts.append(f"head {frames.head[row]}")
    name = None if frames.file is None else frames.file[row]
    parts.append(plain(str(name).rpartition("/")[2]) if name else f"frame {frames.frame[row]}")
    if not name and np.isfinite(frames.time[row]):
        parts.append(clock(float(frames.time[row])))
    return ", ".join(parts)


def _name(kind: str, name: str | None) -> str:
    return f"{kind} {name}" if name and kind not in name.casefold() else name or ""


def _value(values: NDArray[Any] | None, row: int) -> float | None:
    value = None if values is None else float(values[row])
    return value if value is not None and np.isfinite(value) else None


def _number(shown: int, whole: int) -> str:
    return f"All {count(whole)}" if shown == whole else f"{count(shown)} of {count(whole)}"
