"""Any frame, in any order, is the one that reading from end to end gives."""

import gc
import os
import random
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from capsieve.errors import FileError
from capsieve.review.frames import Caches, ExamFrames
from capsieve.review.frames import opening as opening_module
from capsieve.review.frames.byte_cache import ByteCache
from capsieve.review.frames.open_group import OpenGroup
from capsieve.sources.source import Kind, Place
from support.stored_images import numbered, write_files, write_zip
from support.videos import KINDS, make_video


def shuffled(count: int, *, seed: int = 0) -> list[int]:
    order = list(range(count))
    random.Random(seed).shuffle(order)
    return order


def agree(exam, opened: ExamFrames, *, head: int = 0, order: list[int] | None = None) -> None:
    expected = exam.pixels(head)
    for number in shuffled(len(expected)) if order is None else order:
        if expected[number] is None:
            with pytest.raises(FileError, match="cannot be shown"):
                opened.frame(head, number)
        else:
            np.testing.assert_array_equal(opened.frame(head, number), expected[number])


def can_be_shown(opened: ExamFrames, number: int) -> bool:
    try:
        opened.frame(0, number)
    except FileError:
        return False
    return True


def spoil(path: Path, share: float, length: int) -> None:
    data = bytearray(path.read_bytes())
    start = int(len(data) * share)
    data[start : start + length] = np.random.default_rng(0).bytes(length)
    path.write_bytes(data)


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_any_order_gives_the_frames_of_a_sequential_reading(
    kind: str, prepared: bool, tmp_path: Path, make_exam
) -> None:
    path = make_video(tmp_path, kind, times=[0.04 * n for n in range(45)])
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    opened = ExamFrames(exam.folder)
    if prepared:
        opened.prepare()
    agree(exam, opened)


@pytest.mark.parametrize("kind", ["mp4-h264", "mkv-h264-open", "ts-h264", "avi-mjpeg"])
@pytest.mark.parametrize("step", [1, -1])
def test_runs_give_the_frames_of_a_sequential_reading(
    kind: str, step: int, tmp_path: Path, make_exam
) -> None:
    path = make_video(tmp_path, kind)
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    first = 0 if step == 1 else 59
    run = list(ExamFrames(exam.folder).range(0, first, 100, step))
    assert [number for number, _ in run] == list(range(60))[::step]
    for number, pixels in run:
        np.testing.assert_array_equal(pixels, exam.pixels()[number])


def test_two_heads_with_changing_frame_rates_keep_apart(tmp_path: Path, make_exam) -> None:
    times = np.cumsum([0.25 if n % 7 < 3 else 0.03 for n in range(40)]).tolist()
    path = str(make_video(tmp_path, "mp4-h264", times=times, streams=2))
    places = [Place("video", path, head, stream=head) for head in (0, 1)]
    exam = make_exam(tmp_path / "exam", places)
    opened = ExamFrames(exam.folder)
    assert opened.heads == {0: 40, 1: 40}
    agree(exam, opened, head=0)
    agree(exam, opened, head=1)
    with pytest.raises(FileError, match="no head 2"):
        opened.frame(2, 0)


def test_a_head_whose_source_is_gone_keeps_no_other_from_being_prepared(
    tmp_path: Path, make_exam
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    paths = [make_video(tmp_path / name, "mp4-h264") for name in ("first", "second")]
    places = [Place("video", str(path), head) for head, path in enumerate(paths)]
    exam = make_exam(tmp_path / "exam", places)
    paths[0].unlink()
    opened = ExamFrames(exam.folder)
    with pytest.raises(FileError, match=r"a\.mp4 is not there"):
        opened.prepare()
    assert (exam.folder / "review" / "head-1.index.parquet").is_file()
    agree(exam, opened, head=1)


@pytest.mark.parametrize("kind", ["mp4-h264", "mkv-h264-open", "avi-mpeg4-b", "ts-mpeg2"])
@pytest.mark.parametrize("share", [0.3, 0.55, 0.8])
@pytest.mark.parametrize("prepared", [False, True])
def test_damaged_videos_show_what_was_screened_and_nothing_else(
    kind: str, share: float, prepared: bool, tmp_path: Path, make_exam
) -> None:
    path = make_video(tmp_path, kind)
    spoil(path, share, 900)
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    opened = ExamFrames(exam.folder)
    if prepared:
        opened.prepare()
    agree(exam, opened)


def test_folders_of_images_are_read_by_name(tmp_path: Path, make_exam) -> None:
    files = numbered(12) | {"frame5.png": b"no image", "frame7.jpg": b"\xff\xd8 cut"}
    folder = write_files(tmp_path / "images", files)
    grey = np.arange(48, dtype=np.uint16).reshape(6, 8) * 1300
    Image.fromarray(grey).save(folder / "frame13.png")
    exam = make_exam(tmp_path / "exam", [Place("folder", str(folder))])
    opened = ExamFrames(exam.folder)
    assert [each is None for each in exam.pixels()].count(True) == 2
    agree(exam, opened)


def test_archives_are_read_by_place(tmp_path: Path, make_exam, monkeypatch) -> None:
    files = numbered(12) | {"frame5.png": b"no image"}
    path = write_zip(tmp_path / "images.zip", files)
    exam = make_exam(tmp_path / "exam", [Place("zip", str(path))])
    agree(exam, ExamFrames(exam.folder))
    # The second time the archive is not read through again.
    monkeypatch.setattr("capsieve.sources.image_archive.ImageArchive.survey", None)
    agree(exam, ExamFrames(exam.folder))


def test_an_index_is_made_once(tmp_path: Path, make_exam, monkeypatch) -> None:
    path = make_video(tmp_path, "ts-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    ExamFrames(exam.folder).prepare()
    monkeypatch.setattr(opening_module, "index_video", None)
    agree(exam, ExamFrames(exam.folder), order=[50, 3])


def test_a_torn_index_is_made_anew(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    ExamFrames(exam.folder).prepare()
    (index,) = (exam.folder / "review").glob("*.index.parquet")
    index.write_bytes(index.read_bytes()[:100])
    agree(exam, ExamFrames(exam.folder), order=[50, 3])


def test_a_changed_packet_is_refused_though_size_and_time_are_the_same(
    tmp_path: Path, make_exam
) -> None:
    path = make_video(tmp_path, "avi-mjpeg")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    ExamFrames(exam.folder).prepare()
    status = path.stat()
    spoil(path, 0.5, 200)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    opened = ExamFrames(exam.folder)
    agree(exam, opened, order=[0, 59])
    refused = [not can_be_shown(opened, number) for number in range(60)]
    assert 1 <= sum(refused) < 30
    with pytest.raises(FileError, match="not what was screened"):
        opened.frame(0, refused.index(True))


def test_another_video_in_its_place_is_refused(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    make_video(tmp_path, "mp4-h264", times=[0.05 * n for n in range(60)])
    with pytest.raises(FileError, match="not what was screened"):
        ExamFrames(exam.folder).frame(0, 0)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_changed_image_is_refused(kind: Kind, tmp_path: Path, make_exam) -> None:
    files = numbered(5)
    changed = files | {"frame3.png": files["frame4.png"]}
    if kind == "folder":
        path = write_files(tmp_path / "images", files)
    else:
        path = write_zip(tmp_path / "images.zip", files)
    exam = make_exam(tmp_path / "exam", [Place(kind, str(path))])
    if kind == "folder":
        write_files(path, changed)
    else:
        write_zip(path, changed)
    opened = ExamFrames(exam.folder)
    agree(exam, opened, order=[2])
    for read in (opened.frame, opened.encoded):
        with pytest.raises(FileError, match="not what was screened"):
            read(0, 3)


def test_a_source_that_is_gone_is_named(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    path.unlink()
    with pytest.raises(FileError, match=r"a\.mp4 is not there"):
        ExamFrames(exam.folder).frame(0, 0)


@pytest.mark.parametrize("number", [-1, 60])
def test_frames_that_are_not_there_are_refused(number: int, tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    with pytest.raises(FileError, match="numbered 0 to 59"):
        ExamFrames(exam.folder).frame(0, number)


@pytest.mark.parametrize("kind", ["mp4-h264", "avi-h264-b"])
def test_threads_read_at_once(kind: str, tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, kind)
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    opened = ExamFrames(exam.folder, caches=Caches(groups=ByteCache(400_000)))
    opened.prepare()

    def read(task: int) -> None:
        if task == 3:
            opened.release()  # as when too many exams are open
        agree(exam, opened, order=shuffled(60, seed=task))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(read, range(12)))


def test_memory_is_bounded_by_the_caches(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mkv-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    caches = Caches(groups=ByteCache(200_000), pictures=ByteCache(20_000))
    opened = ExamFrames(exam.folder, caches=caches)
    for number in [*range(60), *shuffled(60), *reversed(range(60))]:
        opened.encoded(0, number)
        assert caches.groups.bytes <= caches.groups.limit
        assert caches.pictures.bytes <= caches.pictures.limit
    assert len(caches.pictures) > 1
    opened.release()
    assert caches.groups.bytes == 0


class Watched(ByteCache):
    """A cache that tells which of the groups that it was given are still alive."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.given: weakref.WeakSet[OpenGroup] = weakref.WeakSet()

    def put(self, key, value, size: int) -> None:
        self.given.add(value)
        super().put(key, value, size)


def test_groups_that_are_let_go_are_gone_at_once(tmp_path: Path, make_exam) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    cache = Watched(1_000_000)
    opened = ExamFrames(exam.folder, caches=Caches(groups=cache))
    gc.collect()
    gc.disable()  # a group that only the collector finds would keep its pictures for long
    try:
        for number in range(3, 60, 10):
            opened.frame(0, number)
        assert len(cache.given) == len(cache) == 6
        opened.release()
        assert len(cache.given) == 0
    finally:
        gc.enable()


def test_each_group_is_decoded_once_forward_and_backward(
    tmp_path: Path, make_exam, monkeypatch
) -> None:
    path = make_video(tmp_path, "mp4-h264")
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    opened = ExamFrames(exam.folder)
    fed = 0
    from capsieve.review.frames.packet_file import PacketFile

    read = PacketFile.packet

    def counted(self, *place: int):
        nonlocal fed
        fed += 1
        return read(self, *place)

    monkeypatch.setattr(PacketFile, "packet", counted)
    for _ in opened.range(0, 0, 60):
        pass
    assert fed == 60
    opened.release()
    for _ in opened.range(0, 59, 60, -1):
        pass
    assert fed == 120
