"""Few exams are open at once, and what they show is what the last screening scored."""

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from capsieve.errors import FileError
from capsieve.review.frames import ExamFrames, OpenExams
from capsieve.sources.source import Place
from sample_videos import make_video
from stored_images import image_bytes, numbered, write_files


def test_the_exams_used_last_stay_open(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exams = [make_exam(tmp_path / name, [Place("video", str(path))]) for name in "abc"]
    room = OpenExams(most=2)
    first = room.exam(exams[0].folder)
    first.frame(0, 5)
    second = room.exam(exams[1].folder)
    second.frame(0, 5)
    assert room.exam(exams[0].folder) is first
    room.exam(exams[2].folder)
    assert len(room) == 2
    assert first.is_prepared
    assert not second.is_prepared
    np.testing.assert_array_equal(second.frame(0, 30), exams[1].pixels()[30])
    room.close()
    assert not first.is_prepared


def test_an_exam_that_was_screened_again_is_opened_again(tmp_path: Path, make_exam) -> None:
    images = write_files(tmp_path / "images", numbered(4))
    exam = make_exam(tmp_path / "exam", [Place("folder", str(images))])
    room = OpenExams()
    before = room.exam(exam.folder).encoded(0, 2)
    write_files(images, {"frame2.png": image_bytes(200)})
    again = make_exam(tmp_path / "again", [Place("folder", str(images))])
    for name in ("frames.parquet", "exam.json"):
        (exam.folder / name).write_bytes((again.folder / name).read_bytes())
    after = room.exam(exam.folder).encoded(0, 2)
    assert before == ("png", image_bytes(2))
    assert after == ("png", image_bytes(200))


def test_a_folder_without_an_exam_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no screened exam"):
        OpenExams().exam(tmp_path)


def test_a_pack_holds_a_place_for_what_cannot_be_shown(tmp_path: Path, make_exam) -> None:
    files = numbered(4) | {"frame1.png": b"no image"}
    exam = make_exam(
        tmp_path / "exam", [Place("folder", str(write_files(tmp_path / "images", files)))]
    )
    content = ExamFrames(exam.folder).pack(0, [0, 1, 2])
    first = image_bytes(0)
    assert content[12 : 12 + len(first)] == first
    assert content[12 + len(first) :][:12] == b"\1\0\0\0" + bytes(8)


def test_frames_of_videos_are_sent_as_jpeg(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    opened = ExamFrames(exam.folder)
    for (kind, content), size in ((opened.encoded(0, 9), 96), (opened.thumbnail(0, 9), 96)):
        assert kind == "jpeg"
        with Image.open(io.BytesIO(content)) as image:
            assert image.width == size
    numbers = opened.numbers(0, 57, 64)
    assert numbers == [57, 58, 59]
    assert opened.numbers(0, 1, 64, -1) == [1, 0]
    assert len(opened.thumbnails(0, numbers)) > 3 * 100
