"""exam.json is whole, or a sentence says what is wrong with it."""

import json
import math

import pytest

from capsieve.errors import FileError
from capsieve.store.record import RECORD, read_record, write_record
from screened_exam import write_exam


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record") / "exam"
    write_exam(folder, frames=20, events=0, exam="Prüfung 腸")
    return read_record(folder)


def test_a_record_comes_back_as_it_was(record, tmp_path):
    write_record(record, tmp_path)
    assert read_record(tmp_path) == record


def test_names_stay_readable_in_the_file(record, tmp_path):
    write_record(record, tmp_path)
    assert "Prüfung 腸" in (tmp_path / RECORD).read_text(encoding="utf-8")


def test_writing_leaves_nothing_else(record, tmp_path):
    write_record(record, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]


def test_what_is_no_json_leaves_the_old_record(record, tmp_path):
    write_record(record, tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        write_record(record | {"run": {"seconds": math.nan}}, tmp_path)
    assert read_record(tmp_path) == record
    assert [path.name for path in tmp_path.iterdir()] == [RECORD]


def test_no_record_says_what_to_do(tmp_path):
    with pytest.raises(FileError, match=r"holds no screened exam.*run capsieve screen first"):
        read_record(tmp_path)


def test_a_file_instead_of_a_folder_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot read"):
        read_record(tmp_path / "file")


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_a_damaged_record_says_what_to_do(tmp_path, content):
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(FileError, match=r"is damaged .*--fresh"):
        read_record(tmp_path)


@pytest.mark.parametrize("content", [{}, {"schema": 99}, {"schema": "1"}, [], None])
def test_another_schema_is_refused(tmp_path, content):
    (tmp_path / RECORD).write_text(json.dumps(content))
    with pytest.raises(FileError, match="has the schema"):
        read_record(tmp_path)
