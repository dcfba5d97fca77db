"""Sources that name findings: what a frame is called when it shows several of them."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from capsieve.statistics.labels.delimited import EXAMPLES
from capsieve.statistics.labels.draft import Draft
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.labels.settle import NO_LABEL, TWO_LABELS

__all__ = ["Found", "findings_draft", "meaning"]


@dataclass(frozen=True, slots=True)
class Found:
    """One finding on one frame, as the source has it.

    Attributes
    ----------
    where
        How a person finds the row: "line 12", or the file itself.
    finding
        The source's word; "" where there is none.
    same
        Equal for pictures of the same frame, wherever they lie.
    file, exam, frame, patient
        As in :data:`~capsieve.statistics.labels.label_set.LABELS`.
    """

    where: str
    finding: str
    same: Hashable
    file: str | None = None
    exam: str | None = None
    frame: str | None = None
    patient: str | None = None


def meaning(findings: Iterable[str], *, polyp: str, normal: str) -> dict[str, tuple[str, str]]:
    """Return for each finding, in small letters, its label and its published spelling.

    Parameters
    ----------
    findings
        All findings of a source, as published.
    polyp, normal
        The two of them that are the classes. Every other one is "other".
    """
    words = {polyp: "polyp", normal: "normal"}
    return {name.lower(): (words.get(name, "other"), name) for name in findings}


def findings_draft(
    rows: Sequence[Found],
    meanings: Mapping[str, tuple[str, str]],
    *,
    problems: Sequence[LabelProblem] = (),
) -> Draft:
    """Return labels for findings.

    A frame with several findings has them all, and is a polyp frame where one of them is a polyp.
    Normal beside any finding is a contradiction: such frames are not used. Findings are compared
    without regard to case and surrounding blanks, and in no other way.

    Parameters
    ----------
    rows
        The findings, in the order of the source.
    meanings
        See :func:`meaning`.
    problems
        What was not clear already.
    """
    empty = [row for row in rows if not row.finding.strip()]
    known: list[tuple[Found, str, str]] = []
    unknown: list[Found] = []
    for row in rows:
        finding = row.finding.strip()
        if finding.lower() in meanings:
            known.append((row, *meanings[finding.lower()]))
        elif finding:
            unknown.append(row)
    found: defaultdict[Hashable, dict[str, str]] = defaultdict(dict)
    for row, word, finding in known:
        found[row.same][finding] = word
    contrary = {
        same
        for same, words in found.items()
        if "normal" in words.values() and len(set(words.values())) > 1
    }
    several = {same for same, words in found.items() if len(words) > 1} - contrary
    kept: list[tuple[Found, str, str]] = []
    seen: set[tuple[Hashable, str | None]] = set()
    for row, word, finding in known:
        if row.same in contrary:
            continue
        if row.same not in several:
            kept.append((row, word, finding))
        elif (row.same, row.file) not in seen:
            # One row per picture: the findings of all of its rows, and of all of its copies.
            seen.add((row.same, row.file))
            words = found[row.same]
            together = "polyp" if "polyp" in words.values() else "other"
            kept.append((row, together, ";".join(sorted(words))))
    noted = [
        *problems,
        *_problem(NO_LABEL, [f"{row.where}: {row.file}" for row in empty]),
        *_problem(
            "the finding is none of the published ones",
            [f"{row.where}: finding {row.finding.strip()!r}" for row in unknown],
        ),
        *_problem(
            TWO_LABELS,
            [
                f"{row.where}: {row.file} is {finding}"
                for row, _, finding in known
                if row.same in contrary
            ],
        ),
        *_problem(
            "the frame has several findings; it counts as polyp where one of them is a polyp",
            [f"{same}: {', '.join(sorted(found[same]))}" for same in found if same in several],
            used=True,
        ),
    ]
    first = [row for row, _, _ in kept]
    columns = {
        "file": [row.file for row in first],
        "exam": [row.exam for row in first],
        "frame": [row.frame for row in first],
        "patient": [row.patient for row in first],
        "label": [word for _, word, _ in kept],
        "finding": [finding for _, _, finding in kept],
    }
    return Draft(
        {name: pa.array(values, pa.string()) for name, values in columns.items()},
        lambda places: [first[place].where for place in places],
        tuple(noted),
    )


def _problem(what: str, said: Sequence[str], *, used: bool = False) -> tuple[LabelProblem, ...]:
    if not said:
        return ()
    return (LabelProblem(what, len(said), tuple(said[:EXAMPLES]), used),)
