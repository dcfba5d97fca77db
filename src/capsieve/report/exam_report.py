"""report.html: the page that a reader opens after an exam was screened.

One file that needs nothing else: pictures, drawings and style lie inside, and a content security
policy forbids the browser to fetch anything. The same folder gives the same bytes.
"""

from collections.abc import Mapping
from pathlib import Path

from capsieve.report import page, provenance, text
from capsieve.report.bins import Scale, scale_of
from capsieve.report.event_cards import event_cards
from capsieve.report.exam_tables import HeadFrames, read_events, read_heads
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
from capsieve.store.record import read_record

__all__ = ["REPORT", "exam_report", "write_exam_report"]

REPORT = "report.html"


def write_exam_report(
    folder: Path,
    thumbnails: Mapping[tuple[int, int], bytes],
    *,
    home: Path | None = None,
    evidence: Mapping[tuple[int, int], bytes] | None = None,
) -> Path:
    """Write report.html into the folder of a screened exam, whole or not at all.

    Parameters
    ----------
    folder
        Holds the tables and exam.json.
    thumbnails
        JPEG of the whole frame, scaled down, by head and frame: of all frames to read of the
        first events. Frames without one are named by number.
    home
        Where the folder will stand when it is finished, OUT/EXAM, which the page's commands name;
        by default where it is.
    evidence
        Why the best frames were flagged, by head and frame, where the detector says so.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    FileError
        A table or the record is absent or damaged, or the page cannot be written.
    """
    path = folder / REPORT
    page.write(exam_report(folder, thumbnails, home=home, evidence=evidence), path)
    return path


def exam_report(
    folder: Path,
    thumbnails: Mapping[tuple[int, int], bytes],
    *,
    home: Path | None = None,
    evidence: Mapping[tuple[int, int], bytes] | None = None,
) -> str:
    """Return the page as a text; see :func:`write_exam_report`."""
    record = read_record(folder)
    heads = read_heads(folder)
    events = read_events(folder)
    scale = scale_of(heads)
    place = _place(home or folder, record["exam"])
    probability = is_probability(record["detector"])
    threshold = flag_threshold(record)
    by_list = record["flagging"]["rule"] != "threshold"
    shown = "" if threshold is None else score_text(threshold, probability=probability)
    cards, rows = event_cards(
        folder,
        events,
        thumbnails,
        place=place,
        zero=scale.zero,
        probability=probability,
        evidence=evidence or {},
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
        paper=record["detector"].get("name") == "paper",
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
