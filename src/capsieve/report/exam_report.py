"""report.html: the page that a reader opens after an exam was screened.

One file that needs nothing else: pictures, drawings and style lie inside, and a content security
policy forbids the browser to fetch anything. The same values give the same bytes.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.detectors import rule_parameter
from capsieve.report import page, provenance, text
from capsieve.report.bins import Scale, scale_of
from capsieve.report.event_cards import event_cards
from capsieve.report.exam_tables import HeadFrames, event_list, head_frames
from capsieve.report.frame_counts_table import frame_counts_columns, frame_counts_sums
from capsieve.report.range_table import range_rows
from capsieve.report.score_words import (
    flag_threshold,
    flagging_words,
    is_probability,
    score_text,
)
from capsieve.report.timeline import timeline
from capsieve.report.words import detector_words
from capsieve.store.record import Record

__all__ = ["exam_report"]


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
        Which frames a reader is shown.
    home
        The folder of the results, OUT/EXAM, which the page's commands name.
    thumbnails
        JPEG of the whole frame, scaled down, by head and frame: of all frames to read of the
        first events. Frames without one are named by number.
    evidence
        Why the best frames were flagged, by head and frame, if the detector says so.
    """
    heads = head_frames(tables["frames"])
    events = event_list(tables["events"])
    scale = scale_of(heads)
    place = _place(home, record["exam"])
    probability = is_probability(record["detector"])
    threshold = flag_threshold(record)
    by_list = record["flagging"]["rule"] != "threshold"
    shown = "" if threshold is None else score_text(threshold, probability=probability)
    cards, rows = event_cards(
        tables,
        events,
        thumbnails,
        to_read=to_read,
        place=place,
        zero=scale.zero,
        probability=probability,
        evidence=evidence,
    )
    columns = frame_counts_columns(record)
    rejected = record["frame_counts"]["rejected"]
    measures = record["range"]["measures"]
    # Screening writes one warning about all measures together, before all others.
    outside = int(any(each["warning"] for each in measures.values()))
    return page.render(
        "exam.html",
        script="exam.js",
        record=record,
        exam=text.plain(record["exam"]),
        frame_counts=record["frame_counts"],
        two_heads=len(columns) > 1,
        duration=_duration(heads, scale),
        scale=scale,
        drawing=timeline(heads, events, threshold=threshold, by_list=by_list),
        flagging=flagging_words(record["flagging"], probability=probability),
        by_list=by_list,
        range_warnings=record["warnings"][:outside],
        other_warnings=record["warnings"][outside:],
        threshold=threshold,
        paper=rule_parameter(record["detector"]) is not None,
        by_texture=bool({"texture-low", "texture-high"} & rejected.keys()),
        probability=probability,
        threshold_text=shown,
        mapped=any(card.map for card in cards),
        cards=cards,
        rows=rows,
        results=place.partition("/")[0],
        columns=[name for name, _ in columns],
        sums=frame_counts_sums(
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
        ranges=range_rows(measures),
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
    """OUT/EXAM: short, the same on every machine, and right beside the folder of the results.

    A folder with another name than the exam is only on its way; the exam's name must do then.
    """
    home = home.resolve()
    return f"{home.parent.name}/{home.name}" if home.name == exam else exam


def _duration(heads: list[HeadFrames], scale: Scale) -> float | None:
    """From the first frame to the last; None where times are unknown or make no sense."""
    return scale.end if scale.timed and heads else None
