"""What a reading comes to, in sentences."""

from collections import Counter

from capsieve.report.reading_choice import Chosen
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.reading_moments import Moments, when
from capsieve.report.reading_rows import VerdictCounts
from capsieve.report.text import clock, percent, plain, plural
from capsieve.review.decisions.reading import Reading, Signature
from capsieve.review.decisions.vocabulary import SIZES, VERDICTS

__all__ = [
    "kappa_words",
    "screen_time",
    "signature_words",
    "state_word",
    "summary_sentences",
    "transit",
    "whose_words",
]


def state_word(reading: Reading) -> str:
    """Return the state as a stamp says it."""
    return {"signed": "SIGNED", "in reading": "DRAFT"}.get(reading.state, "NOT READ")


def whose_words(chosen: Chosen) -> str:
    """Return whose reading it is, in words."""
    if chosen.role == "consensus":
        return "consensus of two blind readings"
    if chosen.way == "blind":
        return f"{plain(chosen.reader)}, blind" if chosen.reader else "nobody yet"
    who = dict.fromkeys((entry.reader, entry.role) for entry in chosen.entries)
    named = (
        plain(name) if chosen.way == "single" else f"{plain(name)} ({role})" for name, role in who
    )
    return ", ".join(named) or "nobody yet"


def signature_words(signature: Signature, *, role: bool) -> str:
    """Return who signed and when."""
    named = f"{plain(signature.reader)} ({signature.role})" if role else plain(signature.reader)
    return f"{named}, {when(signature.time)}"


def summary_sentences(facts: ReadingFacts, counts: VerdictCounts) -> list[str]:
    """Return what was found and how far it goes; nothing that no reader said."""
    reading = facts.chosen.reading
    if reading.state == "unread":
        return [
            "Nobody has decided anything about this exam yet.",
            f"The sieve flagged {plural(counts.events, 'event')}.",
        ]
    lines = _findings(facts.chosen)
    lines.append(_events(counts))
    clean = reading.cleanliness
    if clean.words is not None:
        lines.append(f"Cleanliness is {clean.words} (CC-CLEAR {clean.sum} of 9).")
    else:
        lines.append("Cleanliness was not graded in all three segments.")
    found = facts.record["frame_counts"]["found"]
    share = f" ({percent(facts.frames_seen / found)})" if found else ""
    lines.append(f"{plural(facts.frames_seen, 'frame')} of {found:,}{share} stood on the screen.")
    return lines


def _findings(chosen: Chosen) -> list[str]:
    """Return the findings in numbers; those that a validator refused are not counted."""
    every = chosen.reading.findings
    held = [finding for finding in every if finding.confirmed is not False]
    refused = len(every) - len(held)
    if not held:
        lines = ["No finding was described." if not refused else "No finding stands."]
    else:
        sizes = Counter(finding.content["size"] for finding in held)
        parts = [f"{sizes[size]} {words}" for size, words in reversed(SIZES.items()) if sizes[size]]
        parts += [f"{sizes[None]} without a size"] if sizes[None] else []
        told = ", ".join(parts) if len(held) > 1 else parts[0].removeprefix("1 ")
        lines = [f"{plural(len(held), 'finding')}: {told}."]
        urgent = sum(finding.content["urgent"] for finding in held)
        if urgent:
            lines.append(f"{_of_them(urgent, len(held))} urgent.")
        missed = sum(finding.content["missed_by_sieve"] for finding in held)
        if missed:
            lines.append(f"{_of_them(missed, len(held))} marked as missed by the sieve.")
    if refused:
        was = "was" if refused == 1 else "were"
        lines.append(
            f"{plural(refused, 'finding')} of the pre-reader {was} refused by the validator and "
            f"{'is' if refused == 1 else 'are'} not counted."
        )
    waiting = sum(finding.role == "pre-reader" and finding.confirmed is None for finding in held)
    if chosen.way == "validated" and waiting:
        lines.append(f"{_of_them(waiting, len(held))} not yet confirmed by the validator.")
    return lines


def _of_them(part: int, whole: int) -> str:
    """Return the subject of a sentence, with its verb."""
    if part == whole:
        return "It is" if whole == 1 else "All of them are"
    return "1 of them is" if part == 1 else f"{part} of them are"


def _events(counts: VerdictCounts) -> str:
    if not counts.events:
        return "The sieve flagged no event."
    said = [
        (counts.accepted, f"read as {VERDICTS['accept']}"),
        (counts.rejected, f"read as {VERDICTS['reject']}"),
        (counts.unsure, VERDICTS["unsure"]),
        (counts.undecided, "undecided"),
    ]
    parts = ", ".join(f"{number} {word}" for number, word in said if number)
    return f"The sieve flagged {plural(counts.events, 'event')}: {parts}."


def transit(reading: Reading, moments: Moments) -> str:
    """Return how long the capsule was in the colon, or why that is not known."""
    first, last = (reading.landmarks.get(name) for name in ("first-colon", "last-colon"))
    if first is None or last is None:
        return "not known: first and last frame of the colon are not both marked"
    start = moments.seconds(first.head, first.frame)
    end = moments.seconds(last.head, last.frame)
    if start is None or end is None:
        why = moments.scale.note or "the times of these frames are unknown"
        return f"not known: {why}"
    if end < start:
        return "not known: the last frame of the colon is marked before the first"
    return f"{clock(end - start)} (h:mm:ss)"


def screen_time(seconds: float) -> str:
    """Return for how long frames stood on the screen."""
    return f"{seconds:.1f} s" if seconds < 60 else clock(seconds)


def kappa_words(facts: ReadingFacts) -> str:
    """Return the agreement of two blind readers in a sentence."""
    found = facts.agreement
    if found is None:
        return ""
    kappa = found.kappa
    if kappa.value is None:
        return f"Cohen's kappa is not defined: {kappa.reason}."
    words = f"Cohen's kappa is {_signed(kappa.value)}"
    if kappa.interval is None:
        return f"{words}, without an interval: {kappa.reason}."
    low, high = map(_signed, kappa.interval)
    return f"{words} (95 % interval {low} to {high})."


def _signed(value: float) -> str:
    # Adding zero turns a minus zero into zero.
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}")
