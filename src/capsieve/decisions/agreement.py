"""Where two readings of an exam differ, and Cohen's kappa: agreement beyond chance."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field

from capsieve.decisions.exam import Event
from capsieve.decisions.model import (
    DECISIONS,
    Decision,
    Entry,
    Finding,
    Signature,
    frame_subject,
    parse_place,
    said,
)
from capsieve.decisions.reading import Reading, elsewhere_words, fold
from capsieve.decisions.workflow import BLIND_READERS, blind_readings, both_signed
from capsieve.errors import ParameterError
from capsieve.statistics.intervals import normal_quantile

UNDECIDED = "undecided"

BLOCK = 50
"""Events are offered best first, so many at a time: nobody decides a thousand events."""


class Difference(BaseModel):
    """An event, a frame or a finding that differs between two readings.

    `a` and `b` are decisions, "undecided", or for a finding "finding" and "nothing"; the frames
    show it.
    """

    model_config = ConfigDict(frozen=True)

    subject: str
    a: str
    b: str
    head: int
    first: int
    last: int


class Agreement(BaseModel):
    """How far two readings agree, over the events that both decided."""

    model_config = ConfigDict(frozen=True)

    readers: tuple[str, ...] = Field(description="First and second reader.")
    words: tuple[str, ...] = Field(description="The decisions, in the order of the table.")
    table: tuple[tuple[int, ...], ...] = Field(description="Row: first reader; column: second.")
    decided: int
    undecided: int = Field(description="Events that one or both did not decide.")
    kappa: float | None
    interval: tuple[float, float] | None
    reason: str = Field(description="Why kappa or its interval is not defined.")
    differences: tuple[Difference, ...] = Field(description="In the order of the exam.")


@dataclass(frozen=True, slots=True)
class Kappa:
    """Kappa with its interval, and the reason if one of them is not defined."""

    value: float | None
    interval: tuple[float, float] | None
    reason: str = ""


def compare_blind(
    entries: Iterable[Entry], *, screening: str, events: Sequence[Event]
) -> Agreement | str:
    """Compare the two blind readings of an exam, given all of its entries; both are signed.

    If one is of another screening, which has other events, the reason is returned.
    """
    readings = {
        reader: fold(log, screening=screening)
        for reader, log in list(blind_readings(entries).items())[:BLIND_READERS]
    }
    for reading in readings.values():
        for sentence in elsewhere_words(reading, events):
            return sentence
    (one, first), (other, second) = readings.items()
    return compare(first, second, events=events, readers=(one, other))


def offered_events(reading: Reading, events: Sequence[Event]) -> list[Event]:
    """Return the events that are offered; of a signed reading, those that were signed.

    The first block is offered to every reader, and a decision on an event offers its block.

    Parameters
    ----------
    events
        Of the exam, best first.
    """
    content = None if reading.signature is None else reading.signature.content
    if isinstance(content, Signature):
        return [event for event in events if event.subject in content.offered]
    blocks = {0} | {
        rank // BLOCK for rank, event in enumerate(events) if event.subject in reading.decisions
    }
    return [event for rank, event in enumerate(events) if rank // BLOCK in blocks]


def events_to_decide(
    entries: Iterable[Entry], reading: Reading, events: Sequence[Event], *, role: str
) -> list[Event]:
    """Return the events that need a decision: for a consensus those without a common decision.

    Parameters
    ----------
    entries
        All entries of the exam.
    reading
        That of the reader who asks, with this role.
    events
        Of the exam, best first.
    """
    entries = list(entries)
    if role != "consensus" or reading.signature is not None or not both_signed(entries):
        return offered_events(reading, events)
    a, b = [fold(log) for log in list(blind_readings(entries).values())[:BLIND_READERS]]
    units = _units(a, b, events)
    differing = {unit.subject for unit in units if unit.a != unit.b or unit.a == UNDECIDED}
    return [event for event in events if event.subject in differing]


def compare(
    a: Reading, b: Reading, *, events: Sequence[Event], readers: tuple[str, str] = ("", "")
) -> Agreement:
    """Compare two readings of one exam, over the events that were offered to both.

    Kappa is over those that both decided. A finding that no finding of the other reading meets
    on a common frame is a difference, whether the detector flagged it or not.
    """
    first, second = _decisions(a), _decisions(b)
    units = _units(a, b, events)
    pairs = [(unit.a, unit.b) for unit in units if UNDECIDED not in (unit.a, unit.b)]
    table = tabulate(pairs, tuple(DECISIONS))
    kappa = cohen_kappa(table)
    differences = [unit for unit in units if unit.a != unit.b]
    differences += _other_places(events, first, second)
    differences += _findings(a, b, ("finding", "nothing"))
    differences += _findings(b, a, ("nothing", "finding"))
    return Agreement(
        readers=readers,
        words=tuple(DECISIONS),
        table=table,
        decided=len(pairs),
        undecided=len(units) - len(pairs),
        kappa=kappa.value,
        interval=kappa.interval,
        reason=kappa.reason,
        differences=tuple(
            sorted(differences, key=lambda each: (each.head, each.first, each.subject))
        ),
    )


def _units(a: Reading, b: Reading, events: Sequence[Event]) -> list[Difference]:
    """Return the decisions of both readers on each event that was offered to both."""
    first, second = _decisions(a), _decisions(b)
    shared = set(offered_events(a, events)) & set(offered_events(b, events))
    return [_difference(event, first, second) for event in events if event in shared]


def _decisions(reading: Reading) -> dict[str, str]:
    return {subject: said(each, Decision).decision for subject, each in reading.decisions.items()}


def _difference(event: Event, a: Mapping[str, str], b: Mapping[str, str]) -> Difference:
    return Difference(
        subject=event.subject,
        a=a.get(event.subject, UNDECIDED),
        b=b.get(event.subject, UNDECIDED),
        head=event.head,
        first=event.frames[0],
        last=event.frames[-1],
    )


def _other_places(
    events: Sequence[Event], a: Mapping[str, str], b: Mapping[str, str]
) -> Iterable[Difference]:
    """Yield single frames and unknown events with different decisions.

    A frame without a decision of its own has that of its event.
    """
    event_of = {
        frame_subject(event.head, frame): event.subject
        for event in events
        for frame in event.frames
    }
    known = {event.subject for event in events}
    for subject in sorted((a.keys() | b.keys()) - known):
        kind, head, frame = parse_place(subject) or ("", 0, 0)
        event = event_of.get(subject, "") if kind == "frame" else ""
        words = [each.get(subject, each.get(event, UNDECIDED)) for each in (a, b)]
        if words[0] != words[1]:
            yield Difference(
                subject=subject, a=words[0], b=words[1], head=head, first=frame, last=frame
            )


def _findings(one: Reading, other: Reading, words: tuple[str, str]) -> Iterable[Difference]:
    theirs = [said(each, Finding) for each in other.findings]
    for finding in (said(each, Finding) for each in one.findings):
        if any(finding.meets(each) for each in theirs):
            continue
        spans = [span for span in finding.spans if span.head == finding.best.head]
        yield Difference(
            subject=finding.subject,
            a=words[0],
            b=words[1],
            head=finding.best.head,
            first=spans[0].first,
            last=spans[-1].last,
        )


def cohen_kappa(table: ArrayLike, *, level: float = 0.95) -> Kappa:
    """Return kappa of a square table of counts.

    With the shares p_ij of the table, p_o = sum p_ii and p_e = sum p_i. p_.i:

        kappa = (p_o - p_e) / (1 - p_e)

    and with n counts the large-sample variance of Fleiss, Cohen and Everitt:

        (sum p_ii (1 - (p_i. + p_.i) (1 - kappa))^2
         + (1 - kappa)^2 sum_{i != j} p_ij (p_.i + p_j.)^2
         - (kappa - p_e (1 - kappa))^2) / (n (1 - p_e)^2)

    Parameters
    ----------
    table
        Row: decision of the first reader; column: of the second.
    level
        Of the interval.

    References
    ----------
    J. Cohen, Educ. Psychol. Meas. 20 (1960) 37-46.
    J. L. Fleiss, J. Cohen, B. S. Everitt, Psychol. Bull. 72 (1969) 323-327.
    """
    counts = np.asarray(table, float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise ParameterError("table", "kappa needs a square table of counts from 0")
    n = counts.sum()
    if n == 0:
        return Kappa(None, None, "nothing was decided by both readers")
    p = counts / n
    rows, cols = p.sum(axis=1), p.sum(axis=0)
    chance = float(rows @ cols)
    if math.isclose(chance, 1.0):
        return Kappa(None, None, "both readers made the same one decision on everything")
    # From the counts, which are whole: from shares, no agreement beyond chance becomes -9.3e-17.
    crossed = counts.sum(axis=1) @ counts.sum(axis=0)
    kappa = float((n * np.trace(counts) - crossed) / (n**2 - crossed))
    both = np.diag(p)
    on = float(both @ (1 - (rows + cols) * (1 - kappa)) ** 2)
    off = float((p * (cols[:, None] + rows[None, :]) ** 2).sum() - both @ (cols + rows) ** 2)
    variance = on + (1 - kappa) ** 2 * off - (kappa - chance * (1 - kappa)) ** 2
    variance /= n * (1 - chance) ** 2
    if variance <= 1e-15:
        return Kappa(kappa, None, "the large-sample interval has no width here")
    half = normal_quantile(level) * math.sqrt(variance)
    return Kappa(kappa, (max(-1.0, kappa - half), min(1.0, kappa + half)))


def tabulate(pairs: Sequence[tuple[str, str]], words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Count pairs of words in a square table."""
    counts = {(a, b): 0 for a in words for b in words}
    for pair in pairs:
        counts[pair] += 1
    return tuple(tuple(counts[a, b] for b in words) for a in words)
