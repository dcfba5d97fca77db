"""report.html of a screened exam: frames to read, timeline, events, frame counts, provenance.

One file that needs nothing else. The same values give the same bytes.
"""

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detector import MEASURES
from capsieve.detectors import rule_parameter
from capsieve.paper.ellipse import inertia_ellipse
from capsieve.report import page, provenance, text
from capsieve.report.evidence import map_address
from capsieve.report.exam_tables import Event, event_list, head_frames
from capsieve.report.timeline import timeline
from capsieve.report.timeline_scale import scale_of
from capsieve.report.words import (
    detector_words,
    flag_threshold,
    flagging_words,
    out_of_range,
    score_text,
)
from capsieve.results import Feature
from capsieve.store.record import FrameCounts, Record

_MOST_CARDS = 200  # events with images; the others are rows of a table
_LONGEST_STRIP = 24  # thumbnails besides the best frame, evenly spread over more frames
_MOST_BYTES = 3_500_000  # of images: with them the page stays below 6 MB
_MOST_NAMED = 16  # numbers or ranges of numbers in a text
_ELLIPSE_POINTS = 49


@dataclass(frozen=True, slots=True)
class _Shot:
    """A frame with its image and the shapes over it.

    Attributes
    ----------
    frame, time
        Its number, and seconds of the source; None if unknown.
    image, map
        Addresses of the image and of the evidence map, or "".
    rows, cols
        Size of the frame.
    ball
        Row, column and radius in the frame's pixels.
    ellipse
        Outline of the feature that the ball was fitted to, or "".
    """

    frame: int
    time: float | None
    image: str
    rows: int = 1
    cols: int = 1
    ball: tuple[float, float, float] | None = None
    ellipse: str = ""
    map: str = ""


@dataclass(frozen=True, slots=True)
class _Card:
    """An event, its best frame, its other frames to read, and those without an image as text."""

    event: Event
    best: _Shot
    others: list[_Shot]
    rest: str


def exam_report(
    record: Record,
    tables: Mapping[str, pa.Table],
    *,
    to_read: NDArray[np.bool_],
    home: Path,
    thumbnails: Mapping[tuple[int, int], bytes],
    evidence: Mapping[tuple[int, int], bytes],
) -> str:
    """Return the page of a screened exam.

    Parameters
    ----------
    record
        The content of exam.json.
    tables
        The tables "frames", "features" and "events".
    to_read
        Mask of the frames that a reader is shown.
    home
        The folder of the results, OUT/EXAM, which the commands on the page name.
    thumbnails
        JPEG of the whole frame, scaled down, by head and frame: of all frames to read of the
        first events. Frames without one are named by number.
    evidence
        Evidence maps of the best frames, by head and frame, if the detector has them.
    """
    heads, events = head_frames(tables["frames"]), event_list(tables["events"])
    scale, place = scale_of(heads), _place(home, record["exam"])
    threshold = flag_threshold(record)
    paper = rule_parameter(record["detector"]) is not None
    by_list = record["flagging"]["rule"] != "threshold"
    shown = "" if threshold is None else score_text(threshold)
    cards = _cards(tables, events, thumbnails, to_read, evidence, ellipses=paper)
    columns = _frame_counts_columns(record)
    measures = record["range"]["measures"]
    outside = out_of_range(record)
    return page.render(
        "exam.html",
        script="exam.js",
        record=record,
        exam=text.plain(record["exam"]),
        frame_counts=record["frame_counts"],
        two_heads=len(columns) > 1,
        # Times may be unknown, or make no sense.
        duration=scale.end if scale.timed and heads else None,
        scale=scale,
        drawing=timeline(heads, events, threshold=threshold, by_list=by_list),
        flagging=flagging_words(record["flagging"]),
        by_list=by_list,
        range_warnings=outside,
        other_warnings=record["warnings"][len(outside) :],
        threshold=shown,
        paper=paper,
        by_texture=bool(
            {"texture-low", "texture-high"} & record["frame_counts"]["rejected"].keys()
        ),
        mapped=any(card.best.map for card in cards),
        cards=cards,
        rows=events[len(cards) :],
        place=shlex.quote(text.plain(place)),
        results=place.partition("/")[0],
        columns=[name for name, _ in columns],
        sums=_frame_counts_sums(
            [each for _, each in columns],
            parameters=record["parameters"],
            threshold=shown,
            by_list=by_list,
        ),
        problems=[
            (
                text.plain(problem["what"]),
                problem["frames"],
                provenance.places(problem, heads=len(record["heads"]), zero=scale.zero),
            )
            for problem in record["problems"]
        ],
        ranges=ranges(measures),
        detector=detector_words(record["detector"]),
        parameters=provenance.parameter_rows(record["parameters"]),
        sources=[(each["head"], provenance.source_rows(each)) for each in record["sources"]],
        fields_of_view=[
            (each["head"], provenance.view_words(each)) for each in record["fields_of_view"]
        ],
        run=provenance.run_rows(record),
        versions=provenance.rows_of(record["versions"]),
    )


def _place(home: Path, exam: str) -> str:
    """OUT/EXAM: short, the same on every machine, and correct next to the folder of the results.

    A folder with another name than the exam is temporary; then the exam's name is used.
    """
    home = home.resolve()
    return f"{home.parent.name}/{home.name}" if home.name == exam else exam


def _cards(
    tables: Mapping[str, pa.Table],
    events: Sequence[Event],
    thumbnails: Mapping[tuple[int, int], bytes],
    to_read: NDArray[np.bool_],
    evidence: Mapping[tuple[int, int], bytes],
    *,
    ellipses: bool,
) -> list[_Card]:
    """Return the events with images, best first.

    The size of images is bounded: best frames have priority over other frames, and events by rank.
    A frame without an image is named by its number.
    """
    first, left = _pictured(events, thumbnails)
    best = {(event.head, event.best_frame) for event in first}
    outlines = _outlines(tables["features"], best) if ellipses else {}
    rows = _rows_by_event(tables["frames"], to_read, best)
    cards = []
    for event in first:
        key, mine = (event.head, event.best_frame), rows[event.event]
        small = evidence.get(key) if thumbnails.get(key) else None
        shot = _shot(mine.pop(event.best_frame), thumbnails, outlines.get(key, ""), small)
        others = []
        for frame in _evenly_spread([one for one in mine if thumbnails.get((event.head, one))]):
            left -= len(thumbnails[event.head, frame])
            if left < 0:
                break  # no later image is shown because it is smaller
            others.append(_shot(mine.pop(frame), thumbnails))
        cards.append(_Card(event, shot, others, named(list(mine))))
    return cards


def _pictured(
    events: Sequence[Event], thumbnails: Mapping[tuple[int, int], bytes]
) -> tuple[Sequence[Event], int]:
    """Return the events that get a card, and the bytes that remain for their other frames."""
    left = _MOST_BYTES
    for place, event in enumerate(events[:_MOST_CARDS]):
        size = len(thumbnails.get((event.head, event.best_frame), b""))
        if size > left:
            return events[:place], 0
        left -= size
    return events[:_MOST_CARDS], left


def _rows_by_event(
    frames: pa.Table, to_read: NDArray[np.bool_], best: Collection[tuple[int, int]]
) -> dict[int, dict[int, dict[str, Any]]]:
    """Return the rows of the frames to read and of the best frames, by event and frame."""
    names = ("event", "head", "frame", "time_s", "rows", "cols", "row", "col", "radius")
    chosen = frames.select(names).filter(pa.array(to_read | _mask(frames, best)))
    found: dict[int, dict[int, dict[str, Any]]] = {}
    for row in chosen.sort_by("frame").to_pylist():
        found.setdefault(row["event"], {})[row["frame"]] = row
    return found


def _shot(
    row: Mapping[str, Any],
    thumbnails: Mapping[tuple[int, int], bytes],
    ellipse: str = "",
    evidence: bytes | None = None,
) -> _Shot:
    rows, cols = row["rows"], row["cols"]
    sized = bool(rows and cols)
    ball: Any = (row["row"], row["col"], row["radius"])
    return _Shot(
        frame=row["frame"],
        time=row["time_s"],
        image=page.image(thumbnails.get((row["head"], row["frame"]))),
        rows=rows if sized else 1,
        cols=cols if sized else 1,
        ball=ball if sized and None not in ball and row["radius"] else None,
        ellipse=ellipse if sized else "",
        map="" if evidence is None else map_address(evidence),
    )


def _outlines(features: pa.Table, keys: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Return the ellipse of inertia of the feature with the largest ball, by head and frame."""
    found: dict[tuple[int, int], dict[str, Any]] = {}
    for row in features.filter(pa.array(_mask(features, keys))).to_pylist():
        key = row["head"], row["frame"]
        # Of equal radii the first one, as in FrameResult.best.
        if row["radius"] and (key not in found or row["radius"] > found[key]["radius"]):
            found[key] = row
    return {key: _outline(row) for key, row in found.items()}


def _outline(row: Mapping[str, Any]) -> str:
    feature = Feature(**{name: row[name] for name in Feature._fields})
    scale = row["source_radius"] / row["radius"]  # source = offset + scale * working
    rows, cols = inertia_ellipse(feature, points=_ELLIPSE_POINTS)
    rows = row["source_row"] + scale * (rows[:-1] - row["ball_row"])
    cols = row["source_col"] + scale * (cols[:-1] - row["ball_col"])
    points = [f"{x:.1f} {y:.1f}" for x, y in zip(cols.tolist(), rows.tolist(), strict=True)]
    return f"M{'L'.join(points)}z"


def _mask(table: pa.Table, keys: Collection[tuple[int, int]]) -> NDArray[np.bool_]:
    head, frame = (np.asarray(table[name].to_numpy(), np.int64) for name in ("head", "frame"))
    codes = [(head << 48) + frame for head, frame in keys]
    return np.isin((head << 48) + frame, np.array(codes, np.int64))


def _evenly_spread(frames: Sequence[int]) -> list[int]:
    places = np.linspace(0, len(frames) - 1, min(len(frames), _LONGEST_STRIP))
    return [frames[place] for place in places.round().astype(int)]


def named(frames: Sequence[int]) -> str:
    """Return the numbers of frames, which grow: ``frames 812, 815–819 and 4 more``."""
    if not frames:
        return ""
    runs: list[list[int]] = []
    for frame in frames:
        if runs and frame == runs[-1][1] + 1:
            runs[-1][1] = frame
        else:
            runs.append([frame, frame])
    texts = [span(*run) for run in runs[:_MOST_NAMED]]
    more = sum(last - first + 1 for first, last in runs[_MOST_NAMED:])
    if more:
        texts.append(f"{text.count(more)} more")
    words = f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]
    return f"frame {words}" if len(frames) == 1 else f"frames {words}"


def span(first: int, last: int) -> str:
    """Return a range of frame numbers."""
    return f"{first}" if first == last else f"{first}{text.DASH}{last}"


class CountRow(NamedTuple):
    """A line of a sum: its sign, name, counts by column, meaning, and whether it is a part."""

    sign: str
    name: str
    counts: Sequence[int | None]
    meaning: str
    whole: int = 0  # what the share refers to; 0 if there is none


class Sum(NamedTuple):
    """A total and its parts, and whether they add up."""

    rows: list[CountRow]
    adds_up: bool


_REASONS = {
    "texture-low": ("Too smooth", "too little texture, as in blurred or empty views"),
    "texture-high": ("Too busy", "too much texture, as in bubbles, foam and residue"),
    "no-feature": ("No candidate", "nothing of the size and roundness of a polyp"),
    "radius-low": ("Bulge too small", "the best-fit ball is smaller than the threshold"),
    "score-low": ("Score too low", "the score is below the threshold"),
}
_BOUNDS = {
    "texture-low": ("texture_low", "T_max below T_L = {:g}"),
    "texture-high": ("texture_high", "T_max above T_U = {:g}"),
}


def _frame_counts_sums(
    columns: Sequence[FrameCounts],
    *,
    parameters: Mapping[str, Any],
    threshold: str = "",
    by_list: bool = False,
) -> list[Sum]:
    """Return the frame counts as sums, from those declared by the source to those to be read.

    Parameters
    ----------
    columns
        One per column; the first is the whole exam, to which shares refer.
    parameters
        The detector's, which the meanings quote.
    threshold
        Lowest score of a flagged frame, as a text; "" if there is none.
    by_list
        Whether a reading list flagged the frames.
    """
    damaged = columns[0]["damaged"]
    repaired = f"; {text.count(damaged)} of them damaged and partly filled in" if damaged else ""
    found = [
        ("decoded", "Decoded", f"could be decoded{repaired}"),
        ("undecodable", "Undecodable", "could not be decoded"),
    ]
    if any(each.get("unscreened") for each in columns):  # rare: no row of zeros
        found.append(("unscreened", "Not screened", "the process that screened them crashed"))
    scored = [("flagged", "Flagged", "may show a polyp")]
    reasons = {reason for each in columns for reason in each["rejected"]}
    for reason in [*(each for each in _REASONS if each in reasons), *sorted(reasons - {*_REASONS})]:
        name, meaning = _REASONS.get(reason, (reason, "rejected by the detector"))
        value = parameters.get(_BOUNDS[reason][0]) if reason in _BOUNDS else None
        if isinstance(value, int | float):
            meaning += f" ({_BOUNDS[reason][1].format(value)})"
        elif reason == "score-low" and by_list:
            name, meaning = "Not listed", "after the end of the reading list"
        elif reason == "score-low" and threshold:
            meaning += f" of {threshold}"
        elif reason == "radius-low" and threshold:
            meaning += f" (R_max below R_P = {threshold} working pixels)"
        scored.append((reason, name, f"{reason}: {meaning}"))
    return [
        _declared(columns),
        _sum(columns, "found", *found),
        _sum(
            columns,
            "decoded",
            ("scored", "Scored", "scored by the detector"),
            ("unscorable", "Not scorable", "could not be scored, for example because too small"),
        ),
        _sum(columns, "scored", *scored),
        _sum(
            columns,
            "flagged",
            ("to_read", "To read", "shown to the reader"),
            ("near_duplicates", "Near-duplicates", "nearly identical to a frame to read"),
        ),
    ]


def _sum(columns: Sequence[FrameCounts], total: str, *parts: tuple[str, str, str]) -> Sum:
    """Return a sum; `parts` are keys of the counts or reasons, with names and meanings."""
    wholes = [each[total] for each in columns]
    rows = [CountRow("", total.replace("_", " ").capitalize(), wholes, "")]
    for key, name, meaning in parts:
        counts = [each[key] if key in each else each["rejected"].get(key, 0) for each in columns]
        rows.append(CountRow("=" if len(rows) == 1 else "+", name, counts, meaning, wholes[0]))
    sums = [sum(counts) for counts in zip(*(row.counts for row in rows[1:]), strict=True)]
    lost = [set(each["rejected"]) - {key for key, _, _ in parts} for each in columns]
    return Sum(rows, sums == wholes and not (total == "scored" and any(lost)))


def _declared(columns: Sequence[FrameCounts]) -> Sum:
    declared = [each["declared"] for each in columns]
    missing = [each["missing"] for each in columns]
    found = [each["found"] for each in columns]
    more = [
        0 if said is None else there - (said - lost)
        for said, lost, there in zip(declared, missing, found, strict=True)
    ]
    rows = [
        CountRow("", "Declared", declared, "frames declared by the file (not used)"),
        CountRow("\N{MINUS SIGN}", "Missing", missing, "declared, but not in the file"),
    ]
    if any(each > 0 for each in more):
        rows.append(CountRow("+", "Not declared", [max(each, 0) for each in more], "in the file"))
    if any(each < 0 for each in more):
        meaning = "marked by the file as not to be shown"
        rows.append(CountRow("\N{MINUS SIGN}", "Left out", [max(-one, 0) for one in more], meaning))
    rows.append(CountRow("=", "Found", found, "frames in the file"))
    return Sum(rows, adds_up=True)


def _frame_counts_columns(record: Record) -> list[tuple[str, FrameCounts]]:
    """Return the columns: the exam, and each of two heads."""
    heads = record["heads"]
    if len(heads) < 2:
        return [("Count", record["frame_counts"])]
    return [
        ("All", record["frame_counts"]),
        *((f"Head {one}", heads[one]) for one in sorted(heads)),
    ]


class RangeRow(NamedTuple):
    """A measure of the exam and its range in the detector's data."""

    name: str
    meaning: str
    measure: Mapping[str, Any]
    place: float | None  # of the median in a drawing from 0 to 200, with the range from 50 to 150


def ranges(measures: Mapping[str, Mapping[str, Any]]) -> list[RangeRow]:
    """Return the measures of the exam next to the range that the detector was tuned on."""
    return [
        RangeRow(name, MEASURES.get(name, ""), each, _range_place(each))
        for name, each in measures.items()
    ]


def _range_place(measure: Mapping[str, Any]) -> float | None:
    low, high, median = measure["low"], measure["high"], measure["median"]
    if median is None:
        return None
    if high > low:
        return 50 + 100 * (median - low) / (high - low)
    return 100.0 + 100 * (int(median > low) - int(median < low))
