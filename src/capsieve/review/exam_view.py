"""One exam's facts, as the page shows them."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from capsieve._version import __version__
from capsieve.decisions.exam import screening_of
from capsieve.report.exam_tables import Event, event_list
from capsieve.report.score_words import flag_threshold, flagging_words, is_probability
from capsieve.report.text import plain
from capsieve.review import messages
from capsieve.review.catalogue import ExamFacts
from capsieve.review.head_facts import HeadFacts
from capsieve.store.exam import Exam
from capsieve.store.record import Record, read_record

__all__ = ["DISCLAIMER", "exam_view"]

DISCLAIMER = "Research software, not a medical device."

_WORDS = {
    "paper": ("R_max", "Radius of the best-fit ball, working pixels"),
    "curvature": ("score", "Score of the curvature detector"),
}


def exam_view(facts: ExamFacts, heads: Mapping[int, HeadFacts]) -> messages.Exam:
    """Return what the page needs to know of an exam before its first frame.

    Parameters
    ----------
    facts
        From the catalogue.
    heads
        What the frames of each have in common.

    Raises
    ------
    FileError
        A table or the record cannot be read.
    """
    record = read_record(facts.folder)
    probability = is_probability(record["detector"])
    threshold = flag_threshold(record)
    return messages.Exam(
        exam=facts.exam,
        screening=screening_of(record),
        heads=[_head(head, each, record) for head, each in sorted(heads.items())],
        threshold=threshold,
        reading_list=record["flagging"]["rule"] != "threshold",
        flagging=flagging_words(record["flagging"], probability=probability),
        score=_score(record, heads.values(), threshold, probability=probability),
        detector=_file_name(str(record["detector"].get("name", "unknown"))),
        events=[_event(event) for event in event_list(Exam(facts.folder).columns(table="events"))],
        warnings=[plain(warning) for warning in record["warnings"]],
        disclaimer=DISCLAIMER,
        provenance=_provenance(record),
    )


def _head(head: int, facts: HeadFacts, record: Record) -> messages.Head:
    size = (head, facts.rows, facts.cols)
    view = next(
        (
            view
            for view in record["fields_of_view"]
            if (view["head"], view["rows"], view["cols"]) == size
        ),
        None,
    )
    return messages.Head(
        head=head,
        frames=facts.frames,
        rows=facts.rows,
        cols=facts.cols,
        field_of_view=None
        if view is None
        else messages.FieldOfView(
            shape=view["shape"], row=view["row"], col=view["col"], radius=view["radius"]
        ),
        fps=_declared_rate(head, record) if facts.fps is None else facts.fps,
        has_times=facts.has_times,
    )


def _declared_rate(head: int, record: Record) -> float | None:
    """Return the frames per second that the source declares, where it does."""
    for source in record["sources"]:
        if source["head"] == head:
            try:
                rate = float(Fraction(str(source["description"]["average_rate"])))
            except (KeyError, ValueError, ZeroDivisionError):
                return None
            return rate if rate > 0 else None
    return None


def _score(
    record: Record, heads: Iterable[HeadFacts], threshold: float | None, *, probability: bool
) -> messages.Score:
    name = str(record["detector"].get("name", "unknown"))
    if probability:
        title, words = "probability", "Probability of a polyp"
        low, high = 0.0, 1.0
    else:
        title, words = _WORDS.get(name, ("score", "Score of the detector"))
        bounds = [0.0, *([] if threshold is None else [threshold])]
        bounds += [bound for facts in heads for bound in facts.scores or ()]
        low, high = min(bounds), max(bounds)
    return messages.Score(name=title, words=words, low=low, high=high, probability=probability)


def _event(event: Event) -> messages.Event:
    return messages.Event(
        event=event.event,
        head=event.head,
        first_frame=event.first_frame,
        last_frame=event.last_frame,
        best_frame=event.best_frame,
        frames=event.frames,
        to_read=event.to_read,
        score=event.score,
        first_time_s=_finite(event.first_time_s),
        best_time_s=_finite(event.best_time_s),
        row=_finite(event.row),
        col=_finite(event.col),
        radius=_finite(event.radius),
    )


def _provenance(record: Record) -> dict[str, Any]:
    """Return what a report must be able to say of the software and of the sources."""
    return {
        "read_with": __version__,
        "screened_with": record["versions"],
        "detector": _finite_parts(record["detector"])
        | {"name": _file_name(str(record["detector"].get("name", "unknown")))},
        "parameters": _finite_parts(record["parameters"]),
        "settings": _finite_parts(record["settings"]),
        "sources": [
            {
                "head": source["head"],
                "kind": source["kind"],
                "name": _file_name(source["path"]),
                "sha256": source["sha256"],
                "bytes": source["bytes"],
                "description": _finite_parts(source["description"]),
            }
            for source in record["sources"]
        ],
        "run": _finite_parts(record["run"]),
        "tables": record["tables"],
        "frame_counts": record["frame_counts"],
    }


def _file_name(path: str) -> str:
    """Return the name alone: where a centre keeps its files is not the page's business."""
    return plain(path.rstrip("/").rpartition("/")[2])


def _finite_parts(content: Any) -> Any:
    """Return plain data without numbers that JSON does not know."""
    if isinstance(content, Mapping):
        return {str(name): _finite_parts(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite_parts(value) for value in content]
    return _finite(content) if isinstance(content, float) else content


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
