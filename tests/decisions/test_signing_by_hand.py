"""The hash of a signature, computed from docs/review.md without the code of capsieve."""

import base64
import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from capsieve.decisions.model import Entry, Signature, said
from support.readings import ExamReader, choose_workflow
from support.small_exam import write_small_exam


def canonical(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def of_rows(rows: list[tuple[Any, ...]]) -> str:
    return sha256(b"".join(canonical(list(row)) + b"\n" for row in rows))


def expected_hash(exam: Path, number: int, *, blind: bool = False) -> tuple[dict[str, Any], str]:
    """Return the parts and the hash that the signature of this entry must have."""
    with closing(sqlite3.connect(exam.parent / "decisions.sqlite")) as database:
        entries = database.execute(
            "SELECT * FROM capsieve_entries WHERE exam = ? ORDER BY number", (exam.name,)
        ).fetchall()
    [signature] = [row for row in entries if row[0] == number]
    content = json.loads(signature[10])
    if blind and signature[6] == "reader":
        entries = [row for row in entries if row[5:7] == signature[5:7]]
    record = json.loads((exam / "exam.json").read_text(encoding="utf-8"))
    named = ("head", "kind", "stream", "names", "sha256", "bytes")
    identity = {name: record[name] for name in ("exam", "tables", "identity", "versions")}
    identity["sources"] = [{name: each[name] for name in named} for each in record["sources"]]
    parts = {
        "identity": sha256(canonical(identity)),
        "entries": of_rows([row for row in entries if row[0] < number]),
    }
    rest = {name: value for name, value in content.items() if name != "hash"} | {"parts": parts}
    whole = {"signature": 2, "signer": list(signature[:9]), "content": rest}
    return parts, sha256(canonical(whole))


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    return write_small_exam(tmp_path / "out", tmp_path / "source")


def assert_as_documented(exam: Path, entry: Entry, *, blind: bool = False) -> None:
    parts, whole = expected_hash(exam, entry.number, blind=blind)
    content = said(entry, Signature)
    assert content.parts.model_dump() == parts
    assert content.hash == whole


def test_the_hash_follows_the_documentation(exam: Path) -> None:
    anna = ExamReader(exam, "Ánna")
    anna.add_finding("a", 3, note='first line\nsecond "line" – ½', place={"row": 1.5, "col": 2})
    anna.see(range(4), viewed=[2])
    first = anna.sign()
    anna.see(range(6))
    anna.reopen("again")
    anna.note("second")
    second = anna.sign()
    for entry in (first, second):
        assert_as_documented(exam, entry)
    shown = said(second, Signature).viewed[0]
    assert base64.b64decode(shown.displayed)[0] == 0b111111


def test_a_blind_signature_covers_own_rows_and_a_consensus_covers_all(
    exam: Path,
) -> None:
    choose_workflow(exam, "blind")
    anna, ben = ExamReader(exam, "anna"), ExamReader(exam, "ben")
    carl = ExamReader(exam, "carl", "consensus")
    anna.add_finding("a", 3)
    ben.see(range(3))
    ben.add_finding("b", 4)
    anna.see(range(5))
    signed = [anna.sign(), ben.sign()]
    carl.add_finding("c", 4)
    signed.append(carl.sign())
    for entry in signed:
        assert_as_documented(exam, entry, blind=True)
