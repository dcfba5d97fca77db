"""Entries: one strict model per kind, for the database, the API and the exports alike.

The content of an entry is one of these models. Its stored text is canonical JSON (keys sorted, no
blanks), and signatures cover these bytes. A row that cannot be read becomes an entry with a
`problem` that is reported and has no effect, except that a damaged signature still closes an exam
and a damaged reopening still opens it.
"""

import json
import re
import unicodedata
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from capsieve.decisions.roles import roles_of_all
from capsieve.errors import CapsieveError, FileError
from capsieve.strict_model import Strict


class EntryError(CapsieveError, ValueError):
    """An action that makes no sense."""


class ForbiddenError(CapsieveError):
    """An action that this reader may not do, now or ever."""


class ConflictError(CapsieveError, RuntimeError):
    """An action that does not fit the log: the exam is signed, the action is undone, ..."""


class UnreachableError(FileError):
    """Decisions or an exam that cannot be reached now; the same action can be tried again."""


# The values of entries, with their names in texts.

DECISIONS = {"accept": "polyp", "reject": "no polyp", "unsure": "unsure"}
SIZES = {
    "diminutive": "diminutive (up to 5 mm)",
    "small": "small (6 to 9 mm)",
    "large": "large (10 mm or more)",
}
PARIS = {  # Gastrointest. Endosc. 58 (2003) S3-S43
    "0-Ip": "0-Ip, pedunculated",
    "0-Isp": "0-Isp, subpedunculated",
    "0-Is": "0-Is, sessile",
    "0-IIa": "0-IIa, slightly elevated",
    "0-IIb": "0-IIb, flat",
    "0-IIc": "0-IIc, slightly depressed",
    "0-III": "0-III, excavated",
}
LANDMARKS = {  # from the start of the colon to its end
    "first-colon": "first frame of the colon",
    "caecum": "caecum",
    "hepatic-flexure": "hepatic flexure",
    "splenic-flexure": "splenic flexure",
    "rectum": "rectum",
    "last-colon": "last frame of the colon",
}
SEGMENTS = {  # "right" if the reader cannot be more precise
    "right": "right colon",
    "caecum": "caecum",
    "ascending": "ascending colon",
    "hepatic-flexure": "hepatic flexure",
    "transverse": "transverse colon",
    "splenic-flexure": "splenic flexure",
    "left": "left colon",
    "descending": "descending colon",
    "sigmoid": "sigmoid colon",
    "rectum": "rectum",
}
CLEANLINESS_SEGMENTS = {  # of CC-CLEAR
    "right": "right colon",
    "transverse": "transverse colon",
    "left": "left colon with rectum",
}
CLEANLINESS_GRADES = {
    0: "less than 50 % of the mucosa seen",
    1: "50 to 75 % of the mucosa seen",
    2: "more than 75 % of the mucosa seen",
    3: "more than 90 % of the mucosa seen",
}

_LARGEST = 2**53 - 1  # the largest whole number that every reader of JSON keeps exactly
_LONGEST_NAME = 255
_KEY = re.compile(r"[A-Za-z0-9_.:-]{8,100}")
_PLACE = re.compile(r"(event|frame):([0-9]+):([0-9]+)")


def _storable(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("contains characters that cannot be stored; type them again")
    return text


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; write something")
    return text


Frame = Annotated[int, Field(ge=0, le=_LARGEST)]
Head = Annotated[int, Field(ge=0, le=32_767)]
Count = Annotated[int, Field(ge=0, le=_LARGEST)]
Number = Annotated[int, Field(ge=1, le=_LARGEST)]
Text = Annotated[str, Field(max_length=10_000), AfterValidator(_storable)]
Written = Annotated[Text, AfterValidator(_not_empty)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_N = "(0|[1-9][0-9]{0,15})"  # no leading zeros: one name for one thing
EventName = Annotated[str, Field(pattern=f"^event:{_N}:{_N}$")]
FrameName = Annotated[str, Field(pattern=f"^frame:{_N}:{_N}$")]
FindingName = Annotated[str, Field(pattern="^finding:[A-Za-z0-9_-]{1,64}$")]
LandmarkName = Annotated[str, Field(pattern=f"^landmark:({'|'.join(LANDMARKS)})$")]
SegmentName = Annotated[str, Field(pattern=f"^segment:({'|'.join(CLEANLINESS_SEGMENTS)})$")]


class Span(Strict, frozen=True):
    """Consecutive frames of a head."""

    head: Head
    first: Frame
    last: Frame

    @model_validator(mode="after")
    def _check(self) -> "Span":
        if self.first > self.last:
            raise ValueError("its last frame is before its first")
        return self


class Spot(Strict, frozen=True):
    """A frame of a head."""

    head: Head
    frame: Frame


class Place(Strict, frozen=True):
    """A position on the best frame, in the source's pixels."""

    row: Annotated[float, Field(ge=0)]
    col: Annotated[float, Field(ge=0)]


class Decision(Strict, frozen=True):
    """Whether an event shows a polyp; or that a frame of an accepted event does not."""

    kind: Literal["decision"] = "decision"
    subject: EventName | FrameName
    decision: Literal["accept", "reject", "unsure"]
    frame: Frame = Field(description="The frame that was displayed.")
    finding: FindingName | None = Field(default=None, description="What an accepted event shows.")

    @model_validator(mode="after")
    def _check(self) -> "Decision":
        if self.finding is not None and self.decision != "accept":
            raise ValueError("only an accepted event shows a finding")
        if self.decision == "accept" and self.subject.startswith("frame:"):
            raise ValueError("a polyp on a single frame is a finding, not a decision")
        return self


class Finding(Strict, frozen=True):
    """A polyp as the reader describes it; one that both heads see is one finding."""

    kind: Literal["finding"] = "finding"
    subject: FindingName
    spans: Annotated[tuple[Span, ...], Field(min_length=1, max_length=10_000, strict=False)]
    best: Spot
    size: Literal["diminutive", "small", "large"] | None = None
    size_on: Spot | None = Field(default=None, description="The frame of the size.")
    paris: Literal["0-Ip", "0-Isp", "0-Is", "0-IIa", "0-IIb", "0-IIc", "0-III"] | None = None
    segment: (
        Literal[
            "right",
            "caecum",
            "ascending",
            "hepatic-flexure",
            "transverse",
            "splenic-flexure",
            "left",
            "descending",
            "sigmoid",
            "rectum",
        ]
        | None
    ) = None
    place: Place | None = None
    urgent: bool = False
    note: Text = ""
    missed: bool = Field(default=False, description="No frame of it is flagged.")

    @model_validator(mode="after")
    def _check(self) -> "Finding":
        keys = [(span.head, span.first, span.last) for span in self.spans]
        apart = all(one[0] < other[0] or one[2] < other[1] for one, other in pairwise(keys))
        if sorted(keys) != keys or not apart:
            raise ValueError("its spans are not in order, or overlap")
        if (self.size is None) != (self.size_on is None):
            raise ValueError(
                "a size needs size_on, the frame of the size, and size_on needs a size"
            )
        for name, spot in (("best", self.best), ("size_on", self.size_on)):
            if spot is not None and not self.shows(spot.head, spot.frame):
                raise ValueError(f"{name} is not in the spans of the finding")
        return self

    @property
    def id(self) -> str:
        """Its name without the word before it."""
        return self.subject.partition(":")[2]

    def shows(self, head: int, frame: int) -> bool:
        """Return whether it is seen on a frame."""
        return any(span.head == head and span.first <= frame <= span.last for span in self.spans)

    def meets(self, other: "Finding") -> bool:
        """Return whether both are seen on a common frame."""
        return any(
            one.head == each.head and one.first <= each.last and each.first <= one.last
            for one in self.spans
            for each in other.spans
        )


class Landmark(Strict, frozen=True):
    """The frame of a landmark."""

    kind: Literal["landmark"] = "landmark"
    subject: LandmarkName
    head: Head
    frame: Frame


class Cleanliness(Strict, frozen=True):
    """The grade of a segment (CC-CLEAR)."""

    kind: Literal["cleanliness"] = "cleanliness"
    subject: SegmentName
    grade: Annotated[int, Field(ge=0, le=3)]


class Note(Strict, frozen=True):
    """A free text about the exam or a frame."""

    kind: Literal["note"] = "note"
    subject: Literal["exam"] | FrameName
    text: Written


class Urgent(Strict, frozen=True):
    """The exam is urgent."""

    kind: Literal["urgent"] = "urgent"
    subject: Literal["exam"] = "exam"
    text: Text = ""


class Removed(Strict, frozen=True):
    """Removes the last entry of a kind on a subject."""

    kind: Literal["removed"] = "removed"
    of: Literal["decision", "finding", "landmark", "cleanliness", "urgent"]
    subject: EventName | FrameName | FindingName | LandmarkName | SegmentName | Literal["exam"]


class Undo(Strict, frozen=True):
    """Undoes all entries of an action of one's own; undoing an undo does them again."""

    kind: Literal["undo"] = "undo"
    action: Number


class Reopen(Strict, frozen=True):
    """Opens a signed exam again, as a new revision."""

    kind: Literal["reopen"] = "reopen"
    reason: Written


class Sign(Strict, frozen=True):
    """The request of a signer; the hash is computed when the signature is stored."""

    kind: Literal["sign"] = "sign"
    statement: Written = Field(description="As the reading has it: what the signer was shown.")
    last: Count = Field(description="The last entry that the signer was shown; 0 for none.")
    offered: Annotated[tuple[EventName, ...], Field(strict=False)] = ()
    opened: Annotated[tuple[EventName, ...], Field(strict=False)] = ()
    reasons: dict[str, Written] = Field(default={}, description="Why something is left open.")


class Viewed(Strict, frozen=True):
    """Which frames of a head were displayed to a reader: bitmaps, the first frame in bit 0."""

    reader: str
    role: str
    head: Head
    frames: Count = Field(description="Of the head.")
    displayed: str = Field(description="Base64: frames that were drawn.")
    viewed: str = Field(description="Base64: frames that were displayed for at least 45 ms.")


class Parts(Strict, frozen=True):
    """Hashes of what a signature covers besides its own content."""

    identity: Hash
    entries: Hash


class Signature(Sign, frozen=True):
    """A stored signature, with its own copies of the bitmaps of displayed frames."""

    undisplayed: Count = Field(description="Pre-reader decisions on frames not displayed to them.")
    displayed_frames: Count
    viewed_frames: Count
    frames: Count
    viewed: Annotated[tuple[Viewed, ...], Field(strict=False)]
    entries: Count = Field(description="How many entries it covers.")
    parts: Parts
    hash: Hash


_Said: TypeAlias = (
    Decision | Finding | Landmark | Cleanliness | Note | Urgent | Removed | Undo | Reopen
)
Content: TypeAlias = Annotated[_Said | Signature, Field(discriminator="kind")]
"""The content of an entry."""

Request: TypeAlias = Annotated[_Said | Sign, Field(discriminator="kind")]
"""What a reader sends."""

_CONTENT: TypeAdapter[Any] = TypeAdapter(Content)
_Kind = TypeVar("_Kind", bound=Strict)

COLUMNS = (
    *("number", "action", "key", "exam", "revision", "reader", "role", "screening", "time"),
    *("kind", "content"),
)
"""The columns of the table of entries, in order."""

Row: TypeAlias = tuple[Any, ...]
"""The stored columns of an entry."""


class Entry(BaseModel):
    """One row of the log.

    An action is one or more entries; `action` is the number of its first one. If an entry cannot
    be read, `content` is None, `problem` has the reason and `stored` the text.
    """

    model_config = ConfigDict(frozen=True)

    number: int = Field(description="From 1, in the order of writing, over all exams.")
    action: int
    key: str = Field(description="Of the action; made by the sender.")
    exam: str
    revision: int = Field(description="Of the reading, from 1; it grows with each reopening.")
    reader: str
    role: str
    screening: str = Field(description="Of the exam at that time.")
    time: str
    kind: str
    content: Content | None
    stored: str = ""
    problem: str = ""

    @property
    def subject(self) -> str:
        """The event, frame, finding, landmark, segment or exam that it is about."""
        return getattr(self.content, "subject", "exam" if self.kind != "undo" else "")


def event_subject(head: int, best: int) -> str:
    """Return the name of the event with this best frame."""
    return f"event:{head}:{best}"


def frame_subject(head: int, frame: int) -> str:
    """Return the name of a frame."""
    return f"frame:{head}:{frame}"


def finding_name(event: str) -> str:
    """Return the name of the finding that an accepted event shows."""
    return f"finding:e{event.partition(':')[2].replace(':', '-')}"


def parse_place(subject: str) -> tuple[str, int, int] | None:
    """Return kind, head and (best) frame of the name of an event or a frame; else None."""
    found = _PLACE.fullmatch(subject)
    return None if found is None else (found[1], int(found[2]), int(found[3]))


def said(entry: Entry, kind: type[_Kind]) -> _Kind:
    """Return the content of an entry of a known kind."""
    assert isinstance(entry.content, kind)
    return entry.content


def canonical(value: Any) -> str:
    """Return JSON in its one form: keys sorted, no blanks, no NaN."""
    if isinstance(value, BaseModel):
        value = value.model_dump()
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def utc_now() -> str:
    """Return the time in UTC as ISO 8601 with milliseconds: 2026-03-01T12:00:00.000Z."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def check_key(key: str) -> str:
    """Return a key that can be stored."""
    if not _KEY.fullmatch(key):
        raise EntryError("the key must be 8 to 100 letters, digits, or one of . : _ -")
    return key


def check_name(value: Any, name: str) -> str:
    """Return a name of an exam, a reader or a screening, on one line."""
    if not isinstance(value, str):
        raise EntryError(f"{name} must be a text, not {value!r:.60}")
    try:
        _not_empty(_storable(value))
    except ValueError as error:
        raise EntryError(f"{name} {error}") from None
    if len(value) > _LONGEST_NAME:
        raise EntryError(f"{name} is longer than {_LONGEST_NAME} letters")
    if any(unicodedata.category(letter) == "Cc" for letter in value):
        raise EntryError(f"{name} contains line breaks or other control characters")
    return value


@lru_cache(maxsize=20_000)  # a log is read again with every request, and its rows do not change
def entry_of(row: Row) -> Entry:
    """Return an entry from its columns, with a `problem` if it cannot be read."""
    cells = dict(zip(COLUMNS, row, strict=True))
    problem, content = "", None
    try:
        content = _content(cells["content"])
        _check_cells(cells, content)
    except EntryError as error:
        problem, content = str(error), None
    number = _whole(cells["number"]) or 0
    return Entry(
        number=number,
        action=_whole(cells["action"]) or number,
        revision=_whole(cells["revision"]) or 1,
        content=content,
        key=stored_text(cells["key"]).partition("/")[0],
        stored=stored_text(cells["content"]) if problem else "",
        problem=problem,
        **{
            name: stored_text(cells[name])
            for name in ("exam", "reader", "role", "screening", "time", "kind")
        },
    )


def _content(text: Any) -> Any:
    if not isinstance(text, str):
        raise EntryError("its content is not a text")
    try:
        content = _CONTENT.validate_json(text)
        if canonical(content) == text:
            return content
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        raise EntryError(f"{place + ': ' if place else ''}{first['msg']}") from None
    except ValueError as error:  # half a surrogate pair
        raise EntryError(f"its content is not valid JSON ({type(error).__name__})") from None
    raise EntryError("its content is not in the form that capsieve writes")


def _check_cells(cells: Mapping[str, Any], content: Any) -> None:
    for name in ("exam", "reader", "screening", "time"):
        check_name(cells[name], name)
    for name in ("number", "action", "revision"):
        if (_whole(cells[name]) or 0) < 1:
            raise EntryError(f"{name} must be a whole number from 1, not {cells[name]!r:.60}")
    if cells["action"] > cells["number"]:
        raise EntryError("its action has a larger number")
    if cells["role"] not in roles_of_all():
        raise EntryError(f"there is no role {cells['role']!r:.60}")
    if content.kind != cells["kind"]:
        raise EntryError(f"its kind is {cells['kind']!r:.60} and its content is a {content.kind}")
    if isinstance(content, Undo) and content.action >= cells["number"]:
        raise EntryError("it undoes a later action")


def stored_text(value: Any) -> str:
    """Return a cell as a text that can be shown and sent."""
    text = value if isinstance(value, str) else repr(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
