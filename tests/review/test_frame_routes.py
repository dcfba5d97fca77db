"""Frames over HTTP are the scored ones, also if sources change and readers are closed."""

import asyncio
import io
import json
import shutil
import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from capsieve.review.catalogue import Catalogue
from capsieve.review.frame_service import FrameService
from capsieve.sources.base import Place
from capsieve.sources.reader import FrameReader
from support.results import frame_hash, write_results
from support.screened_source import write_screened_source
from support.small_exam import EVENTS_OF_SMALL, FRAMES, small_frame, write_small_exam
from support.stored_images import image_bytes, numbered, write_files, write_zip
from support.videos import make_video

FRAME = "/api/exams/small/frames/0"
JPEG, PNG = 1, 2


def unpacked(content: bytes) -> list[tuple[int, int, bytes]]:
    """Return number, kind and content of the images of a response."""
    parts, at = [], 0
    while at < len(content):
        number, length, kind = struct.unpack_from("<IIB", content, at)
        parts.append((number, kind, content[at + 12 : at + 12 + length]))
        at += 12 + length
    return parts


def shown(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content))).astype(int)


def nearest(content: bytes, frames: list) -> int:
    """Return which of the frames an image shows; a JPEG differs a little from its frame."""
    image = shown(content)
    away = [np.abs(image - frame.astype(int)).mean() for frame in frames]
    assert min(away) < 4
    return int(np.argmin(away))


@pytest.fixture
def video(tmp_path):
    """An exam of a video with key frames 10 apart."""
    path = make_video(tmp_path, "mp4-h264")
    return write_screened_source(tmp_path / "out" / "exam", [Place("video", str(path))])


# One image


def test_an_image_has_the_pixels_that_were_scored(client):
    answer = client.get(f"{FRAME}/3")
    assert answer.headers["content-type"] == "image/png"
    pixels = np.asarray(Image.open(io.BytesIO(answer.content)))
    assert np.array_equal(pixels, small_frame(3))
    assert answer.headers["x-pixel-hash"] == frame_hash(pixels)
    assert answer.headers["x-frame"] == "0/3"


def test_the_width_limits_the_columns_of_an_image(client):
    assert shown(client.get(f"{FRAME}/3?width=50").content).shape == (50, 50, 3)
    assert shown(client.get(f"{FRAME}/3?width=4096").content).shape == (96, 96, 3)


@pytest.mark.parametrize(
    "address", [f"{FRAME}/{FRAMES}", f"{FRAME}/{2**30}", "/api/exams/small/frames/1/0"]
)
def test_a_missing_frame_or_head_is_not_found(client, address):
    answer = client.get(address)
    assert answer.status_code == 404
    assert answer.json()["detail"]


def test_files_that_a_browser_would_change_are_encoded(tmp_path, open_app):
    plain = io.BytesIO(image_bytes(100, rows=40, cols=40))
    gamma = PngImagePlugin.PngInfo()
    gamma.add(b"gAMA", struct.pack(">I", 100_000))
    changed = io.BytesIO()
    Image.open(plain).save(changed, "PNG", pnginfo=gamma)
    files = {"a.png": plain.getvalue(), "b.png": changed.getvalue()}
    folder = write_files(tmp_path / "images", files)
    write_screened_source(tmp_path / "out" / "exam", [Place("folder", str(folder))])
    client = open_app(tmp_path / "out").client()
    stored, encoded = unpacked(client.get("/api/exams/exam/frames/0?numbers=0,1").content)
    assert stored == (0, PNG, plain.getvalue())
    assert encoded[1] == JPEG
    assert np.abs(shown(encoded[2]) - 100).max() <= 2


# Several images


def test_several_frames_are_sent_in_the_order_of_the_request(client):
    parts = unpacked(client.get(f"{FRAME}?numbers=7,5,7,99,6").content)
    assert [number for number, _, _ in parts] == [7, 5, 7, 6]
    for number, kind, content in parts:
        assert kind == PNG
        assert content == client.get(f"{FRAME}/{number}").content


@pytest.mark.parametrize(
    "query",
    [
        "",
        "numbers=",
        "numbers=1,,2",
        "numbers=-1",
        f"numbers={','.join('1' * 65)}",
        "numbers=1&width=-1",
        "numbers=1&width=100000",
        "numbers=1&snap=all",
    ],
)
def test_an_invalid_request_for_frames_is_rejected(client, query):
    answer = client.get(f"{FRAME}?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"]


@pytest.mark.parametrize("kind", ["mp4-h264", "ts-h264", "mpeg-mpeg2", "avi-mjpeg"])
def test_a_video_gives_each_frame_under_its_number(kind, tmp_path, open_app):
    path = make_video(tmp_path, kind)
    exam = write_screened_source(tmp_path / "out" / "exam", [Place("video", str(path))])
    client = open_app(tmp_path / "out").client()
    order = [59, 0, 31, 30, 29, 44, 1]
    query = f"numbers={','.join(map(str, order))}"
    parts = unpacked(client.get(f"/api/exams/exam/frames/0?{query}").content)
    assert [number for number, _, _ in parts] == order
    assert [nearest(content, exam.pixels()) for _, _, content in parts] == order


def test_two_heads_are_kept_apart(tmp_path, open_app):
    path = str(make_video(tmp_path, "mp4-h264", streams=2))
    places = [Place("video", path, head, stream=head) for head in (0, 1)]
    exam = write_screened_source(tmp_path / "out" / "exam", places)
    client = open_app(tmp_path / "out").client()
    for head in (0, 1):
        ((_, _, content),) = unpacked(
            client.get(f"/api/exams/exam/frames/{head}?numbers=20").content
        )
        others = [exam.pixels(0)[20], exam.pixels(1)[20]]
        assert nearest(content, others) == head


def test_snapping_gives_the_key_frame_before_each_frame_under_its_own_number(video, open_app):
    client = open_app(video.folder.parent).client()
    address = "/api/exams/exam/frames/0"
    parts = unpacked(client.get(f"{address}?numbers=0,17,33,39&snap=key").content)
    assert [number for number, _, _ in parts] == [0, 10, 30]
    for number, _, content in parts:
        assert content == client.get(f"{address}/{number}").content
        assert nearest(content, video.pixels()) == number


def test_images_are_their_own_key_frames(client):
    parts = unpacked(client.get(f"{FRAME}?numbers=4,9&snap=key").content)
    assert [number for number, _, _ in parts] == [4, 9]


def test_a_frame_without_a_picture_has_its_reason_in_a_pack_and_is_not_found(tmp_path, open_app):
    folder = write_files(tmp_path / "images", numbered(4) | {"frame2.png": b"no image"})
    write_screened_source(tmp_path / "out" / "exam", [Place("folder", str(folder))])
    client = open_app(tmp_path / "out").client()
    address = "/api/exams/exam/frames/0"
    parts = unpacked(client.get(f"{address}?numbers=1,2,3").content)
    assert [(number, kind) for number, kind, _ in parts] == [(1, PNG), (2, 0), (3, PNG)]
    answer = client.get(f"{address}/2")
    assert answer.status_code == 404
    assert f"{parts[1][2].decode()}.".lower() == answer.json()["detail"].lower()


# Sources that are missing or changed


def test_a_missing_source_does_not_hide_the_exam(tmp_path, open_app):
    write_small_exam(tmp_path / "out", tmp_path / "source")
    shutil.rmtree(tmp_path / "source")
    client = open_app(tmp_path / "out").client()
    answer = client.get(f"{FRAME}/0")
    assert answer.status_code == 404
    assert answer.json()["detail"]
    assert client.get("/api/exams/small").status_code == 200


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_changed_image_is_not_shown(kind, tmp_path, open_app):
    files = numbered(5)
    path, write = (
        (tmp_path / "images", write_files)
        if kind == "folder"
        else (tmp_path / "images.zip", write_zip)
    )
    write(path, files)
    write_screened_source(tmp_path / "out" / "exam", [Place(kind, str(path))])
    write(path, files | {"frame3.png": files["frame4.png"]})
    client = open_app(tmp_path / "out").client()
    address = "/api/exams/exam/frames/0"
    parts = unpacked(client.get(f"{address}?numbers=2,3").content)
    assert [(number, kind) for number, kind, _ in parts] == [(2, PNG), (3, 0)]
    assert "overwrite" in client.get(f"{address}/3").json()["detail"]


def test_another_video_in_the_place_of_the_source_is_not_shown(video, tmp_path, open_app):
    make_video(tmp_path, "mp4-h264", times=[0.05 * n for n in range(30, 90)], rows=80)
    client = open_app(video.folder.parent).client()
    parts = unpacked(client.get("/api/exams/exam/frames/0?numbers=0,15").content)
    assert [(number, kind) for number, kind, _ in parts] == [(0, 0), (15, 0)]


def test_an_exam_that_is_screened_again_is_not_shown_from_the_cache(tmp_path, open_app):
    folder = write_files(tmp_path / "images", numbered(3))
    write_screened_source(tmp_path / "out" / "exam", [Place("folder", str(folder))])
    client = open_app(tmp_path / "out").client()
    before = client.get("/api/exams/exam/frames/0/1").content
    shutil.rmtree(tmp_path / "out" / "exam")
    write_files(folder, {"frame1.png": image_bytes(200)})
    write_screened_source(tmp_path / "out" / "exam", [Place("folder", str(folder))])
    after = client.get("/api/exams/exam/frames/0/1").content
    assert before != after
    assert after == image_bytes(200)


# Threads, readers and memory


def test_threads_get_the_right_frames_while_readers_are_evicted(tmp_path):
    exams = {}
    for number, kind in enumerate(("mp4-h264", "mkv-h264-open", "ts-mpeg2")):
        (tmp_path / kind).mkdir()
        path = make_video(tmp_path / kind, kind)
        folder = tmp_path / "out" / f"exam{number}"
        exams[folder.name] = write_screened_source(folder, [Place("video", str(path))])
    facts = {each.exam: each for each in Catalogue(tmp_path / "out").exams()}
    service = FrameService(readers=1, cache_bytes=1000)

    def read(task: int) -> None:
        for frame in np.random.default_rng(task).permutation(60)[:20].tolist():
            name = f"exam{(task + frame) % 3}"
            pixels = service.pixels(facts[name], 0, frame)
            np.testing.assert_array_equal(pixels, exams[name].pixels()[frame])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(read, range(12)))
    service.close()


def test_few_readers_are_open_and_all_are_closed_in_the_end(tmp_path, monkeypatch):
    opened: set[int] = set()
    init, close = FrameReader.__init__, FrameReader.close
    most = 0

    def opening(self, *given, **options):
        nonlocal most
        init(self, *given, **options)
        opened.add(id(self))
        most = max(most, len(opened))

    def closing(self):
        opened.discard(id(self))
        close(self)

    monkeypatch.setattr(FrameReader, "__init__", opening)
    monkeypatch.setattr(FrameReader, "close", closing)
    for number in range(5):
        write_small_exam(tmp_path / "out", tmp_path / f"source{number}", exam=f"exam{number}")
    exams = Catalogue(tmp_path / "out").exams()
    service = FrameService(readers=2)
    for _ in range(2):
        for facts in exams:
            service.image(facts, 0, 3)
    assert len(opened) == 2
    assert most <= 3  # the oldest is closed when the next one is open
    service.close()
    assert opened == set()


def test_images_in_the_cache_are_not_decoded_again(video, monkeypatch):
    (facts,) = Catalogue(video.folder.parent).exams()
    service = FrameService()
    first = service.image(facts, 0, 5)
    monkeypatch.setattr(FrameReader, "pixels", None)
    assert service.image(facts, 0, 5) == first
    service.close()


def test_decoding_does_not_block_other_requests(app, monkeypatch):
    client, released = app.client(), threading.Event()
    decode = FrameService.image

    def slow(self, *given):
        assert released.wait(60)
        return decode(self, *given)

    monkeypatch.setattr(FrameService, "image", slow)

    async def ask() -> list[int]:
        waiting = [
            asyncio.create_task(client.asynchronous.get(f"{FRAME}?numbers=1")) for _ in range(50)
        ]
        await asyncio.sleep(0)
        others = [await client.asynchronous.get("/api/exams") for _ in range(3)]
        assert not any(task.done() for task in waiting)
        released.set()
        answers = others + list(await asyncio.gather(*waiting))
        return [answer.status_code for answer in answers]

    assert set(asyncio.run(ask())) == {200}


# Thumbnails and timeline


def test_thumbnails_of_flagged_frames_come_from_the_results(tmp_path, open_app):
    folder = write_files(tmp_path / "images", numbered(4))
    stored = {(0, 1): image_bytes(7, "JPEG"), (0, 3): image_bytes(9, "JPEG")}
    write_screened_source(
        tmp_path / "out" / "exam", [Place("folder", str(folder))], thumbnails=stored
    )
    shutil.rmtree(folder)
    client = open_app(tmp_path / "out").client()
    parts = unpacked(client.get("/api/exams/exam/thumbnails/0?numbers=3,1,2").content)
    assert parts[:2] == [(3, JPEG, stored[0, 3]), (1, JPEG, stored[0, 1])]
    assert parts[2][:2] == (2, 0)


def test_thumbnails_that_are_not_stored_are_decoded_and_small(video, open_app):
    client = open_app(video.folder.parent).client()
    ((number, kind, content),) = unpacked(
        client.get("/api/exams/exam/thumbnails/0?numbers=5").content
    )
    assert (number, kind) == (5, JPEG)
    assert max(shown(content).shape) <= 160


def timeline(client, exam: str = "small") -> tuple[dict, dict, int]:
    """Return header and columns of the timeline, and whether bytes are left."""
    content = client.get(f"/api/exams/{exam}/timeline?head=0").content
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])
    at = (4 + length + 7) // 8 * 8
    columns = {}
    for column in header["columns"]:
        values = np.frombuffer(content, column["type"], column["length"], at)
        columns[column["name"]] = values
        at += (values.nbytes + 7) // 8 * 8
    return header, columns, len(content) - at


def test_the_timeline_has_every_frame(client):
    header, columns, left = timeline(client)
    assert (header["frames"], left) == (FRAMES, 0)
    flagged = {n for first, last in EVENTS_OF_SMALL for n in range(first, last + 1)}
    assert set(np.flatnonzero(columns["flagged"] == 1)) == flagged


def test_times_are_from_the_first_frame_of_the_exam(tmp_path, open_app):
    write_results(tmp_path / "out" / "late", 3, time_s=[100.5, 101.0, 102.0])
    _, columns, _ = timeline(open_app(tmp_path / "out").client(), "late")
    assert columns["time_s"].tolist() == [0.0, 0.5, 1.5]
