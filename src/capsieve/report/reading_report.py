"""reading.html: the report of a reading, as one file that needs nothing else.

Pictures, drawing and style lie inside, and a content security policy forbids the browser to fetch
anything. The same results and the same decisions give the same bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsieve.decisions.agreement import Agreement
from capsieve.decisions.model import DECISIONS, Finding, said
from capsieve.report import page, provenance
from capsieve.report.exam_tables import event_list
from capsieve.report.reading_bar import colour_bar
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.reading_moments import Moments, in_exam_order, read_moments, when
from capsieve.report.reading_pictures import FramePicture, frame_pictures
from capsieve.report.reading_rows import (
    DecisionCounts,
    FindingRow,
    cleanliness_rows,
    decision_counts,
    finding_rows,
    landmark_rows,
    note_rows,
    written,
)
from capsieve.report.reading_signatures import seal_words, signature_rows
from capsieve.report.reading_words import (
    kappa_words,
    state_word,
    summary_sentences,
    transit,
    whose_words,
)
from capsieve.report.text import bytes_text, clock, plain
from capsieve.store.exam import Exam
from capsieve.store.record import Record

READING = "reading.html"
"""The file's name in the exam's folder, where no other is given."""

_KINDS = {"video": "video", "folder": "folder of images", "zip": "archive of images"}


@dataclass(frozen=True, slots=True)
class ReadingPage:
    """The page, and what the command tells of it.

    Attributes
    ----------
    text
        HTML.
    counts
        Decisions in numbers.
    summary
        The sentences at the top.
    transit
        Colon transit, or why it is not known.
    without_picture
        Why findings have no picture, by their number in the report.
    """

    text: str
    counts: DecisionCounts
    summary: tuple[str, ...]
    transit: str
    without_picture: Mapping[int, str]


def reading_report(facts: ReadingFacts) -> ReadingPage:
    """Make the page.

    Parameters
    ----------
    facts
        From :func:`~capsieve.report.reading_facts.gather_reading`.

    Raises
    ------
    FileError
        A table of the exam is absent or damaged.
    """
    chosen, reading, record = facts.chosen, facts.chosen.reading, facts.record
    exam = Exam(facts.folder)
    moments = read_moments(facts.folder)
    counts = decision_counts(reading, event_list(exam.columns(table="events")))
    ordered = in_exam_order(reading.findings, moments)
    wanted = [(best.head, best.frame) for best in (said(each, Finding).best for each in ordered)]
    pictures = frame_pictures(facts.folder, record, wanted)
    rows = finding_rows(ordered, moments, pictures, roles=chosen.workflow == "validated")
    agreement = facts.agreement if isinstance(facts.agreement, Agreement) else None
    summary = summary_sentences(facts, counts)
    text = page.render(
        "reading.html",
        exam=plain(facts.folder.name),
        record=record,
        frame_counts=record["frame_counts"],
        chosen=chosen,
        reading=reading,
        state=state_word(reading),
        whose=whose_words(chosen),
        seal=seal_words(facts),
        signatures=signature_rows(facts),
        missing=facts.missing,
        unreadable=[plain(problem) for problem in facts.unreadable],
        urgent_text=written(reading.urgent_text),
        summary=summary,
        duration=clock(moments.scale.end) if moments.scale.timed and moments.heads else "",
        time_note=_time_note(moments),
        bar=colour_bar(reading, ordered, moments),
        findings=rows,
        picture_problem=_shared_problem(rows),
        landmarks=landmark_rows(reading, moments),
        transit=transit(reading, moments),
        cleanliness=cleanliness_rows(reading),
        counts=counts,
        seen=[(plain(one.reader), one.role, one.displayed, one.viewed) for one in facts.seen],
        displayed=facts.displayed,
        to_validate=facts.to_validate,
        agreement=agreement,
        not_compared=facts.agreement if isinstance(facts.agreement, str) else "",
        pair=[] if agreement is None else [plain(name) for name in agreement.readers],
        kappa="" if agreement is None else kappa_words(agreement),
        decision_words=DECISIONS,
        differences=_differences(agreement, moments),
        notes=note_rows(reading, moments),
        last=when(chosen.entries[-1].time) if chosen.entries else "",
        detector=_detector_rows(record["detector"]),
        sources=[_source_rows(source) for source in record["sources"]],
        parameters=provenance.parameter_rows(record["parameters"]),
        run=_run_rows(record),
        tables=[(plain(name), value) for name, value in sorted(record["tables"].items())],
        versions=[(plain(name), plain(value)) for name, value in record["versions"].items()],
    )
    return ReadingPage(
        text=text,
        counts=counts,
        summary=tuple(summary),
        transit=transit(reading, moments),
        without_picture={row.number: row.picture.problem for row in rows if row.picture.problem},
    )


def _time_note(moments: Moments) -> str:
    if moments.scale.timed:
        return "Times count from the exam's first frame, h:mm:ss. Frame numbers start at 0."
    if moments.scale.note:
        return f"No times are given, because {moments.scale.note}. Frame numbers start at 0."
    return "The times of the frames are not all known. Frame numbers start at 0."


def _shared_problem(rows: list[FindingRow]) -> str:
    """Return why no finding has a picture, where the reason is the same for all."""
    problems = {row.picture.problem for row in rows if row.picture != FramePicture()}
    return problems.pop() if len(problems) == 1 else ""


def _differences(agreement: Agreement | None, moments: Moments) -> list[tuple[str, str, str, str]]:
    """Return where two blind readings differ: what, when, and the decision of each."""
    rows: list[tuple[str, str, str, str]] = []
    for one in () if agreement is None else agreement.differences:
        kind = one.subject.partition(":")[0].capitalize()
        where = f"{kind}, frame {moments.name(one.head, one.first)}"
        if one.last != one.first:
            where = f"{kind}, frames {one.first:,} to {moments.name(one.head, one.last)}"
        a, b = DECISIONS.get(one.a, one.a), DECISIONS.get(one.b, one.b)
        rows.append((where, moments.text(one.head, one.first), a, b))
    return rows


def _detector_rows(detector: Mapping[str, Any]) -> list[provenance.Row]:
    """Return what the detector says of itself; its parameters stand elsewhere."""
    told = {name: value for name, value in detector.items() if name != "parameters"}
    # A model file: its name is enough, where a centre keeps it is not the report's business.
    told["name"] = str(told.get("name", "unknown")).rpartition("/")[2]
    return provenance.rows_of({"detector": told.pop("name")}) + provenance.rows_of(told)


def _source_rows(source: Any) -> list[provenance.Row]:
    kind = _KINDS.get(source["kind"], plain(source["kind"]))
    name = plain(Path(source["path"]).name)
    return [
        ("Source", f"{name}, {kind}, {bytes_text(source['bytes'])}, head {source['head']}"),
        ("SHA-256", plain(source["sha256"])),
    ]


def _run_rows(record: Record) -> list[provenance.Row]:
    run = record["run"]
    told = {name: run[name] for name in ("started", "finished") if isinstance(run.get(name), str)}
    return [(f"Screening {name}", plain(when(value))) for name, value in told.items()]
