"""What a reading comes to, in sentences."""

from collections import Counter

from capsieve.decisions.agreement import Agreement
from capsieve.decisions.model import DECISIONS, SIZES, Entry, Finding, Landmark, said
from capsieve.decisions.reading import Reading
from capsieve.report.reading_choice import Chosen
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.reading_moments import Moments, when
from capsieve.report.reading_rows import DecisionCounts
from capsieve.report.text import clock, percent, plain, plural


def state_word(reading: Reading) -> str:
    """Return the state as a stamp says it."""
    return {"signed": "SIGNED", "in reading": "DRAFT"}.get(reading.state, "NOT READ")


def whose_words(chosen: Chosen) -> str:
    """Return whose reading it is, in words."""
    if chosen.role == "consensus":
        return "consensus of two blind readings"
    if chosen.workflow == "blind":
        return f"{plain(chosen.reader)}, blind" if chosen.reader else "nobody yet"
    who = dict.fromkeys((entry.reader, entry.role) for entry in chosen.entries)
    verbs = {"reader": "", "pre-reader": "pre-read by ", "validator": "validated by "}
    parts = (
        verb + " and ".join(plain(name) for name, of in who if of == role)
        for role, verb in verbs.items()
        if role in {of for _, of in who}
    )
    return ", ".join(parts) or "nobody yet"


def signature_words(signature: Entry, *, role: bool) -> str:
    """Return who signed and when."""
    named = f"{plain(signature.reader)} ({signature.role})" if role else plain(signature.reader)
    return f"{named}, {when(signature.time)}"


def summary_sentences(facts: ReadingFacts, counts: DecisionCounts) -> list[str]:
    """Return what was found and how far it goes; nothing that no reader said."""
    reading = facts.chosen.reading
    if reading.state == "unread":
        return [
            "Nobody has decided anything about this exam yet.",
            f"The detector flagged {plural(counts.events, 'event')}.",
        ]
    lines = _findings(reading)
    lines.append(_events(counts))
    clean = reading.cleanliness
    if clean.words is not None:
        lines.append(f"Cleanliness is {clean.words} (CC-CLEAR {clean.sum} of 9).")
    else:
        lines.append("Cleanliness was not graded in all three segments.")
    found = facts.record["frame_counts"]["found"]
    share = f" ({percent(facts.displayed / found)})" if found else ""
    lines.append(f"Displayed: {plural(facts.displayed, 'frame')} of {found:,}{share}.")
    if facts.to_validate:
        lines.append(f"To validate: {plural(facts.to_validate, 'pre-reader decision')}.")
    return lines


def _findings(reading: Reading) -> list[str]:
    """Return the findings in numbers."""
    findings = [said(each, Finding) for each in reading.findings]
    if not findings:
        return ["No finding was described."]
    sizes = Counter(finding.size for finding in findings)
    parts = [f"{sizes[size]} {words}" for size, words in reversed(SIZES.items()) if sizes[size]]
    parts += [f"{sizes[None]} without a size"] if sizes[None] else []
    told = ", ".join(parts) if len(findings) > 1 else parts[0].removeprefix("1 ")
    lines = [f"{plural(len(findings), 'finding')}: {told}."]
    urgent = sum(finding.urgent for finding in findings)
    if urgent:
        lines.append(f"{_of_them(urgent, len(findings))} urgent.")
    missed = sum(finding.missed for finding in findings)
    if missed:
        lines.append(f"{_of_them(missed, len(findings))} marked as missed by the detector.")
    return lines


def _of_them(part: int, whole: int) -> str:
    """Return the subject of a sentence, with its verb."""
    if part == whole:
        return "It is" if whole == 1 else "All of them are"
    return "1 of them is" if part == 1 else f"{part} of them are"


def _events(counts: DecisionCounts) -> str:
    if not counts.events:
        return "The detector flagged no event."
    said = [
        (counts.accepted, f"read as {DECISIONS['accept']}"),
        (counts.rejected, f"read as {DECISIONS['reject']}"),
        (counts.unsure, DECISIONS["unsure"]),
        (counts.undecided, "undecided"),
    ]
    parts = ", ".join(f"{number} {word}" for number, word in said if number)
    return f"The detector flagged {plural(counts.events, 'event')}: {parts}."


def transit(reading: Reading, moments: Moments) -> str:
    """Return how long the capsule was in the colon, or why that is not known."""
    first, last = (reading.landmarks.get(name) for name in ("first-colon", "last-colon"))
    if first is None or last is None:
        return "not known: first and last frame of the colon are not both marked"
    marks = [said(each, Landmark) for each in (first, last)]
    start, end = (moments.seconds(mark.head, mark.frame) for mark in marks)
    if start is None or end is None:
        why = moments.scale.note or "the times of these frames are unknown"
        return f"not known: {why}"
    if end < start:
        return "not known: the last frame of the colon is marked before the first"
    return f"{clock(end - start)} (h:mm:ss)"


def kappa_words(found: Agreement) -> str:
    """Return the agreement of two blind readers in a sentence."""
    if found.kappa is None:
        return f"Cohen's kappa is not defined: {found.reason}."
    words = f"Cohen's kappa is {_signed(found.kappa)}"
    if found.interval is None:
        return f"{words}, without an interval: {found.reason}."
    low, high = map(_signed, found.interval)
    return f"{words} (95 % interval {low} to {high})."


def _signed(value: float) -> str:
    # Adding zero turns a minus zero into zero.
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")
