"""What an entry speaks of, and its one name: exam, frame:0:17, event:0:10-24, finding:f1, ..."""

import re
from dataclasses import dataclass

from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.vocabulary import CLEANLINESS_SEGMENTS, LANDMARKS

__all__ = [
    "LARGEST_FRAME",
    "LARGEST_HEAD",
    "FlaggedEvent",
    "Subject",
    "event_subject",
    "frame_subject",
    "parse_subject",
]

LARGEST_HEAD = 32_767
LARGEST_FRAME = 2**53 - 1  # the largest number that every reader of JSON keeps exactly

# Numbers without leading zeros, so that a thing has one name only.
_NUMBER = r"(0|[1-9][0-9]{0,15})"
_FRAME = re.compile(rf"frame:{_NUMBER}:{_NUMBER}")
_EVENT = re.compile(rf"event:{_NUMBER}:{_NUMBER}-{_NUMBER}")
_FINDING = re.compile(r"finding:([A-Za-z0-9_-]{1,64})")


@dataclass(frozen=True, slots=True)
class Subject:
    """What an entry speaks of.

    Attributes
    ----------
    kind
        "exam", "frame", "event", "finding", "landmark" or "segment".
    head, first, last
        Of a frame (first and last are the same) and of an event.
    name
        Of a finding, a landmark or a segment.
    """

    kind: str
    head: int = -1
    first: int = -1
    last: int = -1
    name: str = ""


@dataclass(frozen=True, slots=True)
class FlaggedEvent:
    """A candidate of the sieve, as far as decisions look at it.

    Attributes
    ----------
    head
        The head.
    frames
        Its flagged frames in order, at least one.
    """

    head: int
    frames: tuple[int, ...]

    @property
    def subject(self) -> str:
        """Its name in entries; no two events of a head begin with the same frame."""
        return event_subject(self.head, self.frames[0], self.frames[-1])


def event_subject(head: int, first: int, last: int) -> str:
    """Return the name of an event."""
    return f"event:{head}:{first}-{last}"


def frame_subject(head: int, frame: int) -> str:
    """Return the name of a frame."""
    return f"frame:{head}:{frame}"


def parse_subject(text: str) -> Subject:
    """Read the name of a subject.

    Raises
    ------
    EntryError
        It is none.
    """
    if text == "exam":
        return Subject("exam")
    if match := _FRAME.fullmatch(text):
        head, frame = map(int, match.groups())
        return _within(text, Subject("frame", head, frame, frame))
    if match := _EVENT.fullmatch(text):
        head, first, last = map(int, match.groups())
        if first > last:
            raise EntryError(f"the event {text!r} ends before it begins")
        return _within(text, Subject("event", head, first, last))
    if match := _FINDING.fullmatch(text):
        return Subject("finding", name=match[1])
    kind, _, name = text.partition(":")
    if kind == "landmark" and name in LANDMARKS:
        return Subject("landmark", name=name)
    if kind == "segment" and name in CLEANLINESS_SEGMENTS:
        return Subject("segment", name=name)
    raise EntryError(
        f"{text[:100]!r} names nothing that can be spoken of; "
        "give exam, frame:HEAD:N, event:HEAD:FIRST-LAST, finding:ID, "
        f"landmark:NAME ({', '.join(LANDMARKS)}) or segment:NAME "
        f"({', '.join(CLEANLINESS_SEGMENTS)})"
    )


def _within(text: str, subject: Subject) -> Subject:
    if subject.head > LARGEST_HEAD or subject.last > LARGEST_FRAME:
        raise EntryError(f"{text!r} names a head or a frame that no exam has")
    return subject
