"""JSON bodies of requests and answers, typed.

Positions are 0-based pixel centres of the source's frame, row and column. Times are seconds from
the first frame of the exam; dates are ISO 8601 in UTC.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from capsieve.decisions.model import Entry, Request, Span, Spot
from capsieve.decisions.progress import Progress
from capsieve.decisions.reading import Reading
from capsieve.decisions.roles import Role, Workflow

DISCLAIMER = "Research software, not a medical device."

ReadingState = Literal["unread", "in reading", "signed"]


class _Message(BaseModel):
    """Sent by the server."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class _Request(BaseModel):
    """Sent by the page: unknown properties are refused, and no value is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class Problem(_Message):
    """Why something was refused."""

    detail: str = Field(description="One message.")


class Done(_Message):
    """There is nothing to say."""


class Room(_Message):
    """The server, and who is logged in."""

    version: str = Field(description="Of capsieve.")
    room: str = Field(description="Random, and the same for all servers on one database.")
    workflow: Workflow
    reader: str
    role: Role
    disclaimer: str
    login: bool = Field(description="Whether the reader logged in by name, and can log out.")
    pdf: bool = Field(description="Whether there are reports as PDF, too.")


class ReaderState(_Message):
    """How far somebody is with an exam."""

    reader: str = Field(description="Empty if it must not be known yet: blind work.")
    state: ReadingState


class ExamRow(_Message):
    """An exam in the list."""

    exam: str = Field(description="The name of its folder.")
    state: ReadingState
    revision: int = Field(description="Of the reading.")
    urgent: bool
    frames: int
    heads: list[int]
    duration_s: float | None
    events: int
    flagged_frames: int
    to_read: int = Field(description="Flagged frames without near-duplicates.")
    decided_events: int
    to_validate: int = Field(description="Pre-reader decisions not displayed to this validator.")
    findings: int
    complete: bool = Field(description="Whether every frame was screened.")
    problems: list[str] = Field(description="One message each.")
    readers: list[ReaderState]
    screened_at: str | None = Field(description="When the screening ended.")
    readable: bool = Field(description="Whether it can be opened; the problems say why not.")
    progress: Progress
    out_of_range: bool = Field(description="Whether it differs from what the detector knows.")
    flagging: str = Field(description="The rule of the flags; empty: the detector's threshold.")


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
    files: list[str] = Field(description="Name of each frame's file; empty for a video.")


class Score(_Message):
    """What the detector's score is."""

    name: str
    words: str
    low: float = Field(description="The lowest score that a slider has to offer.")
    high: float
    probability: bool


class Event(_Message):
    """A candidate polyp."""

    event: int = Field(description="Its rank by score, from 1.")
    head: int
    first_frame: int
    last_frame: int
    best_frame: int
    frames: int
    to_read: int
    score: float
    row: float | None
    col: float | None
    radius: float | None


class Exam(_Message):
    """One exam, and what was found in it."""

    exam: str
    screening: str = Field(description="Changes if the exam is screened again.")
    heads: list[Head]
    threshold: float | None = Field(
        description="The lowest score that is flagged, or the last score of a reading list."
    )
    reading_list: bool = Field(description="Whether a reading list flagged the frames.")
    flagging: str = Field(description="The rule of the flags; empty: the detector's threshold.")
    score: Score
    detector: str
    events: list[Event] = Field(description="Best first.")
    warnings: list[str]
    out_of_range: list[str] = Field(description="How it differs from what the detector knows.")
    disclaimer: str


class Value(_Message):
    """A number that a rule compares with bounds."""

    name: str = Field(description="The paper's symbol, or the detector's name.")
    words: str
    value: float | None
    low: float | None = Field(description="The lowest value that passes the rule.")
    high: float | None
    holds: bool = Field(description="Whether the frame passes the rule.")


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
    rejected: str = Field(description="The rule that rejected the feature, or empty.")


class Evidence(_Message):
    """Why a frame was flagged, or not."""

    words: list[str]
    values: list[Value]
    balls: list[Ball]
    ellipses: list[Ellipse]
    maps: list[str] = Field(description="Names; each is a picture of its own.")


class _Sent(_Request):
    """Sent by a page: of which reader, and about which screening."""

    reader: str = Field(
        max_length=255, description="Who opened the page; refused if another is logged in."
    )
    role: str = Field(max_length=255, description="The role of that reader.")
    screening: str = Field(
        max_length=255, description="Of the exam as the page shows it; refused if it is old."
    )


class Action(_Sent):
    """What a reader did: all entries are stored, or none."""

    key: str = Field(description="Made by the page; the same key twice is one action.")
    entries: Annotated[tuple[Request, ...], Field(strict=False, min_length=1, max_length=100)]


class SentFrames(_Sent):
    """Frames of a head that were displayed."""

    head: int = Field(ge=0)
    displayed: Annotated[tuple[Span, ...], Field(strict=False, max_length=20_000)]
    viewed: Annotated[tuple[Span, ...], Field(strict=False, max_length=20_000)] = Field(
        description="Those that were displayed for at least 45 ms."
    )


class ViewedFrames(_Message):
    """Which frames of a head were displayed to this reader: bitmaps, the first frame in bit 0."""

    frames: int
    displayed: str = Field(description="Base64.")
    viewed: str = Field(description="Base64: for at least 45 ms.")


class Waiting(_Message):
    """A pre-reader decision on a frame that was not displayed to this validator."""

    entry: Entry
    frame: Spot


class ReadingView(Reading):
    """A reading, and what the page shows with it."""

    exam: str
    progress: Progress
    offered: list[str] = Field(description="Events that need a decision, best first.")
    readers: list[str] = Field(description="Everybody whose decisions count.")
    states: list[ReaderState] = Field(description="As in the list of exams.")
    statement: str = Field(description="What a signature of this reader would state.")
    to_validate: list[Waiting]
    misfits: list[Entry] = Field(
        description="Decisions on another screening, or on events that the exam does not have: "
        "they are removed, or made again, before the exam is signed."
    )
