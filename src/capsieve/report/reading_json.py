"""The report of a reading for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from capsieve._version import __version__
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.reading_report import ReadingPage
from capsieve.report.reading_signatures import seal_problems

__all__ = ["READING_SCHEMA", "reading_json"]

READING_SCHEMA = 1
"""Version of the object; it grows when a name in it changes its meaning."""


def reading_json(facts: ReadingFacts, page: ReadingPage, files: Sequence[Path]) -> dict[str, Any]:
    """Return what the report tells as plain data.

    Parameters
    ----------
    facts, page
        What was gathered, and what was made of it.
    files
        What was written.
    """
    chosen, reading = facts.chosen, facts.chosen.reading
    problems = seal_problems(facts)
    return {
        "schema": READING_SCHEMA,
        "capsieve": __version__,
        "exam": facts.folder.name,
        "files": [str(file) for file in files],
        "way": chosen.way,
        "reader": chosen.reader or None,
        "role": chosen.role or None,
        "draft": reading.state != "signed",
        "latest_version": chosen.latest,
        "signature_holds": None if problems is None else not problems,
        "signature_problems": list(problems or ()),
        "missing_entries": facts.missing,
        "unreadable": list(facts.unreadable),
        "summary": list(page.summary),
        "colon_transit": page.transit,
        "verdicts": asdict(page.counts),
        "seen": {
            "frames": facts.frames_seen,
            "of": facts.record["frame_counts"]["found"],
            "readers": [asdict(one) for one in facts.seen],
        },
        "agreement": None if facts.agreement is None else facts.agreement.to_json(),
        "without_picture": {str(number): why for number, why in page.without_picture.items()},
        "reading": reading.to_json() | {"exam": facts.folder.name},
    }
