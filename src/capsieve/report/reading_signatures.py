"""Whether a reading is signed, by whom, and whether that still holds."""

from dataclasses import dataclass

from capsieve.decisions.model import Entry, Reopen, Signature
from capsieve.report.reading_facts import ReadingFacts
from capsieve.report.reading_moments import when
from capsieve.report.reading_rows import written
from capsieve.report.reading_words import signature_words
from capsieve.report.text import plain


@dataclass(frozen=True, slots=True)
class SignatureRow:
    """A signature as a row of a table.

    Attributes
    ----------
    revision, signed, hash
        Which revision, by whom and when, and the hash.
    statement
        What the signer stated, with the reasons that were given.
    problems
        What does not hold; empty where all is as it was signed.
    """

    revision: int
    signed: str
    hash: str
    statement: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SealWords:
    """How a reading stands, for the top of the page.

    Attributes
    ----------
    kind
        "unread", "draft", "broken" or "signed": how the page is marked.
    title
        The most important thing in a few words; "" where the reading is signed and that holds.
    text
        What follows from it.
    problems
        What does not hold of the signature.
    newer
        What to know where a newer revision was begun; "" where this is the newest.
    """

    kind: str
    title: str = ""
    text: str = ""
    problems: tuple[str, ...] = ()
    newer: str = ""


def seal_problems(facts: ReadingFacts) -> tuple[str, ...] | None:
    """Return what does not hold of this revision's signature; None where it has none."""
    signature = facts.chosen.reading.signature
    return None if signature is None else _problems(facts, signature)


def report_cautions(facts: ReadingFacts) -> list[str]:
    """Return why what the report tells cannot be relied on, one sentence each; mostly nothing.

    Signatures of earlier revisions are told in the report alone: a later one has taken their place.
    Where a signature holds, no entry of this reading is missing.
    """
    problems = seal_problems(facts)
    cautions = [f"the signature does not hold: {each}" for each in problems or ()]
    cautions += [*facts.unreadable, *facts.misfits]
    if facts.missing and (problems is None or problems):
        cautions.append(
            f"the log of decisions lacks {facts.missing} of its entries; it cannot be told of "
            "which exams"
        )
    return cautions


def signature_rows(facts: ReadingFacts) -> list[SignatureRow]:
    """Return the signatures of all revisions up to this one."""
    named = facts.chosen.workflow != "single"
    rows: list[SignatureRow] = []
    for entry in facts.chosen.reading.signatures:
        content = entry.content if isinstance(entry.content, Signature) else None
        statement = "" if content is None else content.statement
        reasons = () if content is None else content.reasons.values()
        rows.append(
            SignatureRow(
                revision=entry.revision,
                signed=signature_words(entry, role=named),
                hash="" if content is None else content.hash,
                statement=written("\n".join([statement, *(f"Reason: {each}" for each in reasons)])),
                problems=_problems(facts, entry),
            )
        )
    return rows


def seal_words(facts: ReadingFacts) -> SealWords:
    """Return what a person must know of the reading's state before anything else."""
    reading, newer = facts.chosen.reading, _newer(facts)
    if reading.state == "unread":
        text = "There are no decisions about this exam."
        return SealWords("unread", "Not read yet", text, newer=newer)
    if reading.signature is None:
        text = "This reading is not signed. It can still change, and must not be relied on."
        return SealWords("draft", "DRAFT", text, facts.misfits, newer)
    problems = _problems(facts, reading.signature)
    if problems:
        return SealWords(
            "broken",
            "The signature does not hold",
            "What is below is not what was signed. Do not rely on it before this is cleared up.",
            problems,
            newer,
        )
    return SealWords("signed", newer=newer)


def _newer(facts: ReadingFacts) -> str:
    chosen = facts.chosen
    if chosen.reopened is None:
        return ""
    entry = chosen.reopened
    reason = written(entry.content.reason) if isinstance(entry.content, Reopen) else ""
    return (
        f"This is revision {chosen.reading.revision} of {chosen.latest}: {plain(entry.reader)} "
        f"opened the exam again on {when(entry.time)}. Reason: {reason}"
    )


def _problems(facts: ReadingFacts, signature: Entry) -> tuple[str, ...]:
    # A signature that was not checked must not pass for one that holds.
    return facts.problems.get(signature.number, ("the signature was not found when checking",))
