"""Reading screened exams: columns, rows, folders, and frames of a source that may have moved."""

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from capsieve import Parameters
from capsieve.errors import FileError
from capsieve.sources.base import PacketTable, Place
from capsieve.sources.video_source import VideoSource
from capsieve.store.exam import Exam, exam_folders, unfinished_exams
from capsieve.store.schema import FRAMES, SCHEMA
from support.results import exam_record, frame_counts, frame_hash, write_results, write_table


@pytest.fixture
def exam(tmp_path):
    folder = write_results(tmp_path / "out" / "exam", score=[1.0, 50.0, 3.0])
    return Exam(folder)


def two_heads(folder):
    """Write an exam with three frames of head 0 and two of head 1."""
    heads = [frame_counts(3), frame_counts(2)]
    return write_results(
        folder,
        head=[0, 0, 0, 1, 1],
        frame=[0, 1, 2, 0, 1],
        packet=[4, None, 5, 1, 0],
        pixel_hash=["a", None, "c", "d", "e"],
        record=exam_record(folder.name, heads),
    )


def test_columns_have_the_order_in_which_they_were_named(exam):
    table = exam.columns("score", "frame")
    assert list(table.to_pydict().items()) == [("score", [1.0, 50.0, 3.0]), ("frame", [0, 1, 2])]
    assert exam.columns().column_names == FRAMES.names


def test_features_and_thumbnails_are_read(exam):
    write_table(exam.folder, "features", [{"head": 0, "frame": 3, "radius": 40}])
    features = exam.columns("frame", "radius", table="features")
    assert features.to_pylist() == [{"frame": 3, "radius": 40}]
    write_table(exam.folder, "thumbnails", [{"head": 1, "frame": 2, "thumbnail": b"JPEG"}])
    assert exam.thumbnails() == {(1, 2): b"JPEG"}


def test_a_row_is_that_of_its_head_and_frame(tmp_path):
    exam = Exam(two_heads(tmp_path / "exam"))
    assert exam.heads == [0, 1]
    assert exam.row(2)["pixel_hash"] == "c"
    assert exam.row(1, head=1)["pixel_hash"] == "e"
    assert exam.row(0).keys() == set(exam.columns().column_names)


@pytest.mark.parametrize("frame", [3, 999_999, -1])
def test_a_wrong_frame_number_is_an_error_with_the_range(exam, frame):
    with pytest.raises(FileError, match=rf"has no frame {frame}; .* 0 to 2$"):
        exam.row(frame)


def test_a_wrong_head_is_an_error_with_the_heads(tmp_path, exam):
    with pytest.raises(FileError, match=r"has no head 1; it has 0$"):
        exam.row(0, head=1)
    with pytest.raises(FileError, match=r"has no head 2; it has 0 and 1$"):
        Exam(two_heads(tmp_path / "two")).reader(2)


def test_a_missing_column_is_named(exam):
    with pytest.raises(FileError, match="has no column warmth; screen the exam again"):
        exam.columns("frame", "warmth")


@pytest.mark.parametrize("content", [b"", b"PAR1 no more PAR1", None])
def test_a_damaged_table_is_an_error_with_advice(exam, content):
    path = exam.folder / "frames.parquet"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    for read in (exam.columns, lambda: exam.row(0)):
        with pytest.raises(FileError, match=r"cannot read .*frames\.parquet.*--overwrite"):
            read()


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (None, "not a table of capsieve"),
        ({"capsieve": "not JSON"}, "not a table of capsieve"),
        ({"capsieve": "[1]"}, "not a table of capsieve"),
        ({"capsieve": '{"schema": 99, "table": "frames"}'}, "schema version 99"),
        ({"capsieve": f'{{"schema": {SCHEMA}, "table": "events"}}'}, "the table 'events'"),
    ],
)
def test_a_table_of_another_schema_is_refused(exam, metadata, words):
    table = pq.read_table(exam.folder / "frames.parquet").replace_schema_metadata(metadata)
    pq.write_table(table, exam.folder / "frames.parquet")
    with pytest.raises(FileError, match=words):
        exam.columns("frame")


def test_names_of_folders_are_not_taken_for_columns(tmp_path):
    folder = write_results(tmp_path / "score=7" / "patient=3", 2)
    table = Exam(folder).columns()
    assert "patient" not in table.column_names
    assert table["score"].to_pylist() == [0.0, 0.0]


def test_parameters_and_fields_of_view_are_those_of_the_record(exam):
    assert exam.parameters == Parameters()
    field = exam.field_of_view(0, 128, 128)
    assert field is not None
    assert (field.shape, field.row, field.radius) == ("circle", 64.0, 0.48 * 128)
    assert exam.field_of_view(0, 96, 96) is None
    assert exam.field_of_view(1, 128, 128) is None


@dataclass
class Reader:
    """Keeps what it was made with."""

    source: VideoSource
    frames: pa.Table
    packets: PacketTable
    description: dict[str, str]


def kept(source, frames, *, packets, description):
    return Reader(source, frames, packets, description)


def test_a_reader_gets_the_frames_and_packets_of_its_head(tmp_path, monkeypatch):
    monkeypatch.setattr(VideoSource, "reader", kept)
    folder = two_heads(tmp_path / "exam")
    (tmp_path / "video").touch()
    packets = [{"head": head, "dts": dts, "size": 1} for head, dts in [(0, 7), (1, 8), (1, 9)]]
    usual = {"crc32": 1, "key": True, "hidden": False}
    write_table(folder, "packets", [one | usual for one in packets])
    set_sources(folder, path=str(tmp_path / "video"), stream=2, names="-head-1")
    reader = Exam(folder).reader(1)
    assert isinstance(reader, Reader)
    assert reader.source.place == Place("video", str(tmp_path / "video"), 1, 2, "-head-1")
    assert reader.frames["pixel_hash"].to_pylist() == ["d", "e"]
    assert reader.frames["packet"].to_pylist() == [1, 0]
    assert isinstance(reader.packets, PacketTable)
    assert reader.packets.dts.tolist() == [8, 9]
    assert reader.description["codec"] == "h264"
    first = Exam(folder).reader(0)
    assert isinstance(first, Reader)
    assert first.frames["packet"].to_pylist() == [4, None, 5]


def set_sources(folder, **values):
    record = json.loads((folder / "exam.json").read_text())
    for source in record["sources"]:
        source.update(values)
    (folder / "exam.json").write_text(json.dumps(record))


def write_images(study):
    """Write a folder of images and its exam below one folder; return the exam's folder."""
    (study / "images").mkdir(parents=True)
    frames = [np.full((20, 20, 3), value, np.uint8) for value in (10, 90)]
    for number, pixels in enumerate(frames):
        Image.fromarray(pixels).save(study / "images" / f"{number}.png")
    folder = write_results(
        study / "out" / "exam",
        file=["0.png", "1.png"],
        pixel_hash=[frame_hash(pixels) for pixels in frames],
    )
    path = study / "images"
    set_sources(folder, kind="folder", path=str(path), relative="../../images")
    return folder


def test_a_study_that_was_moved_as_a_whole_is_found(tmp_path):
    write_images(tmp_path / "study")
    (tmp_path / "study").rename(tmp_path / "elsewhere")
    with Exam(tmp_path / "elsewhere" / "out" / "exam").reader() as reader:
        assert (reader.pixels(1) == 90).all()


def test_a_missing_source_is_named(tmp_path):
    folder = write_images(tmp_path)
    (tmp_path / "images").rename(tmp_path / "away")
    with pytest.raises(FileError, match=rf"source {tmp_path}/images .* missing; put it back"):
        Exam(folder).reader()


def begin_exam(folder):
    (folder / ".unfinished").mkdir(parents=True)
    return folder


def test_exams_are_listed_in_natural_order(tmp_path):
    for name in ("exam-10", "exam-2"):
        write_results(tmp_path / name, 3)
    (tmp_path / "notes").mkdir()
    assert [folder.name for folder in exam_folders(tmp_path)] == ["exam-2", "exam-10"]
    assert exam_folders(tmp_path / "exam-2") == [tmp_path / "exam-2"]


def test_a_folder_without_exams_is_an_error_with_advice(tmp_path):
    with pytest.raises(FileError, match=r"contains no screened exam.*capsieve screen -o"):
        exam_folders(tmp_path)
    with pytest.raises(FileError, match=r"cannot list .*absent.*capsieve screen -o"):
        exam_folders(tmp_path / "absent")


def test_unfinished_exams_are_named_if_there_are_no_others(tmp_path):
    for name in "abcdefg":
        begin_exam(tmp_path / name)
    with pytest.raises(FileError, match=r"finished: a, b, c, d, e and 2 more; run the same"):
        exam_folders(tmp_path)
    with pytest.raises(FileError, match=r"is finished: a;"):
        exam_folders(tmp_path / "a")


def test_an_exam_with_a_record_is_finished(tmp_path):
    finished = begin_exam(write_results(tmp_path / "a", 3))  # lost segments may be tried again
    started = begin_exam(tmp_path / "b")
    assert exam_folders(tmp_path) == [finished]
    assert unfinished_exams(tmp_path) == [started]


def test_a_folder_without_a_record_is_no_exam(tmp_path):
    with pytest.raises(FileError, match="contains no screened exam"):
        Exam(tmp_path)


def test_results_that_a_killed_process_left_are_completed(tmp_path):
    folder = write_results(tmp_path / "out" / "exam", 3)
    ready = folder / ".results-ready"
    ready.mkdir()
    (folder / "exam.json").rename(ready / "exam.json")
    (folder / "frames.parquet").rename(ready / "frames.parquet")
    assert exam_folders(tmp_path / "out") == [folder]
    assert Exam(folder).columns().num_rows == 3
    assert not ready.exists()


CHANGED_TYPES = [("frame", pa.float64()), ("score", pa.string()), ("flagged", pa.int8())]


@pytest.mark.parametrize(("name", "kind"), CHANGED_TYPES)
def test_a_column_of_another_type_is_an_error(exam, name, kind):
    path = exam.folder / "frames.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index(name)
    pq.write_table(table.set_column(place, name, pa.nulls(len(table), kind)), path)
    with pytest.raises(FileError, match=f"{name} has the type .*--overwrite"):
        exam.columns(name)


@pytest.mark.parametrize("name", ["head", "frame", "flagged", "status"])
def test_an_empty_cell_of_a_key_is_an_error(exam, name):
    path = exam.folder / "frames.parquet"
    table = pq.read_table(path)
    field = table.schema.field(name)
    place = table.schema.get_field_index(name)
    pq.write_table(table.set_column(place, field, pa.nulls(len(table), field.type)), path)
    with pytest.raises(FileError, match=f"{name} must not be empty"):
        exam.columns("score", name)


def test_two_columns_of_one_name_are_an_error(exam):
    table = exam.columns()
    path = exam.folder / "frames.parquet"
    described = pq.read_schema(path).metadata
    doubled = table.append_column("score", table["score"]).replace_schema_metadata(described)
    pq.write_table(doubled, path)
    with pytest.raises(FileError, match=r"several columns score.*--overwrite"):
        exam.columns()


def test_an_impossible_rule_in_the_record_is_an_error(exam):
    path = exam.folder / "exam.json"
    content = json.loads(path.read_text())
    content["flagging"] |= {"rule": "share", "value": 1.5}
    path.write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"flagging\.value"):
        Exam(exam.folder)
