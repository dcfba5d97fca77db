"""Signatures: one hash over a reading, and its check.

The hash is SHA-256 over canonical JSON (keys sorted, no blanks, UTF-8). It covers the identity of
the exam (sources, tables, versions), every stored byte of the entries of the reading, copies of
the bitmaps of displayed frames, and signer, statement and time. It shows a change, but not who made
it, and cannot prevent that a person with write access to the database signs again.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from capsieve.decisions.agreement import BLOCK, events_to_decide
from capsieve.decisions.database import Database, workflow_in
from capsieve.decisions.exam import Event, hash_json
from capsieve.decisions.log import (
    Writer,
    entry_rows,
    insert_entries,
    known_action,
    next_number,
)
from capsieve.decisions.model import (
    COLUMNS,
    ConflictError,
    Decision,
    Entry,
    EntryError,
    Finding,
    Landmark,
    Row,
    Sign,
    Signature,
    Spot,
    canonical,
    check_key,
    entry_of,
    parse_place,
    stored_text,
    utc_now,
)
from capsieve.decisions.progress import opened_events
from capsieve.decisions.reading import Reading, elsewhere_words, fold
from capsieve.decisions.roles import Workflow
from capsieve.decisions.viewed import Bitmaps, count_frames, unreadable, viewed_rows
from capsieve.decisions.workflow import belongs, check_action, own_reading, pre_read, statement

SIGNATURE = 2
"""Version of the hashed content."""

NOT_DISPLAYED = "pre-reader-decisions"
"""Name of the reason for signing pre-reader decisions on frames that were not displayed."""

WITHOUT_PICTURE = "frames-without-picture"
"""Name of the reason for signing an exam with frames that were not decoded."""


def _hash_rows(rows: Iterable[Row]) -> str:
    """Return the SHA-256 of stored rows, one line of JSON each."""
    digest = hashlib.sha256()
    for row in rows:
        try:
            digest.update(canonical(list(row)).encode() + b"\n")
        except (TypeError, ValueError) as error:  # neither text nor number, or not UTF-8
            raise EntryError(f"row {row[0]} contains what cannot be signed") from error
    return digest.hexdigest()


def _whole(content: Mapping[str, Any], signer: Sequence[Any]) -> str:
    signed = {name: value for name, value in content.items() if name != "hash"}
    return hash_json({"signature": SIGNATURE, "signer": list(signer), "content": signed})


def to_validate(reading: Reading, displayed: Iterable[Bitmaps]) -> list[tuple[Entry, Spot]]:
    """Return pre-reader decisions on frames that were not displayed to a validator, and the frames.

    `displayed` are the bitmaps of one validator or of several.
    """
    bitmaps = list(displayed)

    def shown(spot: Spot) -> bool:
        return any(
            each.head == spot.head
            and spot.frame < each.displayed.size
            and bool(each.displayed[spot.frame])
            for each in bitmaps
        )

    found = [(each, spot) for each in pre_read(reading) if (spot := _spot(each)) is not None]
    return [(each, spot) for each, spot in found if not shown(spot)]


def _spot(entry: Entry) -> Spot | None:
    """Return the frame that an entry is about, as its reader saw it."""
    content = entry.content
    if isinstance(content, Finding):
        return content.best
    if isinstance(content, Landmark):
        return Spot(head=content.head, frame=content.frame)
    place = parse_place(entry.subject)
    if place is None:
        return None
    return Spot(head=place[1], frame=content.frame if isinstance(content, Decision) else place[2])


def sign(
    database: Database,
    writer: Writer,
    key: str,
    request: Sign,
    *,
    identity: Mapping[str, Any],
    events: Sequence[Event],
    frames_by_head: Mapping[int, int],
    without_picture: int = 0,
    now: Callable[[], str] = utc_now,
) -> Entry:
    """Sign a reading; when this returns, the signature is on the disk.

    The hashed rows are read under the lock that also covers the signature.

    Parameters
    ----------
    identity, events, frames_by_head
        Of the exam: see :func:`~capsieve.decisions.exam.signed_identity`; all events; the number of
        frames of each head.

    Raises
    ------
    ForbiddenError
        This reader may not sign.
    ConflictError
        The reading is signed already, has newer entries than the signer was shown, decisions that
        do not fit the exam now, pre-reader decisions that were not displayed (without a
        reason), or rows that cannot be read.
    """
    check_key(key)
    with database.write() as connection:
        known = known_action(connection, writer, key, [request])
        if known:
            return known[0]
        workflow = workflow_in(connection)
        rows = entry_rows(connection, writer.exam)
        log = [entry_of(row) for row in rows]
        number = next_number(connection)
        whose: dict[str, Any] = {"workflow": workflow, "reader": writer.reader, "role": writer.role}
        revision = check_action([request], log, **whose, exam=writer.exam, number=number)
        reading = fold(own_reading(log, **whose), screening=writer.screening)
        bitmaps = [
            each
            for each in viewed_rows(connection, writer.exam, writer.screening)
            if belongs(each, **whose)
        ]
        undisplayed = 0
        if writer.role == "validator":
            own = [
                each for each in bitmaps if (each.reader, each.role) == (writer.reader, writer.role)
            ]
            undisplayed = len(to_validate(reading, own))
        _refuse_unready(request, reading, events, (*reading.problems, *unreadable(bitmaps)))
        needed = events_to_decide(log, reading, events, role=writer.role)
        _check_offered(request, reading, events, needed)
        offered = [event for event in events if event.subject in request.offered]
        opened = [event.subject for event in opened_events(offered, bitmaps)]
        if not set(request.opened) <= set(opened):
            raise ConflictError("frames that were displayed are not stored yet; sign again")
        if without_picture and WITHOUT_PICTURE not in request.reasons:
            raise ConflictError(
                f"{without_picture} frames of {writer.exam} have no picture; give a reason"
            )
        if undisplayed and NOT_DISPLAYED not in request.reasons:
            raise ConflictError(
                f"the frames of {undisplayed} pre-reader decisions were not displayed to "
                f"{writer.reader}; look at them, or give a reason"
            )
        expected = statement(log, **whose, undisplayed=undisplayed)
        if request.statement != expected:
            raise ConflictError(
                f"the statement is now {expected!r}; look at the reading again before signing"
            )
        displayed, viewed = count_frames(bitmaps, frames_by_head)
        covered = _covered(rows, workflow, writer.reader, writer.role)
        content = request.model_dump() | {
            "opened": opened,
            "undisplayed": undisplayed,
            "displayed_frames": displayed,
            "viewed_frames": viewed,
            "frames": sum(frames_by_head.values()),
            "viewed": [each.stored().model_dump() for each in bitmaps],
            "entries": len(covered),
            "parts": {"identity": hash_json(identity), "entries": _hash_rows(covered)},
        }
        time = now()
        signer = (
            *(number, number, key, writer.exam, revision),
            *(writer.reader, writer.role, writer.screening, time),
        )
        signature = Signature.model_validate(content | {"hash": _whole(content, signer)})
        return insert_entries(connection, writer, key, [signature], revision=revision, time=time)[0]


def _refuse_unready(
    request: Sign, reading: Reading, events: Sequence[Event], problems: Sequence[str]
) -> None:
    if problems:  # which the signer has not read
        raise ConflictError(
            f"a reading is signed if all of it can be read, and {problems[0]}; update capsieve, or "
            "restore a backup"
        )
    if reading.last > request.last:
        raise ConflictError("the reading was changed meanwhile; look at it again before signing")
    for sentence in elsewhere_words(reading, events):
        raise ConflictError(sentence)


def _check_offered(
    request: Sign, reading: Reading, events: Sequence[Event], needed: Sequence[Event]
) -> None:
    """Refuse if an event was not offered that must be, or if one is left open without a reason."""
    ranks = {event.subject: rank for rank, event in enumerate(events, start=1)}
    for subject in request.offered:
        if subject not in ranks:
            raise EntryError(f"the exam has no {subject}; open the exam again")
        if subject not in reading.decisions and subject not in request.reasons:
            raise ConflictError(f"event {ranks[subject]} is undecided; decide it, or give a reason")
    for event in needed:
        must = ranks[event.subject] <= BLOCK or event.subject in reading.decisions
        if must and event.subject not in request.offered:
            raise ConflictError(
                f"event {ranks[event.subject]} was not offered; look at the reading again before "
                "signing"
            )


def _covered(rows: Sequence[Row], workflow: Workflow, reader: Any, role: Any) -> list[Row]:
    """Return the rows that a signature covers: the own reading; for a consensus, all of them."""
    if workflow != "blind" or role == "consensus":
        return list(rows)
    by, role_of = COLUMNS.index("reader"), COLUMNS.index("role")
    return [row for row in rows if (row[by], row[role_of]) == (reader, role)]


def check_signatures(
    database: Database, exam: str, *, identity: Mapping[str, Any] | None
) -> dict[int, tuple[str, ...]]:
    """Check every signature of an exam.

    Parameters
    ----------
    identity
        Of the exam now; None if it cannot be read.

    Returns
    -------
    dict
        Problems by the number of the signature's entry; none for a valid signature.
    """
    with database.read() as connection:
        workflow = workflow_in(connection)
        rows = entry_rows(connection, exam)
    found: dict[int, tuple[str, ...]] = {}
    for row in rows:
        cells = dict(zip(COLUMNS, row, strict=True))
        if stored_text(cells["kind"]) == "sign":
            covered = _covered(rows, workflow, cells["reader"], cells["role"])
            found[cells["number"]] = _verify(row, covered, identity)
    return found


def _verify(
    signature: Row, rows: Sequence[Row], identity: Mapping[str, Any] | None
) -> tuple[str, ...]:
    """Return the problems of a signature, given its row and all rows of its reading in order."""
    entry = entry_of(signature)
    content = entry.content
    if not isinstance(content, Signature):
        return (
            "the signature cannot be checked: it was changed after signing, or written by another "
            f"version of capsieve: {entry.problem}",
        )
    problems: list[str] = []
    cells = dict(zip(COLUMNS, signature, strict=True))
    signer = [cells[name] for name in COLUMNS[: COLUMNS.index("kind")]]
    if content.hash != _whole(content.model_dump(), signer):
        problems.append("the signature itself was changed after signing")
    if identity is None:
        problems.append("the screened exam that was signed cannot be read")
    elif hash_json(identity) != content.parts.identity:
        problems.append("the exam differs from the signed one in its source or its screening")
    before = [row for row in rows if row[0] < entry.number]
    if len(before) != content.entries:
        problems.append(f"{content.entries} entries were signed, and {len(before)} exist")
    elif not _are(before, content.parts.entries):
        problems.append("entries were changed after signing")
    after = next((row for row in rows if row[0] > entry.number), None)
    if after is not None and after[COLUMNS.index("kind")] != "reopen":
        problems.append(f"entry {after[0]} was added after signing without reopening the exam")
    return tuple(problems)


def _are(rows: Iterable[Row], signed: str) -> bool:
    try:
        return _hash_rows(rows) == signed
    except EntryError:
        return False
