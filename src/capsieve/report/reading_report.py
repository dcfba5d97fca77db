"""reading.html: the report of a reading; and its JSON.

The page is one file that fetches nothing. The same results and decisions give the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from capsieve._version import __version__
from capsieve.decisions.agreement import Agreement
from capsieve.decisions.model import DECISIONS, Finding, Place, Spot, said
from capsieve.errors import CapsieveError
from capsieve.frame_images import jpeg, shrink
from capsieve.report import page, provenance, reading_text
from capsieve.report.exam_tables import event_list
from capsieve.report.reading_bar import reading_bar
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.text import clock, plain
from capsieve.report.timeline_scale import FrameTimes, read_times
from capsieve.store.exam import Exam
from capsieve.store.record import Record

READING = "reading.html"
"""Name of the report in the folder of the exam."""

SCHEMA = 3
"""Version of the JSON object."""

_SIDE = 520  # longer side of an image: 60 mm on paper at 220 dots per inch
_MOST_UNSURE = 40  # images of frames that a reader is unsure about
_RING = 0.07  # radius of the ring around a place, as a fraction of the longer side


@dataclass(frozen=True, slots=True)
class ReadingPage:
    """The page and its texts.

    Attributes
    ----------
    html
        The page.
    summary
        The sentences at the top.
    counts
        Decisions by kind.
    transit
        Time in the colon, or why it is unknown.
    without_image
        Why findings have no image, by the number of the finding.
    """

    html: str
    summary: Sequence[str]
    counts: reading_text.DecisionCounts
    transit: str
    without_image: Mapping[int, str]


def reading_report(facts: ReadingFacts) -> ReadingPage:
    """Return the page of a reading.

    Raises
    ------
    FileError
        A table of the exam is missing or damaged.
    """
    reading, record = facts.reading, facts.record
    exam, times = Exam(facts.folder), read_times(facts.folder)
    counts = reading_text.decision_counts(reading, event_list(exam.columns(table="events")))
    ordered = reading_text.findings_by_time(reading.findings, times)
    described = [said(each, Finding) for each in ordered]
    unsure = reading_text.unsure_decisions(reading, times)
    images = _images(
        exam,
        [(each.best, each.place) for each in described]
        + [(reading_text.spot_of(each), None) for each in unsure[:_MOST_UNSURE]],
    )
    images, unsure_images = images[: len(described)], images[len(described) :]
    role = facts.workflow == "validated"
    findings = [
        reading_text.finding_row(each, times, role=role) | image
        for each, image in zip(ordered, images, strict=True)
    ]
    shown = zip(unsure, unsure_images, strict=False)
    problems = [str(image["problem"]) for image in images]
    summary = reading_text.summary_texts(facts, counts)
    transit = reading_text.transit_text(reading, times)
    agreement = facts.agreement if isinstance(facts.agreement, Agreement) else None
    html = page.render(
        "reading.html",
        exam=plain(facts.folder.name),
        facts=facts,
        record=record,
        frame_counts=record["frame_counts"],
        reading=reading,
        state=reading_text.state_name(reading),
        readers=reading_text.readers_text(facts),
        status=reading_text.status(facts),
        signatures=reading_text.signature_rows(facts),
        urgent_text=reading_text.multiline(reading.urgent_text),
        summary=summary,
        duration=clock(times.scale.end) if times.scale.timed and times.heads else "",
        time_note=_time_note(times),
        bar=reading_bar(reading, ordered, times),
        findings=findings,
        # Shown once if no finding has an image, for the same reason.
        no_images=problems[0] if problems and len(set(problems)) == 1 else "",
        unsure=[reading_text.unsure_row(each, times, role=role) | image for each, image in shown],
        unsure_left=max(0, len(unsure) - _MOST_UNSURE),
        landmarks=reading_text.landmark_rows(reading, times),
        transit=transit,
        cleanliness=reading_text.cleanliness_rows(reading),
        counts=counts,
        agreement=agreement,
        kappa="" if agreement is None else reading_text.kappa_text(agreement),
        decision_words=DECISIONS,
        differences=[] if agreement is None else reading_text.difference_rows(agreement, times),
        notes=reading_text.note_rows(reading, times),
        last=reading_text.date_text(facts.entries[-1].time) if facts.entries else "",
        provenance=_provenance_rows(record),
        parameters=provenance.parameter_rows(record["parameters"]),
        tables=[(plain(name), value) for name, value in sorted(record["tables"].items())],
        versions=[(plain(name), plain(value)) for name, value in record["versions"].items()],
    )
    without = {number: each for number, each in enumerate(problems, start=1) if each}
    return ReadingPage(html, summary, counts, transit, without)


def reading_json(facts: ReadingFacts, made: ReadingPage, files: Sequence[Path]) -> dict[str, Any]:
    """Return the content of the report as plain data, with the names of the written files."""
    reading, agreement, progress = facts.reading, facts.agreement, facts.progress
    invalid = None if reading.signature is None else facts.invalid(reading.signature)
    return {
        "problems": facts.cautions,
        "schema": SCHEMA,
        "capsieve": __version__,
        "exam": facts.folder.name,
        "files": [str(file) for file in files],
        "workflow": facts.workflow,
        "reader": facts.reader or None,
        "role": facts.role or None,
        "draft": reading.state != "signed",
        "latest_revision": facts.latest,
        "signature_valid": None if invalid is None else not invalid,
        "missing_entries": facts.missing,
        "summary": list(made.summary),
        "colon_transit": made.transit,
        "decisions": asdict(made.counts),
        "to_validate": facts.to_validate,
        "seen": {
            "displayed": 0 if progress is None else progress.displayed,
            "viewed": 0 if progress is None else progress.viewed,
            "of": facts.record["frame_counts"]["found"],
            "readers": [asdict(one) for one in facts.seen],
        },
        "progress": None if progress is None else progress.model_dump(),
        "agreement": agreement.model_dump(mode="json")
        if isinstance(agreement, Agreement)
        else agreement,
        "without_image": {str(number): why for number, why in made.without_image.items()},
        "reading": reading.model_dump(mode="json"),
    }


def _time_note(times: FrameTimes) -> str:
    if times.scale.timed:
        return "Times count from the first frame, h:mm:ss. Frame numbers start at 0."
    if times.scale.note:
        return f"No times are given, because {times.scale.note}. Frame numbers start at 0."
    return "The times of the frames are not all known. Frame numbers start at 0."


def _images(exam: Exam, spots: Sequence[tuple[Spot, Place | None]]) -> list[dict[str, object]]:
    """Return the verified image of each frame, with a ring around the place; or the problem."""
    frames: dict[int, set[int]] = {}
    for spot, _ in spots:
        frames.setdefault(spot.head, set()).add(spot.frame)
    found: dict[tuple[int, int], tuple[str, int, int]] = {}
    problems: dict[tuple[int, int], str] = {}
    for head, numbers in frames.items():
        try:
            with exam.reader(head) as reader:
                for frame in reader.in_stored_order(sorted(numbers)):
                    try:
                        pixels = reader.pixels(frame)
                    except CapsieveError as error:
                        problems[head, frame] = _without_folder(error, exam.record)
                    else:
                        small = page.image(jpeg(shrink(pixels, side=_SIDE)))
                        found[head, frame] = (small, *pixels.shape[:2])
        except CapsieveError as error:
            why = _without_folder(error, exam.record)
            problems |= {(head, frame): why for frame in numbers if (head, frame) not in found}
    images: list[dict[str, object]] = []
    for spot, place in spots:
        key = spot.head, spot.frame
        image, rows, cols = found.get(key, ("", 1, 1))
        ring = Markup("")
        if image and place is not None:
            ring = _ring(place.row, place.col, rows, cols)
        images.append(
            {
                "image": image,
                "rows": rows,
                "cols": cols,
                "ring": ring,
                "problem": problems.get(key, ""),
            }
        )
    return images


def _without_folder(error: CapsieveError, record: Record) -> str:
    """Return a message without the folder of the source: reports are sent to others."""
    text = str(error)
    for source in record["sources"]:
        text = text.replace(source["path"], Path(source["path"]).name)
    text = plain(" ".join(text.split()))
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def _ring(row: float, col: float, rows: int, cols: int) -> Markup:
    """Return a ring of fixed size around a place; empty if the place is outside of the frame."""
    if not (0 <= row < rows and 0 <= col < cols):
        return Markup("")
    longer = max(rows, cols)
    # Attributes, because WeasyPrint applies no style sheet to drawings.
    ring = Markup('<circle cx="{}" cy="{}" r="{}" fill="none" stroke="{}" stroke-width="{}"/>')
    where = (f"{col + 0.5:.1f}", f"{row + 0.5:.1f}", f"{_RING * longer:.1f}")
    return Markup('<svg class="pointer" viewBox="0 0 {} {}" aria-hidden="true">{}{}</svg>').format(
        cols,
        rows,
        ring.format(*where, "#101418", f"{0.012 * longer:.1f}"),
        ring.format(*where, "#ffd92e", f"{0.006 * longer:.1f}"),
    )


def _provenance_rows(record: Record) -> list[provenance.Row]:
    """Return detector, versions, times and sources, without folders."""
    detector = {name: value for name, value in record["detector"].items() if name != "parameters"}
    name = str(detector.pop("name", "unknown")).rpartition("/")[2]  # of a model file
    run = record["run"]
    rows = [
        *provenance.rows_of({"detector": name} | detector),
        ("Screened with", f"capsieve {plain(record['versions']['capsieve'])}"),
        ("Report made with", f"capsieve {__version__}"),
    ]
    rows += [
        (f"Screening {when}", plain(reading_text.date_text(run[when])))
        for when in ("started", "finished")
        if isinstance(run.get(when), str)
    ]
    for source in record["sources"]:
        facts = dict(provenance.source_rows(source))
        file = f"{plain(Path(source['path']).name)}, {facts['Kind']}, {facts['Size']}"
        rows += [("Source", f"{file}, head {source['head']}"), ("SHA-256", facts["SHA-256"])]
    return rows
