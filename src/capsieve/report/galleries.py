"""Galleries: frames side by side, like the paper's figures, as PNG files.

Found polyps, missed polyps, false positives with the highest scores, and low, medium and high
texture. The choice depends on the tables alone: the same evaluation gives the same frames.
"""

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve.frame_images import rgb, shrink
from capsieve.report import figures
from capsieve.report.text import clock, count, digits, distinct, math_symbols, plain
from capsieve.statistics.frames import NORMAL, LabelledFrames
from capsieve.statistics.results import Evaluation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Gallery", "Images", "choose", "draw"]

Images = Callable[[int], "NDArray[Any] | None"]
"""Row of the labelled frames -> its pixels, or None if the frame cannot be read."""

_MOST = 12
_MOST_MISSED = 48
_ACROSS = 4
_WIDTH = 300  # pixels of a frame
_CLOSE = 25  # frames: false positives nearer than this show the same thing
_STEPS = {"radius-low": 3, "score-low": 3, "no-feature": 2, "texture-low": 1, "texture-high": 1}


class Gallery(NamedTuple):
    """Frames of a gallery: rows of the labelled frames, and a title per frame."""

    key: str
    title: str
    caption: str
    rows: list[int]
    titles: list[str]


def choose(evaluation: Evaluation) -> list[Gallery]:
    """Choose the frames; galleries without any are left out."""
    frames = evaluation.frames
    flagged = evaluation.points[0].flagged if evaluation.points else frames.flagged
    word = frames.polyp_word
    all_found, all_missed = _best_frames(frames, flagged)
    found = sorted(_by_turns(frames, np.array(all_found, np.intp))[:_MOST])
    missed = all_missed[:_MOST_MISSED]
    false = _false_positives(frames, flagged)
    all_false = int(np.count_nonzero(flagged & frames.normal_frames))
    galleries = [
        Gallery(
            "missed",
            f"Missed {word}s",
            f"{_number(len(missed), len(all_missed))} {word}s without a flagged frame: the frame "
            "with the highest score, and the rule that stopped it.",
            missed,
            [_name(word, frames.polyp[row]) for row in missed],
        ),
        Gallery(
            "false-positives",
            "False positives with the highest scores",
            f"{_number(len(false), all_false)} flagged normal frames; of frames close together "
            "only one.",
            false,
            [_name(frames.group_kind, frames.group[row] or frames.exam[row]) for row in false],
        ),
        Gallery(
            "found",
            f"Found {word}s",
            f"{_number(len(found), len(all_found))} found {word}s: the frame with the highest "
            "score.",
            found,
            [_name(word, frames.polyp[row]) for row in found],
        ),
        _texture(evaluation),
    ]
    return [gallery for gallery in galleries if gallery.rows]


def draw(evaluation: Evaluation, gallery: Gallery, images: Images) -> "Figure":
    """Draw the frames with the detector's circle; below each its name, the rule and its place."""
    across = min(_ACROSS, max(3, len(gallery.rows)))
    down = -(-len(gallery.rows) // across)
    pixels = {row: images(row) for row in sorted(gallery.rows)}  # in stored order
    with figures.style():
        from matplotlib.figure import Figure

        drawing = Figure(figsize=(2.4 * across, 2.9 * down), layout="constrained")
        panels: list[Axes] = list(drawing.subplots(down, across, squeeze=False).flat)
        for axes in panels:
            axes.set_axis_off()
        for axes, row, title in zip(panels, gallery.rows, gallery.titles, strict=False):
            _draw_frame(axes, evaluation.frames, row, pixels[row], ball=gallery.key != "texture")
            lines = [plain(title), _rule(evaluation, row), _place(evaluation.frames, row)]
            if gallery.key == "texture":
                del lines[1]  # the title has the value
            short = [textwrap.shorten(line, 40, placeholder="\N{HORIZONTAL ELLIPSIS}") or line[:40]
                     for line in lines]  # fmt: skip
            axes.set_anchor("N")
            shown = "\n".join(map(math_symbols, short))
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
    y, x, radius = (_value(frames, name, row) for name in ("row", "col", "radius"))
    if ball and y is not None and x is not None and radius:
        y, x, radius = scale * (y + 0.5) - 0.5, scale * (x + 0.5) - 0.5, scale * radius
        for color, width in (("#101418", 3.0), (figures.YELLOW, 1.5)):
            axes.add_patch(Circle((x, y), radius, fill=False, color=color, linewidth=width))


def _best_frames(frames: LabelledFrames, flagged: NDArray[np.bool_]) -> tuple[list[int], list[int]]:
    """The best frame of every found and of every missed polyp."""
    shown = np.flatnonzero(frames.polyp_frames & (frames.polyp.code >= 0))
    reasons = frames.values.get("reason")
    step = np.array([0 if reasons is None else _STEPS.get(reasons[row], 0) for row in shown])
    score = np.nan_to_num(frames.score[shown], nan=-np.inf)
    polyp = frames.polyp.code[shown]
    order = np.lexsort((shown, -step, -score, polyp))
    first = np.flatnonzero(np.diff(polyp[order], prepend=-1))
    best = shown[order[first]]
    hit = np.isin(frames.polyp.code[best], np.unique(polyp[flagged[shown]]))
    return sorted(best[hit].tolist()), sorted(best[~hit].tolist())


def _false_positives(frames: LabelledFrames, flagged: NDArray[np.bool_]) -> list[int]:
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
        if len(kept) == _MOST:
            break
    return kept


def _by_turns(frames: LabelledFrames, rows: NDArray[np.intp]) -> list[int]:
    """The best frame of every group, best group first; then the second best of each, ..."""
    group, score = frames.group.code[rows], np.nan_to_num(frames.score[rows], nan=-np.inf)
    order = np.lexsort((rows, -score, group))
    rows, group, score = rows[order], group[order], score[order]
    starts = np.flatnonzero(np.diff(group, prepend=-2))
    rank = np.arange(group.size) - np.repeat(starts, np.diff(starts, append=group.size))
    return rows[np.lexsort((rows, -score, rank))].tolist()


def _texture(evaluation: Evaluation) -> Gallery:
    """Low, medium and high texture: the frames that are nearest to the three of the paper."""
    frames, parameters = evaluation.frames, evaluation.parameters
    low, high = parameters.get("texture_low"), parameters.get("texture_high")
    texture = frames.values.get("texture_max")
    rows, titles = [], []
    if texture is not None and isinstance(low, int | float) and isinstance(high, int | float):
        inside, normal = (texture >= low) & (texture <= high), frames.truth == NORMAL
        for name, mask, target in (
            ("Low", (texture < low) & normal, 2.6),  # T_max of the paper's figure
            ("Medium", inside & frames.polyp_frames, 6.5),
            ("High", (texture > high) & normal, 17.1),
        ):
            places = np.flatnonzero(mask)
            if places.size:
                row = int(places[np.argmin(np.abs(texture[places] - target))])
                rows.append(row)
                titles.append(f"{name} texture, T_max = {digits(float(texture[row]), low, high)}")
    caption = (
        f"Pre-selection keeps frames with T_max from T_L = {low} to T_U = {high}. Shown are the "
        "frames that are nearest to those of the paper (T_max 2.6, 6.5, 17.1)."
    )
    return Gallery("texture", "Low, medium and high texture", caption, rows, titles)


def _rule(evaluation: Evaluation, row: int) -> str:
    """Why the frame was flagged, or the rule that stopped it, with values and bounds."""
    frames, parameters = evaluation.frames, evaluation.parameters
    point = evaluation.points[0] if evaluation.points else None
    score = float(frames.score[row])
    reason = frames.values["reason"][row] if "reason" in frames.values else ""
    texture = _value(frames, "texture_max", row)
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
    name, symbol = ("R_max", "R_P") if evaluation.detector.get("name") == "paper" else ("Score", "")
    if point is None or point.rule != "threshold" or point.value is None:
        return f"{name} {distinct(score)}"
    bound = f"{symbol} = {distinct(point.value, [score])}".removeprefix(" = ")
    word = "at least" if score >= point.value else "below"
    return f"{name} {distinct(score, [point.value])}, {word} {bound}"


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
    return f"{kind} {name}" if name and name.isdigit() else name or ""


def _value(frames: LabelledFrames, name: str, row: int) -> float | None:
    values = frames.values.get(name)
    value = None if values is None else float(values[row])
    return value if value is not None and np.isfinite(value) else None


def _number(shown: int, whole: int) -> str:
    return f"All {count(whole)}" if shown == whole else f"{count(shown)} of {count(whole)}"
