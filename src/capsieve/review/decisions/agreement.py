"""Where two readings of an exam differ, and how far they agree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from capsieve.errors import ParameterError
from capsieve.review.decisions.kappa import Kappa, cohen_kappa, tabulate
from capsieve.review.decisions.reading import Finding, Reading
from capsieve.review.decisions.subjects import FlaggedEvent, frame_subject, parse_subject
from capsieve.review.decisions.vocabulary import VERDICTS

__all__ = ["Agreement", "Difference", "compare"]

_UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of which two readings say different things.

    Attributes
    ----------
    subject
        An event, a frame or a finding.
    a, b
        What the first and the second reading say: a verdict, "undecided", or for a finding
        "finding" and "nothing".
    head, frames
        Where to look; first and last frame of an event that this screening does not have.
    """

    subject: str
    a: str
    b: str
    head: int
    frames: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two readings agree.

    Attributes
    ----------
    over
        "events" or "frames": what was counted.
    words
        The verdicts, in the order of the table.
    table
        Row: first reading; column: second. Only what both decided.
    decided, undecided
        How many both decided, and how many one or both did not.
    kappa
        Over the table.
    differences
        All of them, in the order of the exam.
    """

    over: str
    words: tuple[str, ...]
    table: tuple[tuple[int, ...], ...]
    decided: int
    undecided: int
    kappa: Kappa
    differences: tuple[Difference, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "over": self.over,
            "words": list(self.words),
            "table": [list(row) for row in self.table],
            "decided": self.decided,
            "undecided": self.undecided,
            "kappa": self.kappa.value,
            "interval": None if self.kappa.interval is None else list(self.kappa.interval),
            "reason": self.kappa.reason,
            "differences": [asdict(one) | {"frames": list(one.frames)} for one in self.differences],
        }


def compare(
    a: Reading,
    b: Reading,
    *,
    events: Iterable[FlaggedEvent],
    over: Literal["events", "frames"] = "events",
    level: float = 0.95,
) -> Agreement:
    """Compare two readings of one exam.

    A frame that was judged by itself counts with its own verdict, any other with its event's.
    Kappa is over what both decided; frames of one event are not independent, so its interval over
    frames is too narrow. A finding is met by one of the other reading that is seen on one of its
    frames; one that is not met is a difference, whether the sieve flagged it or not.

    Parameters
    ----------
    a, b
        The readings.
    events
        All events of the screening.
    over
        What is counted.
    level
        Of kappa's interval.
    """
    if over not in ("events", "frames"):
        raise ParameterError("over", f"there is no {over!r}; choose events or frames")
    events = sorted(events, key=lambda event: (event.head, event.frames))
    said_a, said_b = ({name: one.verdict for name, one in r.verdicts.items()} for r in (a, b))
    units = [unit for event in events for unit in _units(event, said_a, said_b, over=over)]
    pairs = [(one.a, one.b) for one in units if _UNDECIDED not in (one.a, one.b)]
    table = tabulate(pairs, tuple(VERDICTS))
    differences = [one for event in events for one in _differences(event, said_a, said_b)]
    differences += _outside(events, said_a, said_b)
    differences += [
        Difference(f"finding:{one.id}", *words, one.head, one.frames)
        for own, other, words in (
            (a.findings, b.findings, ("finding", "nothing")),
            (b.findings, a.findings, ("nothing", "finding")),
        )
        for one in own
        if not any(_meet(one, another) for another in other)
    ]
    return Agreement(
        over=over,
        words=tuple(VERDICTS),
        table=table,
        decided=len(pairs),
        undecided=len(units) - len(pairs),
        kappa=cohen_kappa(table, level=level),
        differences=tuple(
            sorted(differences, key=lambda one: (one.head, one.frames[0], one.subject))
        ),
    )


def _units(
    event: FlaggedEvent, a: Mapping[str, str], b: Mapping[str, str], *, over: str
) -> list[Difference]:
    whole = [said.get(event.subject, _UNDECIDED) for said in (a, b)]
    if over == "events":
        return [Difference(event.subject, whole[0], whole[1], event.head, event.frames)]
    return [_frame(event.head, frame, a, b, whole) for frame in event.frames]


def _frame(
    head: int, frame: int, a: Mapping[str, str], b: Mapping[str, str], whole: Sequence[str]
) -> Difference:
    subject = frame_subject(head, frame)
    return Difference(subject, a.get(subject, whole[0]), b.get(subject, whole[1]), head, (frame,))


def _differences(
    event: FlaggedEvent, a: Mapping[str, str], b: Mapping[str, str]
) -> list[Difference]:
    """Return the event where its verdicts differ, and frames that were judged by themselves."""
    [unit] = _units(event, a, b, over="events")
    own = [
        _frame(event.head, frame, a, b, (unit.a, unit.b))
        for frame in event.frames
        if frame_subject(event.head, frame) in a or frame_subject(event.head, frame) in b
    ]
    return [one for one in (unit, *own) if one.a != one.b]


def _outside(
    events: Sequence[FlaggedEvent], a: Mapping[str, str], b: Mapping[str, str]
) -> list[Difference]:
    """Return what was judged though the sieve did not flag it now, where it differs."""
    known = {frame_subject(event.head, frame) for event in events for frame in event.frames}
    known |= {event.subject for event in events}
    found: list[Difference] = []
    for subject in sorted((set(a) | set(b)) - known):
        place = parse_subject(subject)
        frames = tuple(sorted({place.first, place.last}))
        one, other = a.get(subject, _UNDECIDED), b.get(subject, _UNDECIDED)
        if one != other:
            found.append(Difference(subject, one, other, place.head, frames))
    return found


def _meet(one: Finding, other: Finding) -> bool:
    return one.head == other.head and not set(one.frames).isdisjoint(other.frames)
