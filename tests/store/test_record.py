"""exam.json is validated when it is read."""

import copy
import json

import pytest

from capsieve.errors import FileError
from capsieve.store.record import read_record, write_record
from support.results import exam_record, frame_counts


@pytest.fixture
def record():
    return exam_record("exam", [frame_counts(10), frame_counts(20)])


def stored(folder, content):
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / "exam.json").write_text(text, encoding="utf-8")
    return folder


def test_a_record_is_read_as_it_was_written(tmp_path, record):
    record["exam"] = "=Übung"
    write_record(record, tmp_path)
    assert read_record(tmp_path) == record


def test_a_record_with_a_number_that_is_not_finite_is_not_written(tmp_path, record):
    record["flagging"]["last_score"] = float("nan")
    with pytest.raises(ValueError, match="nan"):
        write_record(record, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("tables", []),
        ("tables", {"frames.parquet": 3}),
        ("frame_counts", None),
        ("frame_counts.found", "10"),
        ("frame_counts.found", 1.5),
        ("frame_counts.rejected", []),
        ("heads", []),
        ("heads.1", 5),
        ("sources", {}),
        ("sources.0.head", "0"),
        ("sources.0.kind", "tape"),
        ("sources.1.description", None),
        ("fields_of_view.0.radius", "large"),
        ("range.measures", []),
        ("flagging.rule", "best"),
        ("complete", 1),
        ("exam", 7),
        ("exam", "../../evil"),
        ("exam", ".."),
        ("exam", ""),
        ("parameters", {"width": "wide"}),
        ("parameters", {"no_such_parameter": 1}),
        ("problems", [{"what": "truncated"}]),
        ("warnings", [1]),
        ("versions", {"python": "3.11.2"}),
        ("run", "today"),
        ("unknown", 1),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_field(tmp_path, record, field, value):
    content = copy.deepcopy(record)
    *parents, name = field.split(".")
    place = content
    for parent in parents:
        place = place[int(parent) if isinstance(place, list) else parent]
    place[name] = value
    with pytest.raises(FileError, match=rf"exam\.json: {field}.*--overwrite"):
        read_record(stored(tmp_path, content))


@pytest.mark.parametrize("field", ["frame_counts", "flagging", "identity"])
def test_a_missing_field_is_named(tmp_path, record, field):
    del record[field]
    with pytest.raises(FileError, match=rf"{field}: field required"):
        read_record(stored(tmp_path, record))


@pytest.mark.parametrize("heads", [["0"], ["0", "1", "2"], ["0", "x"]])
def test_heads_and_sources_must_agree(tmp_path, record, heads):
    counts = record["heads"]["0"]
    record["heads"] = dict.fromkeys(heads, counts)
    with pytest.raises(FileError, match="same heads"):
        read_record(stored(tmp_path, record))


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, record, number):
    text = json.dumps(record).replace('"last_score": null', f'"last_score": {number}')
    assert number in text
    with pytest.raises(FileError, match="not a finite number"):
        read_record(stored(tmp_path, text))


@pytest.mark.parametrize("content", ["", '{"schema": 2', "[" * 100_000, "nothing"])
def test_a_damaged_record_is_an_error_with_advice(tmp_path, content):
    with pytest.raises(FileError, match=r"exam\.json is damaged .*--overwrite"):
        read_record(stored(tmp_path, content))


@pytest.mark.parametrize("content", [[], 3, None, {}, {"schema": 1}, {"schema": "2"}])
def test_another_schema_version_is_refused(tmp_path, content):
    with pytest.raises(FileError, match=r"schema version .* --overwrite"):
        read_record(stored(tmp_path, content))


def test_a_folder_without_a_record_is_named(tmp_path):
    with pytest.raises(FileError, match=rf"{tmp_path} contains no screened exam.*capsieve screen"):
        read_record(tmp_path)


def test_text_that_is_not_utf8_is_an_error(tmp_path):
    (tmp_path / "exam.json").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="UTF-8"):
        read_record(tmp_path)
