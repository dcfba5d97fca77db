"""Segments are complete or absent."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.engine.segment_work import segment_file
from capsieve.errors import FileError
from capsieve.store.unfinished import Unfinished
from support.segment_rows import row, scored

ROWS = [scored("polyp"), scored("no-feature"), row(status="undecodable", problem="cut off")]
CONTENT = segment_file(iter(ROWS))


@pytest.fixture
def work(tmp_path):
    unfinished = Unfinished(tmp_path)
    unfinished.begin({"schema": 1})
    return unfinished


def stored(work):
    (path,) = work.folder.glob("head-*")
    return path


def test_a_segment_comes_back_as_it_was(work):
    work.add(1, 7, CONTENT)
    assert work.has(1, 7)
    assert work.rows(1, 7).to_pylist() == pq.read_table(io.BytesIO(CONTENT)).to_pylist()
    assert work.rows(1, 7, ["label"]).column_names == ["label"]


def test_frames_and_flagged_frames_are_counted(work):
    work.add(0, 0, CONTENT)
    work.add(0, 1, segment_file(iter([])))
    assert work.counts(0, 0) == (3, 1)
    assert work.counts(0, 1) == (0, 0)


def test_a_segment_is_known_by_head_and_number(work):
    work.add(1, 7, CONTENT)
    assert not work.has(0, 7)
    assert not work.has(1, 8)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.7, 0.999])
def test_a_truncated_or_empty_segment_counts_as_absent(work, share):
    work.add(0, 0, CONTENT)
    stored(work).write_bytes(CONTENT[: int(share * len(CONTENT))])
    assert not work.has(0, 0)


def test_a_segment_of_other_columns_counts_as_absent(work):
    work.add(0, 0, CONTENT)
    pq.write_table(pa.table({"label": ["polyp"]}), stored(work))
    assert not work.has(0, 0)


def test_a_segment_replaces_what_was_left_of_it(work):
    work.add(0, 0, CONTENT)
    stored(work).write_bytes(CONTENT[:100])
    work.add(0, 0, CONTENT)
    assert work.has(0, 0)


def test_without_work_there_is_no_plan(tmp_path):
    assert Unfinished(tmp_path).plan() is None


def test_the_plan_survives_another_beginning(tmp_path):
    plan = {"schema": 1, "settings": {"field_of_view": [1.5, 2.25, 1e-3]}, "name": "Übung"}
    Unfinished(tmp_path).begin(plan)
    again = Unfinished(tmp_path)
    again.begin({"schema": 2})
    assert again.plan() == plan


def test_segments_survive_another_beginning(work):
    work.add(0, 0, CONTENT)
    work.begin({"schema": 1})
    assert work.has(0, 0)


@pytest.mark.parametrize("content", [b"", b'{"schema"', b"\xff\xfe"])
def test_a_damaged_plan_is_told_with_what_to_do(work, content):
    (work.folder / "plan.json").write_bytes(content)
    with pytest.raises(FileError, match=r"cannot read .*plan\.json .*--fresh"):
        work.plan()


def test_a_plan_of_another_kind_fits_nothing(work):
    (work.folder / "plan.json").write_text("[1, 2]")
    assert work.plan() == {}


def test_removing_leaves_nothing(work, tmp_path):
    work.add(0, 0, CONTENT)
    work.remove()
    assert list(tmp_path.iterdir()) == []
    assert not work.has(0, 0)
    assert work.plan() is None
    work.remove()


def test_where_the_folder_cannot_be_made_it_is_said(tmp_path):
    with pytest.raises(FileError, match="cannot make"):
        Unfinished(tmp_path / "absent").begin({})


def test_segments_without_a_plan_are_nobodys(tmp_path):
    unfinished = Unfinished(tmp_path)
    unfinished.begin({"threshold": 1})
    unfinished.add(0, 0, CONTENT)
    (unfinished.folder / "plan.json").unlink()
    unfinished.begin({"threshold": 2})
    assert not unfinished.has(0, 0)


def test_a_flipped_byte_makes_a_segment_absent(tmp_path):
    unfinished = Unfinished(tmp_path)
    unfinished.begin({})
    unfinished.add(0, 0, CONTENT)
    (path,) = unfinished.folder.glob("head-*")
    whole = path.read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        spoiled = bytearray(whole)
        spoiled[place] ^= 0xFF
        path.write_bytes(spoiled)
        assert not unfinished.has(0, 0)
        with pytest.raises(FileError, match="--fresh"):
            unfinished.rows(0, 0)


def test_a_segment_that_cannot_be_kept_is_an_error(tmp_path):
    with pytest.raises(FileError, match="cannot write"):
        Unfinished(tmp_path).add(0, 0, CONTENT)
