"""What a signature freezes, as one hash, and what does not hold when somebody looks again.

The hash is SHA-256 over canonical JSON: keys sorted, no blanks, UTF-8. It covers what the exam was
(given by the caller: hashes of the source, settings of the screening, versions), every entry of the
reading up to the signature as it is stored, every batch of the ledger, and who signed what, when.
It tells that something was changed; it does not tell who changed it, nor stop somebody who can
write the database from signing anew.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from capsieve.review.decisions.entries import canonical
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.stored import Row, check_signature, parse_object

__all__ = ["SIGNATURE", "Verification", "hash_json", "hash_rows", "signed_content", "verify"]

SIGNATURE = 1
"""Version of what is hashed."""

_UNREADABLE = (
    "the signature cannot be checked: it was changed after signing, or written by another version "
    "of capsieve"
)
_NUMBER, _KEY, _EXAM, _VERSION, _READER, _ROLE, _TIME, _KIND, _SUBJECT, _CONTENT, _UNDOES = range(
    11
)


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a signature holds.

    Attributes
    ----------
    problems
        What does not hold, one sentence each; empty where all is as it was signed.
    """

    problems: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether all is as it was signed."""
        return not self.problems


def hash_json(value: Any) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def hash_rows(rows: Iterable[Row]) -> str:
    """Return the SHA-256 of rows as they are stored, one line of JSON each.

    Raises
    ------
    EntryError
        A cell is neither text nor number, or no UTF-8: capsieve never wrote it.
    """
    digest = hashlib.sha256()
    for row in rows:
        try:
            digest.update(canonical(list(row)).encode() + b"\n")
        except (TypeError, ValueError) as error:
            raise EntryError(f"row {row[_NUMBER]} holds what cannot be signed") from error
    return digest.hexdigest()


def _are(rows: Iterable[Row], signed: str) -> bool:
    """Whether rows are those that were signed."""
    try:
        return hash_rows(rows) == signed
    except EntryError:
        return False


def signed_content(
    *,
    statement: str,
    identity: Mapping[str, Any],
    entries: Sequence[Row],
    seen: Sequence[Row],
    seen_frames: int,
    frames: int,
    signer: Sequence[Any],
) -> dict[str, Any]:
    """Return the content of a signature.

    Parameters
    ----------
    statement
        What the signer states.
    identity
        What the exam was, as JSON.
    entries, seen
        Rows of the reading, as they are stored.
    seen_frames, frames
        How many frames stood on the screen, of how many.
    signer
        Number, key, exam, version, reader, role and time of the signature's entry.
    """
    content = {
        "statement": statement,
        "seen_frames": seen_frames,
        "frames": frames,
        "entries": len(entries),
        "seen_through": seen[-1][_NUMBER] if seen else 0,
        "parts": {
            "identity": hash_json(identity),
            "entries": hash_rows(entries),
            "seen": hash_rows(seen),
        },
    }
    return content | {"hash": _whole(content, signer)}


def _whole(content: Mapping[str, Any], signer: Sequence[Any]) -> str:
    said = {name: value for name, value in content.items() if name != "hash"}
    return hash_json({"signature": SIGNATURE, "signer": list(signer), "content": said})


def verify(
    signature: Row,
    *,
    entries: Sequence[Row],
    seen: Sequence[Row],
    identity: Mapping[str, Any] | None,
) -> Verification:
    """Recompute a signature's hash from what is there now.

    Parameters
    ----------
    signature
        The signature's entry, as it is stored.
    entries, seen
        All rows of its reading, also those after it, in order.
    identity
        What the exam is now; None where that cannot be told, which is a problem.
    """
    try:
        content = parse_object(signature[_CONTENT])
        check_signature(content)
        whole = content["hash"] == _whole(content, signature[:_KIND])
    except (EntryError, ValueError, TypeError) as error:
        return Verification((f"{_UNREADABLE}: {error}",))
    parts, through, count = content["parts"], content["seen_through"], content["entries"]
    exact = canonical(content) == signature[_CONTENT]
    problems: list[str] = []
    if not (whole and exact and signature[_SUBJECT] == "exam" and signature[_UNDOES] is None):
        problems.append("the signature itself was changed after signing")
    if identity is None:
        problems.append("the screened exam that was signed cannot be read")
    elif hash_json(identity) != parts["identity"]:
        problems.append("the exam is not what was signed: its source or its screening differs")
    before = [row for row in entries if row[_NUMBER] < signature[_NUMBER]]
    if len(before) != count:
        problems.append(f"{count} entries were signed, and {len(before)} are there")
    elif not _are(before, parts["entries"]):
        problems.append("entries were changed after signing")
    if not _are((row for row in seen if row[_NUMBER] <= through), parts["seen"]):
        problems.append("the ledger of frames seen was changed after signing")
    after = next((row for row in entries if row[_NUMBER] > signature[_NUMBER]), None)
    if after is not None and after[_KIND] != "reopen":
        problems.append(f"entry {after[_NUMBER]} was added after signing without opening the exam")
    return Verification(tuple(problems))
