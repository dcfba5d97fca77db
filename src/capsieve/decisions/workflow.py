"""Who sees which entries, and who may write what, in the three workflows.

single     all readers share one reading
validated  a pre-reader decides, a validator corrects wrong decisions and signs
blind      two readers have a reading each, and see nothing of the other before both have signed;
           then both stay unchanged, and a consensus decides the differences
"""

from collections.abc import Iterable, Sequence
from typing import Any

from capsieve.decisions.model import (
    Cleanliness,
    ConflictError,
    Content,
    Decision,
    Entry,
    EntryError,
    Finding,
    ForbiddenError,
    Landmark,
    Note,
    Request,
    Undo,
    Urgent,
    finding_name,
    parse_place,
    said,
)
from capsieve.decisions.reading import (
    AGREED,
    PERMANENT,
    Reading,
    fold,
    standing,
    state_of,
    touched,
    undone_actions,
)
from capsieve.decisions.roles import ROLES, Workflow

BLIND_READERS = 2
"""How many read an exam blind."""


def belongs(entry: Any, *, workflow: Workflow, reader: str, role: str) -> bool:
    """Return whether an entry or a bitmap is part of the reading of a reader in a role."""
    if workflow != "blind":
        return True
    return entry.role == role and (role == "consensus" or entry.reader == reader)


def own_reading(
    entries: Iterable[Entry], *, workflow: Workflow, reader: str, role: str
) -> list[Entry]:
    """Return the entries of the reading of a reader in a role.

    A consensus starts from what both blind readers agree on.
    """
    entries = list(entries)
    own = [
        entry for entry in entries if belongs(entry, workflow=workflow, reader=reader, role=role)
    ]
    if workflow == "blind" and role == "consensus" and both_signed(entries):
        agreed = _agreed_entries(*list(blind_readings(entries).values())[:BLIND_READERS])
        own = _without_contradicted(agreed, own) + own
    return own


def blind_readings(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    """Return the entries of each blind reader, in the order of their first entries.

    A reader who has undone everything has no reading, and leaves the place to another one.
    """
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.role == "reader":
            found.setdefault(entry.reader, []).append(entry)
    return {
        reader: log
        for reader, log in found.items()
        if standing(log) or any(each.kind in PERMANENT or each.problem for each in log)
    }


def both_signed(entries: Iterable[Entry]) -> bool:
    """Return whether both blind readings are signed; from then on they are visible."""
    readings = blind_readings(entries)
    return len(readings) >= BLIND_READERS and all(
        state_of(log).signature is not None for log in readings.values()
    )


def visible(entries: Sequence[Entry], *, workflow: Workflow, reader: str, role: str) -> list[Entry]:
    """Return the entries of an exam that a reader may see."""
    if workflow != "blind" or both_signed(entries):
        return list(entries)
    return [each for each in entries if belongs(each, workflow=workflow, reader=reader, role=role)]


def _agreed_entries(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    """Return the entries of the first reading that the second confirms, as entries of both.

    Decisions, landmarks, grades and urgency agree if they are equal; findings if they are seen on
    a common frame. Notes are not compared.
    """
    findings = [said(each, Finding) for each in fold(second).findings]
    theirs = touched(second)
    agreed = [
        each
        for (kind, subject), each in touched(first).items()
        if each.kind != "removed"
        and (
            any(said(each, Finding).meets(finding) for finding in findings)
            if kind == "finding"
            else _compared(each) == _compared(theirs.get((kind, subject)))
        )
    ]
    readers = f"{first[0].reader} and {second[0].reader}"
    changes = {"reader": readers, "role": AGREED, "revision": 1}
    return [
        each.model_copy(update=changes) for each in sorted(agreed, key=lambda each: each.number)
    ]


def _compared(entry: Entry | None) -> Any:
    content = None if entry is None else entry.content
    if isinstance(content, Decision):
        return content.decision
    if isinstance(content, Landmark):
        return content.head, content.frame
    if isinstance(content, Cleanliness):
        return content.grade
    return isinstance(content, Urgent)


def _without_contradicted(agreed: Sequence[Entry], consensus: Sequence[Entry]) -> list[Entry]:
    """Return agreed entries without findings of events that the consensus did not accept."""
    decisions = fold(consensus).decisions
    refused = [
        subject for subject, each in decisions.items() if said(each, Decision).decision != "accept"
    ]

    def contradicted(finding: Finding) -> bool:
        return any(
            finding.subject == finding_name(subject)
            or ((place := parse_place(subject)) is not None and finding.shows(*place[1:]))
            for subject in refused
        )

    return [
        each
        for each in agreed
        if not (isinstance(each.content, Finding) and contradicted(each.content))
    ]


def check_action(
    contents: Sequence[Request | Content],
    log: Sequence[Entry],
    *,
    workflow: Workflow,
    reader: str,
    role: str,
    exam: str,
    number: int,
) -> int:
    """Refuse an action that does not fit; return the revision of its entries.

    Parameters
    ----------
    contents
        The entries of the action, checked together.
    log
        All entries of the exam, in order.
    workflow, reader, role, exam
        Who writes, about what.
    number
        Of the action.

    Raises
    ------
    EntryError
        The action makes no sense.
    ForbiddenError
        This reader may not do it.
    ConflictError
        It does not fit the log.
    """
    kinds = [content.kind for content in contents]
    if not kinds:
        raise EntryError("the action is empty; send at least one entry")
    if len(kinds) > 1 and {"undo", *PERMANENT} & set(kinds):
        raise EntryError("an undo, a signature or a reopening is an action of its own")
    _check_role(kinds[0], workflow=workflow, reader=reader, role=role)
    if workflow == "blind":
        _check_blind(kinds[0], log, reader=reader, role=role, exam=exam)
    own = own_reading(log, workflow=workflow, reader=reader, role=role)
    state = state_of(own)
    if kinds[0] == "reopen":
        if state.signature is None:
            raise ConflictError(f"{exam} is open; only a signed exam is reopened")
        return state.revision + 1
    if state.signature is not None:
        raise ConflictError(
            f"{exam} was signed by {state.signature.reader} at {state.signature.time}; "
            "reopen it to change it"
        )
    for content in contents:
        if isinstance(content, Undo):
            _check_undo(content, own, reader=reader, exam=exam)
        if role == "consensus" and isinstance(content, Decision):
            _check_open(content, log)
    if role == "pre-reader":
        _check_validated(contents, own, number)
    return state.revision


def _check_role(kind: str, *, workflow: Workflow, reader: str, role: str) -> None:
    if role not in ROLES[workflow]:
        raise ForbiddenError(
            f"the workflow is {workflow}, which has no role {role!r}; its roles are "
            f"{', '.join(ROLES[workflow])}"
        )
    if role == "pre-reader" and kind in PERMANENT:
        raise ForbiddenError(
            f"only the validator {'signs' if kind == 'sign' else 'reopens'} the exam; {reader} is "
            "pre-reader"
        )


def _check_blind(kind: str, log: Sequence[Entry], *, reader: str, role: str, exam: str) -> None:
    readings, opened = blind_readings(log), both_signed(log)
    if role == "consensus":
        if not opened:
            raise ConflictError(
                f"the consensus on {exam} is possible after both readers have signed"
            )
        return
    if reader not in readings and len(readings) >= BLIND_READERS:
        names = " and ".join(sorted(readings)) if opened else "two others"
        raise ForbiddenError(f"{exam} is read blind by {names}; choose another exam")
    if kind == "reopen" and opened:
        raise ConflictError(
            f"both readings of {exam} are signed and visible to each other, so they stay "
            "unchanged; changes belong in the consensus"
        )


def _check_undo(undo: Undo, own: Sequence[Entry], *, reader: str, exam: str) -> None:
    target = [entry for entry in own if entry.action == undo.action and entry.role != AGREED]
    if not target:
        raise ConflictError(f"there is no action {undo.action} about {exam} to undo")
    if target[0].reader != reader:
        raise ForbiddenError(
            f"action {undo.action} is of {target[0].reader}; undo only your own actions"
        )
    if any(entry.kind in PERMANENT for entry in target):
        raise ConflictError(
            f"action {undo.action} cannot be undone; a signed exam is reopened instead"
        )
    if undo.action in undone_actions(own):
        raise ConflictError(f"action {undo.action} was undone already")


def _check_open(decision: Decision, log: Sequence[Entry]) -> None:
    """Refuse a consensus decision on an event with equal decisions of both readers."""
    both = [fold(each).decisions.get(decision.subject) for each in blind_readings(log).values()]
    words = {said(each, Decision).decision for each in both if each is not None}
    if all(both) and len(words) == 1 and decision.subject.startswith("event:"):
        raise ConflictError(
            f"both readers decided {words.pop()!r} on {decision.subject}; the consensus decides "
            "only differences"
        )


def _check_validated(contents: Sequence[Any], own: Sequence[Entry], number: int) -> None:
    """Refuse an action of a pre-reader that changes what a validator decided.

    Undoing an undo brings an old decision back, so the results before and after are compared.
    """
    new = [
        Entry.model_construct(
            number=number + place,
            action=number,
            role="pre-reader",
            kind=content.kind,
            content=content,
        )
        for place, content in enumerate(contents)
    ]
    before, after = touched(own), touched([*own, *new])
    for key, entry in before.items():
        if entry.role != "validator":
            continue
        keys = [key]
        if key[0] == "decision":  # and what the event shows
            named = getattr(entry.content, "finding", None)
            keys += [("finding", name) for name in (named, finding_name(key[1])) if name]
        if any(before.get(each) != after.get(each) for each in keys):
            raise ForbiddenError(
                f"{entry.reader} has decided {key[1]} as validator; a pre-reader cannot change it "
                f"unless {entry.reader} undoes that"
            )


def pre_read(reading: Reading) -> list[Entry]:
    """Return the decisions of pre-readers that count, rejections included.

    The finding of an accepted event is not counted in addition to the decision.
    """
    named = {
        each.content.finding
        for each in reading.decisions.values()
        if isinstance(each.content, Decision) and each.role == "pre-reader"
    }
    return [
        each
        for each in reading.entries
        if each.role == "pre-reader"
        and each.subject not in named
        and (not isinstance(each.content, Note) or parse_place(each.subject) is not None)
    ]


def statement(
    entries: Sequence[Entry],
    *,
    workflow: Workflow,
    reader: str,
    role: str,
    undisplayed: int = 0,
) -> str:
    """Return what a signer states: who did what.

    Parameters
    ----------
    entries
        All entries of the exam.
    workflow, reader, role
        Of the signer.
    undisplayed
        How many pre-reader decisions are on frames that were not displayed to the signer.
    """
    log = own_reading(entries, workflow=workflow, reader=reader, role=role)
    reading = fold(log)
    counting = (*reading.entries, *touched(log).values())
    own = list(dict.fromkeys([*(each.reader for each in counting if each.role == role), reader]))
    decided = _names(own) + (f", signed by {reader}" if len(own) > 1 else "")
    pre = list(dict.fromkeys(each.reader for each in standing(log) if each.role == "pre-reader"))
    if role == "consensus":
        both = _names(list(blind_readings(entries)))
        words = f"Consensus on the readings of {both}, decided by {decided}."
    elif pre:
        words = f"Pre-read by {_names(pre)}, validated by {decided}."
    elif workflow == "validated":
        words = f"Read and decided by {decided}, without a pre-reader."
    else:
        words = f"Read {'blind ' if workflow == 'blind' else ''}and decided by {decided}."
    if undisplayed:
        words += (
            f" The frames of {undisplayed} of {len(pre_read(reading))} pre-reader decisions were "
            f"not displayed to {reader}."
        )
    revision = f" Revision {reading.revision}." if reading.revision > 1 else ""
    return words + revision


def _names(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
