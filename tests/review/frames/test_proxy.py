"""A proxy gives exactly what the video gives, and can be gone on with."""

import errno
import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import av
import numpy as np
import pytest

from capsieve.review.frames import ExamFrames
from capsieve.review.frames import proxy as proxy_module
from capsieve.review.frames.packet_file import PacketFile
from capsieve.review.frames.proxy_file import ProxyTable, append, load_table
from capsieve.review.frames.proxy_packing import packing_for
from capsieve.review.frames.room_left import SPARE, NoRoomError, bytes_to_come
from capsieve.sources.source import Place
from capsieve.sources.video.colour import RGB
from support.videos import VideoKind, make_video, picture

_FAR = "scenecut=0:keyint=250:min-keyint=250:bframes=3:b-adapt=0:threads=1"
FAR_APART = VideoKind("a.mkv", "libx264", {"preset": "veryfast", "x264-params": _FAR}, 3)
FRAMES = 90


def far_apart(folder: Path, *, rows: int = 64) -> Path:
    return make_video(folder, FAR_APART, times=[n / 25 for n in range(FRAMES)], rows=rows)


def agree(exam, opened: ExamFrames) -> None:
    for number in [*range(FRAMES - 1, -1, -7), *range(0, FRAMES, 5)]:
        np.testing.assert_array_equal(opened.frame(0, number), exam.pixels()[number])


def test_a_video_with_key_frames_far_apart_gets_one(tmp_path: Path, make_exam, monkeypatch) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    opened = ExamFrames(exam.folder)
    opened.frame(0, 0)
    assert not opened.is_prepared
    told: list[tuple[str, int, int]] = []
    opened.prepare(progress=lambda *state: told.append(state))
    assert opened.is_prepared
    assert told[-1] == ("making a proxy", FRAMES, FRAMES)
    reads: list[int] = []
    read = PacketFile.packet
    monkeypatch.setattr(
        PacketFile, "packet", lambda self, *place: reads.append(1) or read(self, *place)
    )
    agree(exam, opened)
    assert len(reads) == len([*range(FRAMES - 1, -1, -7), *range(0, FRAMES, 5)])


def test_an_opened_exam_finds_its_proxy_again(tmp_path: Path, make_exam, monkeypatch) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    ExamFrames(exam.folder).prepare()
    monkeypatch.setattr(proxy_module, "packing_for", None)
    opened = ExamFrames(exam.folder)
    opened.prepare()
    assert opened.is_prepared
    agree(exam, opened)


@pytest.mark.parametrize("torn", [0, 100])
def test_one_that_was_interrupted_is_gone_on_with(
    torn: int, tmp_path: Path, make_exam, monkeypatch
) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])

    def stop(what: str, done: int, of: int) -> None:
        if what == "making a proxy" and done >= 50:
            raise KeyboardInterrupt

    opened = ExamFrames(exam.folder)
    with pytest.raises(KeyboardInterrupt):
        opened.prepare(progress=stop)
    (part,) = (exam.folder / "review").glob("*.part")
    held = part.stat().st_size
    with part.open("r+b") as file:
        file.truncate(held - torn)
    added: list[int] = []
    monkeypatch.setattr(
        proxy_module, "append", lambda f, t, n, c: added.append(n) or append(f, t, n, c)
    )
    opened.prepare()
    assert 0 < len(added) < FRAMES - 40
    assert added[-1] == FRAMES - 1
    agree(exam, opened)


def test_a_proxy_of_another_source_is_not_used(tmp_path: Path, make_exam) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    ExamFrames(exam.folder).prepare()
    far_apart(tmp_path, rows=80)
    again = make_exam(tmp_path / "other", [Place("video", str(tmp_path / "a.mkv"))])
    for made in (exam.folder / "review").iterdir():
        (again.folder / "review").mkdir(exist_ok=True)
        (again.folder / "review" / made.name).write_bytes(made.read_bytes())
    opened = ExamFrames(again.folder)
    opened.frame(0, 0)
    assert not opened.is_prepared
    opened.prepare()
    agree(again, opened)


def test_a_torn_proxy_gives_way_to_the_source(tmp_path: Path, make_exam) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    ExamFrames(exam.folder).prepare()
    (proxy,) = (exam.folder / "review").glob("*.proxy")
    proxy.write_bytes(proxy.read_bytes()[: proxy.stat().st_size // 2])
    agree(exam, ExamFrames(exam.folder))


def nothing_of_a_proxy(folder: Path) -> bool:
    return [path.name for path in (folder / "review").iterdir()] == ["head-0.index.parquet"]


def test_none_is_begun_where_the_disk_has_no_room(tmp_path: Path, make_exam, monkeypatch) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    opened = ExamFrames(exam.folder)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=SPARE + 1000))
    with pytest.raises(NoRoomError, match=r"0\.5 GB are; the exam can be read"):
        opened.prepare()
    assert nothing_of_a_proxy(exam.folder)
    agree(exam, opened)
    monkeypatch.undo()
    opened.prepare()
    assert opened.is_prepared


@pytest.mark.parametrize("where", ["append", "save_table"])
def test_nothing_stays_of_one_that_filled_the_disk(
    where: str, tmp_path: Path, make_exam, monkeypatch
) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    opened = ExamFrames(exam.folder)
    write = getattr(proxy_module, where)

    def full(*given, **options) -> None:
        if where == "save_table" or given[2] > 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(*given, **options)

    monkeypatch.setattr(proxy_module, where, full)
    with pytest.raises(NoRoomError, match="became full while the lossless copy of exam"):
        opened.prepare()
    assert nothing_of_a_proxy(exam.folder)
    agree(exam, opened)


def test_how_much_one_will_grow_is_told_from_what_it_holds(tmp_path: Path, make_exam) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])
    ExamFrames(exam.folder).prepare()
    (path,) = (exam.folder / "review").glob("*.proxy")
    with path.open("rb") as file:
        identity = json.loads(file.readline())["identity"]
    whole = load_table(path.with_suffix(".parquet"), identity=identity)
    assert whole is not None
    assert bytes_to_come(whole, FRAMES - 1) == 0
    begun = ProxyTable.empty(whole.packing, FRAMES)
    begun.size[:30] = whole.size[:30]
    assert bytes_to_come(begun, 29) == pytest.approx(whole.size[30:].sum(), rel=0.2)


def test_an_exam_is_read_where_not_even_its_index_can_be_written(
    tmp_path: Path, make_exam, monkeypatch
) -> None:
    exam = make_exam(tmp_path / "exam", [Place("video", str(far_apart(tmp_path)))])

    def full(path, target):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    opened = ExamFrames(exam.folder)
    agree(exam, opened)
    assert list((exam.folder / "review").iterdir()) == []


def test_damaged_frames_stay_what_they_were(tmp_path: Path, make_exam) -> None:
    # Matroska would leave damaged packets out: MP4 gives them to the decoder.
    kind = replace(FAR_APART, name="a.mp4")
    path = make_video(tmp_path, kind, times=[n / 25 for n in range(FRAMES)])
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 500] = np.random.default_rng(1).bytes(500)
    path.write_bytes(data)
    exam = make_exam(tmp_path / "exam", [Place("video", str(path))])
    opened = ExamFrames(exam.folder)
    opened.prepare()
    expected = exam.pixels()
    assert any(frame.problem for frame in exam.frames[0])
    for number, pixels in opened.range(0, 0, len(expected)):
        np.testing.assert_array_equal(pixels, expected[number])


@pytest.mark.parametrize(
    "name", ["yuv420p", "yuvj420p", "yuvj422p", "yuv444p", "gray", "yuv420p10le", "yuv411p"]
)
@pytest.mark.parametrize("tags", [(1, 1), (5, 2), (2, 0)], ids=["709", "full", "untagged"])
@pytest.mark.parametrize("rows", [64, 63])
def test_every_kind_of_pixels_comes_back(name: str, tags: tuple[int, int], rows: int) -> None:
    frames = [
        av.VideoFrame.from_ndarray(picture(number, rows=rows), "rgb24").reformat(format=name)
        for number in (3, 9)
    ]
    for frame in frames:
        frame.colorspace, frame.color_range = tags
    found = packing_for(frames[0])
    assert found is not None
    packing, encoder = found
    rgb = RGB()
    (back,) = packing.decoder().decode(packing.encode(encoder, frames[1], rgb))
    np.testing.assert_array_equal(packing.pixels(back, rgb), rgb(frames[1]))


def test_planes_are_kept_where_the_code_has_them() -> None:
    frame = av.VideoFrame.from_ndarray(picture(1), "rgb24").reformat(format="yuv420p")
    found = packing_for(frame)
    assert found is not None
    assert found[0].stored == "yuv420p"
