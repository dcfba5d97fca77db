"""Whether the detector points at the polyp: hit rates and FROC against outlines."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.evaluation.scores import frame_keys
from capsieve.frame_table import NORMAL, POLYP, Floats, Integers, LabelledFrames, Mask
from capsieve.labels import FrameOutline, LabelProblem, Outlines
from capsieve.labels.columns import compute
from capsieve.plurals import number_of
from capsieve.result_table import Column, Table
from capsieve.statistics.intervals import proportion
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.results import FrocCurve, Metric, make_metric
from capsieve.store.exam import Exam


@dataclass(frozen=True, slots=True, eq=False)
class Localisation:
    """Hit rates, a table of hits by polyp, FROC, and problems of reading and matching outlines.

    `on_polyp` is a mask of the frames whose best place is inside an outline; None if the detector
    gives no places.
    """

    metrics: tuple[Metric, ...]
    table: Table
    froc: FrocCurve | None
    problems: tuple[LabelProblem, ...]
    on_polyp: Mask | None


class Marks(NamedTuple):
    """Points on frames, sorted by (the row of the) frame, in pixels of the source.

    Thresholds apply to `score`: the radius of a ball, or the score of the frame.
    """

    frame: Integers
    row: Floats
    col: Floats
    score: Floats

    def of(self, frame: int) -> slice:
        """Return which marks are on a frame."""
        first, last = np.searchsorted(self.frame, [frame, frame + 1])
        return slice(int(first), int(last))


def localise(
    outlines: Outlines,
    frames: LabelledFrames,
    paths: pa.Array,
    *,
    flagged: Mask,
    options: EvaluationOptions,
    folders: Sequence[Path] = (),
) -> Localisation:
    """Compare the places that the detector points at with outlines.

    Parameters
    ----------
    outlines
        Outlines from :func:`~capsieve.labels.read_outlines`.
    frames, flagged, options
        The row and col of the frames are the best place of each.
    paths
        The path of the image of each frame, null for videos.
    folders
        For the paper's detector: the exams' folders with features.parquet, in the order of
        ``frames.exam.names``.

    Raises
    ------
    FileError
        The detector gives no places, no outline can be used, or a table cannot be read.
    """
    if frames.row is None or frames.col is None:
        raise FileError(
            f"the scores have no columns row and col, which are compared with {outlines.path}; add "
            "them, or leave the outlines out"
        )
    frame_outlines, problems = outlines.find(
        frame_keys(frames, paths), polyp_frames=frames.polyp_frames
    )
    problems = (*outlines.problems, *problems)
    if not frame_outlines:
        why = f": {problems[0].what}" if problems else ""
        raise FileError(
            f"no outline in {outlines.path} can be used on a frame that is labelled polyp{why}; "
            "check its names, or leave the outlines out"
        )
    rows = np.array([outline.row for outline in frame_outlines], np.int64)
    best = np.where(frames.scored, [frames.row, frames.col], np.nan)[:, rows]
    hit = np.array(
        [outline.hit(*best[:, [i]])[0] for i, outline in enumerate(frame_outlines)], bool
    )
    # The best ball of the paper's detector is absent if it finds none.
    placed = bool(folders) or bool((frames.scored & ~np.isnan(frames.row)).any())
    names = _names(frames, frame_outlines)
    polyps = _by_polyp(frames, names, rows, hit, flagged)
    metrics = _hit_metrics(frames, rows, hit, flagged, polyps, names.count(None), options)
    if not placed:
        note = "No value: the detector gives no places."
        metrics = tuple(
            make_metric(metric.key, None, frames, options, note=note) for metric in metrics
        )
    curve = froc(frames, frame_outlines, read_marks(frames, folders))
    on_polyp = np.zeros(len(frames), bool)
    on_polyp[rows[hit]] = True
    table = _hit_table(frames, polyps, placed=placed)
    return Localisation(metrics, table, curve, problems, on_polyp if placed else None)


def read_marks(frames: LabelledFrames, folders: Sequence[Path]) -> Marks:
    """Return everything that the detector points at on frames labelled polyp or normal.

    For the paper's detector (with `folders`) these are the balls of all features that passed the
    criteria, with their radius as score; for other detectors the best place of each frame with the
    frame's score.
    """
    chosen = (frames.truth == POLYP) | (frames.truth == NORMAL)
    if not folders:
        assert frames.row is not None
        assert frames.col is not None
        row, col = frames.row, frames.col
        marked = np.flatnonzero(chosen & ~np.isnan(row) & ~np.isnan(col) & ~np.isnan(frames.score))
        return Marks(marked, row[marked], col[marked], frames.score[marked])
    parts: list[tuple[Any, ...]] = []
    for code, folder in enumerate(folders):
        table = Exam(folder).columns(*_FEATURES, table="features")
        table = table.filter((compute.field("rejected") == "") & (compute.field("radius") > 0))
        own = np.flatnonzero(chosen & (frames.exam.code == code))
        known = _key(frames.head[own], frames.frame[own])  # sorted, as the frames are
        wanted = _key(table["head"].to_numpy(), table["frame"].to_numpy())
        position = np.searchsorted(known, wanted)
        there = np.isin(wanted, known)
        columns = (table[name].to_numpy()[there].astype(float) for name in _FEATURES[2:5])
        parts.append((own[position[there]], *columns))
    frame, row, col, score = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(frame, kind="stable")
    return Marks(frame[order], row[order], col[order], score[order])


_FEATURES = ("head", "frame", "source_row", "source_col", "radius", "rejected")


def _key(head: NDArray[np.integer], frame: NDArray[np.integer]) -> Integers:
    return (head.astype(np.int64) << 40) + frame


def froc(
    frames: LabelledFrames, outlines: Sequence[FrameOutline], marks: Marks
) -> FrocCurve | None:
    """Return the share of outlines that contain a mark against marks outside any, per frame.

    Several marks in one outline are one hit. Marks on normal frames, and marks outside the outlines
    on polyp frames, are false. The frames are the scored normal frames and the polyp frames with
    outlines; others do not count. The curve is from no mark (threshold infinity) to the lowest
    score; None without marks or outlines.

    References
    ----------
    P. C. Bunch et al., A free response approach to the measurement and characterization of
    radiographic observer performance, Proc. SPIE 127 (1977) 124-135.
    """
    if not len(outlines) or not len(marks.frame):
        return None
    inside = np.zeros(len(marks.frame), bool)
    best = np.full(len(outlines), -np.inf)
    for number, outline in enumerate(outlines):
        own = marks.of(outline.row)
        hit = outline.hit(marks.row[own], marks.col[own])
        inside[own] |= hit
        best[number] = marks.score[own][hit].max(initial=-np.inf)
    counted = frames.normal_frames.copy()
    counted[[outline.row for outline in outlines]] = True
    false = np.sort(marks.score[counted[marks.frame] & ~inside])
    hits = np.sort(best[best > -np.inf])
    thresholds = np.append(np.inf, np.unique(np.concatenate([false, hits]))[::-1])
    count = int(counted.sum())
    return FrocCurve(
        thresholds=thresholds,
        false_marks_per_frame=(len(false) - np.searchsorted(false, thresholds)) / count,
        sensitivity=(len(hits) - np.searchsorted(hits, thresholds)) / len(outlines),
        outlines=len(outlines),
        frames=count,
    )


class _PolypHits(NamedTuple):
    """The frames of one polyp with outlines: their number, hits, flagged, flagged hits."""

    name: str
    group: int
    frames: int
    hit: int
    flagged: int
    flagged_hit: int


def _by_polyp(
    frames: LabelledFrames,
    names: Sequence[str | None],
    rows: Integers,
    hit: Mask,
    flagged: Mask,
) -> list[_PolypHits]:
    # A polyp may have two outlines on one frame, one on each side of a fold: it is one frame.
    hits: dict[str, dict[int, bool]] = {}
    for name, row, inside in zip(names, rows.tolist(), hit.tolist(), strict=True):
        if name is not None:
            own = hits.setdefault(name, {})
            own[row] = own.get(row, False) or inside
    return [
        _PolypHits(
            name,
            int(frames.group.code[next(iter(own))]),
            len(own),
            sum(own.values()),
            sum(bool(flagged[row]) for row in own),
            sum(inside and bool(flagged[row]) for row, inside in own.items()),
        )
        for name, own in hits.items()
    ]


def _names(frames: LabelledFrames, outlines: Sequence[FrameOutline]) -> list[str | None]:
    """Return the polyp of each outline: its own name, or that of the labels if it is the only one.

    Names that the labels do not know often start again at 1 in each exam.
    """
    known = set(frames.polyp.names)
    on_frame = Counter(outline.row for outline in outlines)
    names: list[str | None] = []
    for outline in outlines:
        name = outline.polyp
        if name is None and on_frame[outline.row] == 1:
            name = frames.polyp[outline.row]
        elif name is not None and name not in known and len(frames.exam.names) > 1:
            name = f"{frames.exam[outline.row]}/{name}"
        names.append(name)
    return names


def _hit_metrics(
    frames: LabelledFrames,
    rows: Integers,
    hit: Mask,
    flagged: Mask,
    polyps: Sequence[_PolypHits],
    nameless: int,
    options: EvaluationOptions,
) -> tuple[Metric, ...]:
    outlined, hits = (np.zeros(len(frames), bool) for _ in range(2))
    outlined[rows] = hits[rows[hit]] = True
    polyp_frames = number_of(int(frames.polyp_frames.sum()), "polyp frame")
    note = f"{int(outlined.sum()):,} of {polyp_frames} have outlines."
    left_out = f"{number_of(nameless, 'outline')} of no named polyp left out." if nameless else ""
    shared = {"frames": frames, "options": options}
    return (
        proportion("localisation.frames", hit=hits, among=outlined, note=note, **shared),
        proportion("localisation.flagged", hit=hits, among=outlined & flagged, note=note, **shared),
        proportion(
            "localisation.polyps",
            hit=np.array([polyp.flagged_hit > 0 for polyp in polyps], bool),
            among=np.ones(len(polyps), bool),
            group=np.array([polyp.group for polyp in polyps], np.int64),
            note=left_out,
            **shared,
        ),
    )


def _hit_table(frames: LabelledFrames, polyps: Sequence[_PolypHits], *, placed: bool) -> Table:
    def row(polyp: _PolypHits) -> tuple[Any, ...]:
        if not placed:
            return polyp.name, polyp.frames, None, polyp.flagged, None, None
        counts = polyp.frames, polyp.hit, polyp.flagged, polyp.flagged_hit
        return polyp.name, *counts, polyp.flagged_hit > 0

    word = frames.polyp_word
    return Table(
        "localisation",
        f"Places that the detector points at, by {word}",
        (
            Column("polyp", word.capitalize()),
            Column("frames", "Frames with outline", "count"),
            Column("hit", "Hit", "count"),
            Column("flagged", "Flagged", "count"),
            Column("flagged_hit", "Flagged and hit", "count"),
            Column("found", "Found", "flag"),
        ),
        tuple(row(each) for each in polyps),
        "A frame is hit if its best place is inside the outline of this polyp; a polyp is found if "
        "a flagged frame is hit.",
    )
