"""Actions on what others said: taking back, confirming, and who has the last word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from capsieve.review.decisions.entries import Entry, NewEntry
from capsieve.review.decisions.reading import fold
from capsieve.review.decisions.refusals import ConflictError, ForbiddenError
from capsieve.review.decisions.standing import PERMANENT, stand

__all__ = ["check_action"]


@dataclass(frozen=True, slots=True)
class _Word:
    """What a validator said of something: by a decision, or by an answer to a pre-reader's."""

    decision: int
    answer: int | None
    reader: str
    verb: str


def check_action(
    new: NewEntry, entries: Sequence[Entry], *, exam: str, reader: str, pre_reader: bool
) -> NewEntry:
    """Check an action against the entries before it; fill in what it refers to.

    Parameters
    ----------
    new
        The action.
    entries
        Of the reading that it belongs to, in order.
    exam, reader
        Who acts, on what.
    pre_reader
        Whether a validator has the last word over them.

    Raises
    ------
    ForbiddenError
        It is another's to change.
    ConflictError
        It does not fit what stands.
    """
    if new.kind == "undo":
        new = _undo(new, entries, exam=exam, reader=reader)
    elif new.kind == "confirm":
        new = _confirm(new, entries)
    if pre_reader:
        _keep_the_last_word(new, entries)
    return new


def _undo(new: NewEntry, entries: Sequence[Entry], *, exam: str, reader: str) -> NewEntry:
    target = next((entry for entry in entries if entry.number == new.undoes), None)
    if target is None:
        raise ConflictError(f"there is no entry {new.undoes} about {exam} to take back")
    if target.reader != reader:
        raise ForbiddenError(
            f"entry {target.number} is {target.reader}'s; take back only what is your own"
        )
    if target.kind in PERMANENT:
        raise ConflictError(
            f"entry {target.number} cannot be taken back; a signed exam is opened again instead"
        )
    if target.number not in stand(entries).numbers:
        raise ConflictError(f"entry {target.number} is taken back already")
    return replace(new, subject=target.subject)


def _confirm(new: NewEntry, entries: Sequence[Entry]) -> NewEntry:
    reading = fold(entries)
    verdict = reading.verdicts.get(new.subject)
    findings = {f"finding:{finding.id}": finding for finding in reading.findings}
    target = verdict or findings.get(new.subject)
    if target is None or target.role != "pre-reader":
        raise ConflictError(f"no pre-reader's decision about {new.subject} stands to be confirmed")
    if new.content["of"] not in (None, target.number):
        raise ConflictError(f"{new.subject} was changed meanwhile; look at it again")
    return replace(new, content={**new.content, "of": target.number})


def _keep_the_last_word(new: NewEntry, entries: Sequence[Entry]) -> None:
    """Refuse what would change, or leave without an answer, what a validator has decided.

    An undo of an undo brings an old decision back: so not the action is looked at, but what would
    stand after it.
    """
    after = _words([*entries, _as_entry(new, entries)])
    for place, word in _words(entries).items():
        later = after.get(place)
        if later is None or (later.decision, later.answer) != (word.decision, word.answer):
            raise ForbiddenError(
                f"{word.reader} has {word.verb} {place[1]} as validator; a pre-reader cannot "
                f"change that unless {word.reader} takes it back"
            )


def _words(entries: Sequence[Entry]) -> Mapping[tuple[str, str], _Word]:
    """Return all on which a validator has the last word, by kind and subject."""
    latest: dict[tuple[str, str], Entry] = {}
    answers: dict[int, Entry] = {}
    for entry in stand(entries).entries:
        if entry.kind == "confirm":
            answers[entry.content["of"]] = entry
        elif entry.kind not in (*PERMANENT, "note"):  # notes stand beside each other
            latest[entry.kind, entry.subject] = entry
    found: dict[tuple[str, str], _Word] = {}
    for place, entry in latest.items():
        answer = answers.get(entry.number)
        if answer is not None:
            verb = "confirmed" if answer.content["agrees"] else "refused"
            found[place] = _Word(entry.number, answer.number, answer.reader, verb)
        elif entry.role == "validator":
            found[place] = _Word(entry.number, None, entry.reader, "decided")
    return found


def _as_entry(new: NewEntry, entries: Sequence[Entry]) -> Entry:
    """Return the action as it would be written down, as far as it matters to what stands."""
    number = entries[-1].number + 1 if entries else 1
    return Entry(
        number=number,
        key=new.key,
        exam="",
        version=1,
        reader="",
        role="pre-reader",
        time="",
        kind=new.kind,
        subject=new.subject,
        content=new.content,
        undoes=new.undoes,
    )
