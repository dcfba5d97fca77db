"""What each kind of entry says: checked, and with open fields filled in.

Every function takes the content as it was sent, and returns it in its one form.
"""

from collections.abc import Callable, Mapping
from typing import Any

from capsieve.review.decisions.fields import (
    check_choice,
    check_flag,
    check_frame,
    check_head,
    check_known,
    check_number,
    check_text,
    check_whole,
)
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.subjects import LARGEST_FRAME, Subject, parse_subject
from capsieve.review.decisions.vocabulary import PARIS, SEGMENTS, SIZES, VERDICTS

__all__ = ["check_content"]

_MOST_FRAMES = 100_000  # on which one finding is seen
_FINDING = (
    "head",
    "frames",
    "best_frame",
    "size",
    "size_frame",
    "paris",
    "segment",
    "place",
    "urgent",
    "note",
    "missed_by_sieve",
)

Content = Mapping[str, Any]


def check_content(kind: str, subject: Subject, content: Content) -> dict[str, Any]:
    """Return the content of an entry in its one form.

    Raises
    ------
    EntryError
        A field is unknown, absent or wrong.
    """
    return _CHECKS[kind](subject, content)


def _needed(content: Content, name: str, what: str) -> Any:
    if name not in content:
        raise EntryError(f"{what} needs the field {name!r}")
    return content[name]


def _frame_or_none(content: Content, name: str) -> int | None:
    value = content.get(name)
    return None if value is None else check_frame(value, name)


def _removed(content: Content, what: str) -> bool:
    """Whether the content takes the thing away; then it says nothing else."""
    if "removed" not in content:
        return False
    if content["removed"] is not True or len(content) > 1:
        raise EntryError(f"to remove {what}, send {{'removed': true}} and nothing else")
    return True


def _verdict(subject: Subject, content: Content) -> dict[str, Any]:
    check_known(content, ("verdict", "event", "best_frame", "finding", "frame"), "a verdict")
    verdict = check_choice(_needed(content, "verdict", "a verdict"), "verdict", VERDICTS)
    event = content.get("event")
    best = _frame_or_none(content, "best_frame")
    if best is not None and not subject.first <= best <= subject.last:
        raise EntryError(f"best_frame {best} is none of the frames that the verdict speaks of")
    finding = content.get("finding")
    if finding is not None:
        parse_subject(f"finding:{check_text(finding, 'finding', needed=True)}")
        if verdict != "accept":
            raise EntryError("only an accepted event or frame shows a finding; leave finding out")
    shown = _frame_or_none(content, "frame")
    return {
        "verdict": verdict,
        "event": None if event is None else check_whole(event, "event", largest=LARGEST_FRAME),
        "best_frame": best,
        "finding": finding,
        # Absent in entries of earlier versions: their stored text must not change.
        **({} if shown is None else {"frame": shown}),
    }


def _finding(_subject: Subject, content: Content) -> dict[str, Any]:
    what = "a finding"
    if _removed(content, what):
        return {"removed": True}
    check_known(content, _FINDING, what)
    frames = _needed(content, "frames", what)
    if not isinstance(frames, list | tuple) or not frames:
        raise EntryError("frames must list the frames on which the finding is seen, at least one")
    if len(frames) > _MOST_FRAMES:
        raise EntryError(f"a finding cannot be seen on more than {_MOST_FRAMES} frames")
    seen_on = sorted({check_frame(frame, "frames") for frame in frames})
    best = check_frame(_needed(content, "best_frame", what), "best_frame")
    size = check_choice(content.get("size"), "size", SIZES)
    size_frame = _frame_or_none(content, "size_frame")
    if (size is None) != (size_frame is None):
        raise EntryError("size and size_frame belong together: the frame it was judged on")
    for name, frame in (("best_frame", best), ("size_frame", size_frame)):
        if frame is not None and frame not in seen_on:
            raise EntryError(f"{name} {frame} is none of the frames on which the finding is seen")
    return {
        "head": check_head(_needed(content, "head", what)),
        "frames": seen_on,
        "best_frame": best,
        "size": size,
        "size_frame": size_frame,
        "paris": check_choice(content.get("paris"), "paris", PARIS),
        "segment": check_choice(content.get("segment"), "segment", SEGMENTS),
        "place": _place(content.get("place")),
        "urgent": check_flag(content.get("urgent", False), "urgent"),
        "note": check_text(content.get("note", ""), "note"),
        "missed_by_sieve": check_flag(content.get("missed_by_sieve", False), "missed_by_sieve"),
    }


def _place(place: Any) -> dict[str, float] | None:
    """Return where on the best frame it lies, in the frame's own pixels."""
    if place is None:
        return None
    if not isinstance(place, Mapping):
        raise EntryError("place must have row and col, or be null")
    check_known(place, ("row", "col"), "a place")
    return {name: check_number(_needed(place, name, "a place"), name) for name in ("row", "col")}


def _landmark(_subject: Subject, content: Content) -> dict[str, Any]:
    what = "a landmark"
    if _removed(content, what):
        return {"removed": True}
    check_known(content, ("head", "frame"), what)
    return {
        "head": check_head(_needed(content, "head", what)),
        "frame": check_frame(_needed(content, "frame", what)),
    }


def _cleanliness(_subject: Subject, content: Content) -> dict[str, Any]:
    check_known(content, ("grade",), "a cleanliness")
    grade = _needed(content, "grade", "a cleanliness")
    return {"grade": None if grade is None else check_whole(grade, "grade", largest=3)}


def _note(_subject: Subject, content: Content) -> dict[str, Any]:
    check_known(content, ("text",), "a note")
    return {"text": check_text(_needed(content, "text", "a note"), "text", needed=True)}


def _urgent(_subject: Subject, content: Content) -> dict[str, Any]:
    check_known(content, ("urgent", "text"), "urgent")
    return {
        "urgent": check_flag(_needed(content, "urgent", "urgent"), "urgent"),
        "text": check_text(content.get("text", ""), "text"),
    }


def _confirm(_subject: Subject, content: Content) -> dict[str, Any]:
    what = "a confirmation"
    check_known(content, ("agrees", "text", "of"), what)
    of = content.get("of")
    return {
        "agrees": check_flag(_needed(content, "agrees", what), "agrees"),
        "text": check_text(content.get("text", ""), "text"),
        "of": None if of is None else check_whole(of, "of", largest=LARGEST_FRAME),
    }


def _reopen(_subject: Subject, content: Content) -> dict[str, Any]:
    what = "opening an exam again"
    check_known(content, ("reason",), what)
    return {"reason": check_text(_needed(content, "reason", what), "reason", needed=True)}


def _sign(_subject: Subject, content: Content) -> dict[str, Any]:
    # Everything else in a signature is worked out where it is written.
    check_known(content, ("statement",), "a signature")
    statement = _needed(content, "statement", "a signature")
    return {"statement": check_text(statement, "statement", needed=True)}


_CHECKS: dict[str, Callable[[Subject, Content], dict[str, Any]]] = {
    "verdict": _verdict,
    "finding": _finding,
    "landmark": _landmark,
    "cleanliness": _cleanliness,
    "note": _note,
    "urgent": _urgent,
    "confirm": _confirm,
    "reopen": _reopen,
    "sign": _sign,
}
