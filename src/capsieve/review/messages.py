"""What the room says and takes: every JSON body, typed.

Positions are 0-based pixel centres of the source's frame, row and column. Times are seconds from
the source's own zero; dates are ISO 8601 in UTC.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from capsieve.review.decisions.vocabulary import Kind
from capsieve.review.way import Role, Way

__all__ = [
    "Action",
    "Agreement",
    "Ball",
    "Cleanliness",
    "Done",
    "Ellipse",
    "Entry",
    "Event",
    "Evidence",
    "Exam",
    "ExamRow",
    "FieldOfView",
    "Head",
    "Problem",
    "ReaderState",
    "Reading",
    "Room",
    "Score",
    "Seen",
    "SeenFrames",
    "Value",
]

State = Literal["unread", "in reading", "signed"]


class _Message(BaseModel):
    """Said by the server."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Open(BaseModel):
    """Said by the server; what the store of decisions adds later goes along."""

    model_config = ConfigDict(extra="allow", allow_inf_nan=False)


class _Request(BaseModel):
    """Said by the page: what is not known is refused, and nothing is bent into its type."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Problem(_Message):
    """Why something was refused."""

    detail: str = Field(description="One sentence.")


class Done(_Message):
    """Nothing more is to be said."""


class Room(_Message):
    """The room, and who is in it."""

    version: str = Field(description="Of capsieve.")
    room: str = Field(description="Random, and the same for all servers on one database.")
    way: Way
    reader: str
    role: Role
    readers: list[str] = Field(description="Everybody who has an entry or may make one.")
    disclaimer: str
    exams: int
    login: bool = Field(description="Whether one comes in by name and password, and can log out.")
    pdf: bool = Field(description="Whether reports come as PDF, too.")


class ReaderState(_Message):
    """How far somebody is with an exam."""

    reader: str = Field(description="Empty where it is not to be known yet: blind work.")
    state: State


class ExamRow(_Message):
    """An exam in the list."""

    exam: str = Field(description="Its id: the name of its folder.")
    title: str
    state: State
    version: int = Field(description="Of the reading.")
    urgent: bool
    frames: int
    heads: list[int]
    duration_s: float | None
    events: int
    flagged_frames: int
    to_read: int = Field(description="Flagged frames without near-duplicates.")
    decided_events: int
    findings: int
    complete: bool = Field(description="Whether every frame was screened.")
    problems: list[str] = Field(description="One sentence each.")
    readers: list[ReaderState]
    screened_at: str | None
    readable: bool = Field(description="Whether it can be opened; the problems say why not.")


class FieldOfView(_Message):
    """What the camera sees."""

    shape: str
    row: float
    col: float
    radius: float


class Head(_Message):
    """One camera of an exam."""

    head: int
    frames: int
    rows: int
    cols: int
    field_of_view: FieldOfView | None
    fps: float | None = Field(description="The usual rate; frames need not keep to it.")
    has_times: bool


class Score(_Message):
    """What the detector's score is."""

    name: str
    words: str
    low: float = Field(description="The least that a slider needs to offer.")
    high: float
    probability: bool


class Event(_Message):
    """A candidate polyp: neighbouring flagged frames, best first."""

    event: int
    head: int
    first_frame: int
    last_frame: int
    best_frame: int
    frames: int
    to_read: int
    score: float
    first_time_s: float | None
    best_time_s: float | None
    row: float | None
    col: float | None
    radius: float | None


class Exam(_Message):
    """One exam, and what the sieve found in it."""

    exam: str
    screening: str = Field(description="Changes whenever the exam is screened anew.")
    heads: list[Head]
    threshold: float | None = Field(
        description="The lowest score that is flagged, or the last score of a reading list."
    )
    reading_list: bool = Field(description="Whether a reading list flagged the frames.")
    flagging: str = Field(
        description="The rule of the flags, if it is not the detector's own threshold."
    )
    score: Score
    detector: str
    events: list[Event]
    warnings: list[str]
    disclaimer: str
    provenance: dict[str, Any]


class Value(_Message):
    """A number that a rule looks at."""

    name: str = Field(description="The paper's symbol, or the detector's name of it.")
    words: str
    value: float | None
    low: float | None = Field(description="The least that the rule lets pass.")
    high: float | None
    holds: bool = Field(description="Whether the frame keeps to the rule.")


class Ball(_Message):
    """A best-fit ball, or where another detector points."""

    row: float
    col: float
    radius: float
    best: bool


class Ellipse(_Message):
    """The ellipse of inertia of a feature."""

    row: float
    col: float
    major: float = Field(description="The longer semi-axis, pixels.")
    minor: float = Field(description="The shorter semi-axis, pixels; 0 for a line of pixels.")
    angle: float = Field(
        description="Of the longer axis, radians from the direction of growing columns towards "
        "that of growing rows: clockwise on a screen."
    )
    rejected: str = Field(description="The rule at which the feature fell, or empty.")


class Evidence(_Message):
    """Why a frame was flagged, or not."""

    words: list[str]
    values: list[Value]
    balls: list[Ball]
    ellipses: list[Ellipse]
    maps: list[str] = Field(description="Names; each is a picture of its own.")


class _Sent(_Request):
    """Said by a page that may have stood open for long: in whose name, and on what."""

    reader: str | None = Field(
        None, max_length=255, description="Who opened the page; refused where another is in."
    )
    role: str | None = Field(None, max_length=255, description="As what they did.")
    screening: str | None = Field(
        None, max_length=255, description="Of the exam as the page shows it; refused if old."
    )


class Action(_Sent):
    """What a reader did."""

    key: str = Field(description="Made by the page; the same key twice is one entry.")
    kind: Kind
    subject: str = Field(description="What it speaks of; empty for an undo.")
    content: dict[str, Any]
    undoes: int | None = None


class Entry(_Open):
    """One action of one reader, as it is kept."""

    number: int
    key: str
    exam: str
    version: int
    reader: str
    role: str = Field(description="A role of the room; anything where it was damaged.")
    time: str
    kind: str = Field(description="A kind of entry; one that this version does not know, too.")
    subject: str
    content: dict[str, Any]
    undoes: int | None
    problem: str = Field("", description="Why it cannot be read, and counts for nothing.")


class SeenFrames(_Sent):
    """Frames that stood on the screen."""

    key: str = Field(description="Made by the page; the same key twice counts once.")
    head: int
    frames: list[list[int | float]] = Field(description="Number and milliseconds of each.")


class Seen(_Message):
    """How long each frame of a head stood on the screen."""

    milliseconds: str = Field(description="Base64 of little-endian float32, one per frame.")


class Cleanliness(_Open):
    """CC-CLEAR."""

    segments: dict[str, int | None]
    sum: int | None
    words: str | None


class Reading(_Open):
    """What the entries add up to."""

    exam: str
    version: int
    state: State
    verdicts: dict[str, dict[str, Any]]
    findings: list[dict[str, Any]]
    landmarks: dict[str, dict[str, Any]]
    cleanliness: Cleanliness
    notes: list[dict[str, Any]]
    urgent: bool
    signature: dict[str, Any] | None
    undoable: int | None
    redoable: int | None
    seen: dict[str, Any]
    problems: list[str] = Field(
        description="What cannot be read and counts for nothing, or was decided on another "
        "screening of the exam."
    )


class Agreement(_Open):
    """How far two readers agree."""

    kappa: float | None
    interval: list[float] | None
    table: Any
    differences: list[dict[str, Any]]
