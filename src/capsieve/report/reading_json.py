"""The report of a reading as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from capsieve._version import __version__
from capsieve.decisions.agreement import Agreement
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.reading_report import ReadingPage
from capsieve.report.reading_signatures import report_cautions, seal_problems

READING_SCHEMA = 2
"""Version of the object; it grows when a name in it changes its meaning."""


def reading_json(facts: ReadingFacts, page: ReadingPage, files: Sequence[Path]) -> dict[str, Any]:
    """Return the content of the report as plain data.

    Parameters
    ----------
    facts, page
        What was gathered, and the page made of it.
    files
        The files that were written.
    """
    chosen, reading = facts.chosen, facts.chosen.reading
    agreement = facts.agreement
    return {
        "problems": report_cautions(facts),
        "schema": READING_SCHEMA,
        "capsieve": __version__,
        "exam": facts.folder.name,
        "files": [str(file) for file in files],
        "workflow": chosen.workflow,
        "reader": chosen.reader or None,
        "role": chosen.role or None,
        "draft": reading.state != "signed",
        "latest_revision": chosen.latest,
        "signature_holds": None if reading.signature is None else not seal_problems(facts),
        "missing_entries": facts.missing,
        "summary": list(page.summary),
        "colon_transit": page.transit,
        "decisions": asdict(page.counts),
        "to_validate": facts.to_validate,
        "seen": {
            "displayed": facts.displayed,
            "viewed": facts.viewed,
            "of": facts.record["frame_counts"]["found"],
            "readers": [asdict(one) for one in facts.seen],
        },
        "agreement": agreement.model_dump(mode="json")
        if isinstance(agreement, Agreement)
        else agreement,
        "without_picture": {str(number): why for number, why in page.without_picture.items()},
        "reading": reading.model_dump(mode="json"),
    }
