"""A frame of a screened exam is exactly the one that was scored, or it is refused."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import capsieve
from capsieve import Parameters
from capsieve.errors import FileError
from capsieve.sources.source import Place, open_source
from capsieve.store.recall import recall
from capsieve.store.record import read_record
from support.polyp_frames import polyp_frame
from support.stored_images import write_files, write_zip
from support.videos import make_video, steady

BROKEN, ODD, TINY = 4, 5, 6


def png(pixels):
    with io.BytesIO() as file:
        Image.fromarray(pixels).save(file, "PNG")
        return file.getvalue()


def images():
    """Return a polyp in colour and in grey, a smooth frame, and what does not fit."""
    polyp = polyp_frame(size=96)
    frames = [
        png(polyp),
        png(polyp.mean(axis=2).astype(np.uint8)),
        png((polyp.mean(axis=2) * 257).astype(np.uint16)),
        png(np.full((96, 96, 3), 90, np.uint8)),
        b"no image",
        png(polyp_frame(size=128)),
        png(np.full((6, 6, 3), 90, np.uint8)),
    ]
    return {f"frame{number}.png": content for number, content in enumerate(frames)}


def write_source(folder, kind):
    folder.mkdir(parents=True, exist_ok=True)
    if kind == "folder":
        return write_files(folder / "exam", images())
    if kind == "zip":
        return write_zip(folder / "exam.zip", images())
    times = [*steady(15), *(1.0 + number / 4 for number in range(9))]
    streams = 2 if kind == "two heads" else 1
    name = "raw-h264" if kind == "no time stamps" else "mp4-h264"
    return make_video(folder, name, times=times, streams=streams)


KINDS = ["folder", "zip", "video", "two heads", "no time stamps"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Folders with a source and the exam screened from it; each is made once."""
    made: dict[str, Path] = {}

    def make(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp("study")
            source = write_source(folder / "sources", kind)
            parameters = Parameters(texture_high=9.0)
            (exam,) = capsieve.screen(source, folder / "out", parameters=parameters, workers=1)
            assert exam.error is None
            made[kind] = folder
        return made[kind]

    return make


@pytest.fixture
def mine(study, tmp_path):
    """A study to spoil."""

    def make(kind):
        folder = study(kind)
        shutil.copytree(folder, tmp_path / "study")
        (source,) = (tmp_path / "study" / "sources").iterdir()
        exam = exam_of(tmp_path / "study")
        content = json.loads((exam / "exam.json").read_text())
        for entry in content["sources"]:
            entry["path"] = str(source)
        (exam / "exam.json").write_text(json.dumps(content))
        return exam, source

    return make


def exam_of(folder):
    (exam,) = (path for path in (folder / "out").iterdir() if path.is_dir())
    return exam


def rows_of(exam):
    return pq.read_table(exam / "frames.parquet").to_pylist()


def decoded(record):
    """Return every frame of the exam's sources, by head and number."""
    found = {}
    for entry in record["sources"]:
        kind, head = entry["kind"], entry["head"]
        source = open_source(Place(kind, entry["path"], head, entry["stream"], entry["names"]))
        frames = [f for part in source.survey().segments for f in source.frames(part)]
        found |= {(head, number): frame.pixels for number, frame in enumerate(frames)}
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_pixels_are_those_that_were_scored(study, kind):
    exam = exam_of(study(kind))
    expected = decoded(read_record(exam))
    rows = [row for row in rows_of(exam) if row["status"] == "decoded"]
    assert len(rows) > 5
    for row in rows[:: 1 if len(rows) < 10 else 5]:
        found = recall(exam, row["frame"], head=row["head"])
        np.testing.assert_array_equal(found.pixels, expected[row["head"], row["frame"]])
        assert found.row == row


@pytest.mark.parametrize("kind", ["folder", "zip", "video"])
def test_scoring_them_again_gives_the_same_row(study, kind):
    exam = exam_of(study(kind))
    rows = [row for row in rows_of(exam) if row["label"] is not None]
    for row in rows[:6]:
        found = recall(exam, row["frame"])
        result = capsieve.analyze(found.pixels, found.parameters, found.field_of_view)
        assert found.parameters == Parameters(texture_high=9.0)
        for name in ("label", "reason", "score", "texture_max", "radius_max"):
            assert getattr(result, name) == row[name]


def test_two_heads_are_told_apart(study):
    exam = exam_of(study("two heads"))
    first, second = recall(exam, 3), recall(exam, 3, head=1)
    assert (first.row["head"], second.row["head"]) == (0, 1)
    assert not np.array_equal(first.pixels, second.pixels)


def test_frames_of_each_size_have_their_own_field_of_view(study):
    exam = exam_of(study("folder"))
    usual, odd = recall(exam, 0).field_of_view, recall(exam, ODD).field_of_view
    assert usual is not None
    assert odd is not None
    assert odd.radius / usual.radius == pytest.approx(128 / 96, rel=0.05)


def test_a_size_without_a_field_of_view_is_taken_whole(mine):
    exam, _ = mine("folder")
    content = json.loads((exam / "exam.json").read_text())
    content["views"] = [view for view in content["views"] if view["rows"] != 128]
    (exam / "exam.json").write_text(json.dumps(content))
    assert recall(exam, ODD).field_of_view is None
    assert recall(exam, 0).field_of_view is not None


def test_a_frame_that_could_not_be_decoded_says_why(study):
    exam = exam_of(study("folder"))
    with pytest.raises(FileError, match=rf"frame {BROKEN} could not be decoded: \w+"):
        recall(exam, BROKEN)


def test_a_frame_that_could_not_be_scored_is_still_shown(study):
    found = recall(exam_of(study("folder")), TINY)
    assert found.pixels.shape == (6, 6, 3)
    assert found.row["label"] is None


@pytest.mark.parametrize("frame", [7, 999_999])
def test_a_wrong_number_names_the_right_ones(study, frame):
    with pytest.raises(FileError, match=rf"has no frame {frame}; they are numbered 0 to 6"):
        recall(exam_of(study("folder")), frame)


def test_a_wrong_head_names_the_right_ones(study):
    with pytest.raises(FileError, match=r"has no head 1; it has 0$"):
        recall(exam_of(study("folder")), 0, head=1)
    with pytest.raises(FileError, match=r"has no head 2; it has 0 and 1$"):
        recall(exam_of(study("two heads")), 0, head=2)


def test_a_folder_without_an_exam_is_refused(tmp_path):
    with pytest.raises(FileError, match="holds no screened exam"):
        recall(tmp_path, 0)


@pytest.mark.parametrize("kind", ["folder", "video"])
def test_a_study_that_moved_as_a_whole_is_found(mine, tmp_path, kind):
    exam, _ = mine(kind)
    before = recall(exam, 1)
    (tmp_path / "study").rename(tmp_path / "elsewhere")
    after = recall(exam_of(tmp_path / "elsewhere"), 1)
    np.testing.assert_array_equal(after.pixels, before.pixels)
    assert after.source.startswith(str(tmp_path / "elsewhere"))


@pytest.mark.parametrize("kind", ["folder", "zip", "video"])
def test_a_source_that_is_gone_is_named(mine, tmp_path, kind):
    exam, source = mine(kind)
    source.rename(tmp_path / "away")
    with pytest.raises(FileError, match=rf"source {source} is not there; put it back"):
        recall(exam, 1)


def test_an_exam_from_standard_input_cannot_be_read_again(mine):
    exam, _ = mine("video")
    content = json.loads((exam / "exam.json").read_text())
    content["sources"][0] |= {"path": "-", "relative": ""}
    (exam / "exam.json").write_text(json.dumps(content))
    with pytest.raises(FileError, match="came through standard input and was not kept"):
        recall(exam, 1)


@pytest.mark.parametrize("content", [png(np.full((96, 96, 3), 7, np.uint8)), b"no image any more"])
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_changed_image_is_refused_and_the_others_are_not(mine, kind, content):
    exam, source = mine(kind)
    changed = images() | {"frame1.png": content}
    if kind == "folder":
        write_files(source, changed)
    else:
        write_zip(source, changed)
    with pytest.raises(FileError, match=r"frame 1 of .* has changed.*--fresh"):
        recall(exam, 1)
    assert recall(exam, 0).row["frame"] == 0


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_an_image_that_is_gone_is_refused(mine, kind):
    exam, source = mine(kind)
    left = {name: content for name, content in images().items() if name != "frame1.png"}
    if kind == "folder":
        (source / "frame1.png").unlink()
    else:
        write_zip(source, left)
    with pytest.raises(FileError, match=r"frame1\.png"):
        recall(exam, 1)


def test_another_video_of_the_same_times_is_refused(mine):
    exam, source = mine("video")
    times = [*steady(15), *(1.0 + number / 4 for number in range(9))]
    make_video(source.parent, "mp4-h264", times=times, rows=80)
    with pytest.raises(FileError, match=r"frame 3 of .* has changed"):
        recall(exam, 3)


def test_a_video_of_other_times_is_refused(mine):
    exam, source = mine("video")
    make_video(source.parent, "mp4-h264", times=steady(5, rate=7))
    with pytest.raises(FileError, match="--fresh"):
        recall(exam, 20)


def test_a_shorter_video_without_time_stamps_is_refused(mine):
    exam, source = mine("no time stamps")
    make_video(source.parent, "raw-h264", times=steady(10))
    with pytest.raises(FileError, match=r"frame 20 of .* has changed"):
        recall(exam, 20)


@pytest.mark.parametrize("content", [None, b"", b"no table at all"])
def test_a_table_that_is_gone_or_damaged_says_what_to_do(mine, content):
    exam, _ = mine("folder")
    (exam / "frames.parquet").unlink()
    if content is not None:
        (exam / "frames.parquet").write_bytes(content)
    with pytest.raises(FileError, match=r"cannot read .*frames\.parquet .*--fresh"):
        recall(exam, 0)
