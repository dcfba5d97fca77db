from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.store.reader import (
    exam_folders,
    read_features,
    read_frames,
    table_batches,
    unfinished_exams,
)
from capsieve.store.schema import FEATURES, described
from support.results import write_results


def begin_exam(folder: Path) -> Path:
    (folder / ".unfinished").mkdir(parents=True)
    return folder


def test_exams_come_in_natural_order(tmp_path):
    for name in ("exam-10", "exam-2"):
        write_results(tmp_path / name, 3)
    (tmp_path / "notes").mkdir()
    assert [folder.name for folder in exam_folders(tmp_path)] == ["exam-2", "exam-10"]


def test_one_exam_may_be_named(tmp_path):
    write_results(tmp_path / "other", 3)
    folder = write_results(tmp_path / "exam", 3)
    assert exam_folders(folder) == [folder]


def test_a_folder_without_exams_is_explained(tmp_path):
    with pytest.raises(FileError, match=r"holds no screened exam.*capsieve screen -o.*exam\.json"):
        exam_folders(tmp_path)


def test_an_absent_folder_is_said_to_be_absent(tmp_path):
    with pytest.raises(FileError, match="there is no folder"):
        exam_folders(tmp_path / "absent")


def test_unfinished_exams_are_named(tmp_path):
    begin_exam(tmp_path / "a")
    begin_exam(tmp_path / "b")
    with pytest.raises(FileError, match="finished: a, b; run the same capsieve screen again"):
        exam_folders(tmp_path)
    with pytest.raises(FileError, match=r"no exam in .* is finished: a;"):
        exam_folders(tmp_path / "a")


def test_unfinished_exams_beside_finished_ones_can_be_asked_for(tmp_path):
    finished = write_results(tmp_path / "a", 3)
    begin = begin_exam(tmp_path / "b")
    begin_exam(finished)  # some of its frames may yet be screened: there are results
    assert exam_folders(tmp_path) == [finished]
    assert unfinished_exams(tmp_path) == [begin]


def test_columns_come_as_asked_for(tmp_path):
    folder = write_results(tmp_path / "exam", score=[1.0, 2.0])
    table = read_frames(folder, ["score", "frame"])
    assert table.to_pydict() == {"score": [1.0, 2.0], "frame": [0, 1]}


def test_features_are_read(tmp_path):
    rows = [{"head": 0, "frame": 3, "feature": 1, "radius": 40}]
    table = pa.Table.from_pylist(rows, described(FEATURES, "features", "exam"))
    pq.write_table(table, tmp_path / "features.parquet")
    assert read_features(tmp_path, ["frame", "radius"]).to_pylist() == [{"frame": 3, "radius": 40}]


def test_batches_hold_the_whole_table(tmp_path):
    folder = write_results(tmp_path / "exam", 70_000)
    batches = list(table_batches(folder, "frames", ["frame"]))
    assert len(batches) > 1
    assert pa.concat_arrays([batch["frame"] for batch in batches]).to_pylist() == list(
        range(70_000)
    )


def test_an_absent_column_is_named(tmp_path):
    folder = write_results(tmp_path / "exam", 3)
    with pytest.raises(FileError, match="has no column warmth; screen the exam again"):
        read_frames(folder, ["frame", "warmth"])


@pytest.mark.parametrize("content", [b"", b"PAR1 no more PAR1", None])
def test_a_damaged_table_is_to_be_screened_again(tmp_path, content):
    folder = write_results(tmp_path / "exam", 3)
    path = folder / "frames.parquet"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError, match=r"cannot read .*frames\.parquet .*screen the exam again"):
        read_frames(folder, ["frame"])
    with pytest.raises(FileError, match=r"cannot read .*frames\.parquet .*screen the exam again"):
        list(table_batches(folder, "frames"))


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (None, "no table of capsieve"),
        ({"capsieve": "not JSON"}, "no table of capsieve"),
        ({"capsieve": '{"schema": 99, "table": "frames"}'}, "schema 99"),
        ({"capsieve": '{"schema": 1, "table": "events"}'}, "the table 'events'"),
    ],
)
def test_a_table_of_another_schema_is_refused(tmp_path, metadata, words):
    folder = write_results(tmp_path / "exam", 3)
    table = pq.read_table(folder / "frames.parquet").replace_schema_metadata(metadata)
    pq.write_table(table, folder / "frames.parquet")
    with pytest.raises(FileError, match=words):
        read_frames(folder, ["frame"])
