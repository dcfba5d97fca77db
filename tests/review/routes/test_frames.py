"""Frames, thumbnails and the timeline over HTTP."""

import io
import json
import shutil
import struct

import numpy as np
import pytest
from PIL import Image

from support.results import frame_hash
from support.small_exam import EVENTS_OF_SMALL, FRAMES, small_frame, write_small_exam

FRAME = "/api/exams/small/frames/0"


def unpacked(content: bytes) -> list[tuple[int, int, bytes]]:
    """Return number, kind and content of the frames of a response."""
    parts, at = [], 0
    while at < len(content):
        number, length, kind = struct.unpack_from("<IIB", content, at)
        parts.append((number, kind, content[at + 12 : at + 12 + length]))
        at += 12 + length
    return parts


def test_a_frame_has_the_pixels_that_were_scored(client):
    answer = client.get(f"{FRAME}/3")
    assert answer.headers["content-type"] == "image/png"
    pixels = np.asarray(Image.open(io.BytesIO(answer.content)))
    assert np.array_equal(pixels, small_frame(3))
    assert answer.headers["x-sha1"] == frame_hash(pixels)
    assert answer.headers["x-frame"] == "0/3"


def test_a_frame_with_a_known_etag_is_not_sent_again(client):
    etag = client.get(f"{FRAME}/3").headers["etag"]
    again = client.get(f"{FRAME}/3", headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(f"{FRAME}/4", headers={"if-none-match": etag}).status_code == 200


@pytest.mark.parametrize("address", [f"{FRAME}/{FRAMES}", "/api/exams/small/frames/1/0"])
def test_a_missing_frame_or_head_is_not_found(client, address):
    answer = client.get(address)
    assert answer.status_code == 404
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("first=2&count=3", [2, 3, 4]),
        ("first=2&count=4&step=-1", [2, 1, 0]),
        ("first=22&count=64", [22, 23]),
        ("numbers=7,5,7,99", [7, 5, 7]),
    ],
)
def test_several_frames_are_sent_in_one_response(client, query, numbers):
    parts = unpacked(client.get(f"{FRAME}?{query}").content)
    assert [number for number, _, _ in parts] == numbers
    for number, kind, content in parts:
        assert kind == 2
        assert content == client.get(f"{FRAME}/{number}").content


@pytest.mark.parametrize(
    "query",
    [
        "",
        "count=3",
        "first=0&count=65",
        "first=0&step=0",
        "first=-1",
        "numbers=1,,2",
        "numbers=-1",
        f"numbers={','.join('1' * 65)}",
    ],
)
def test_an_invalid_list_of_frames_is_rejected(client, query):
    answer = client.get(f"{FRAME}?{query}")
    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_thumbnails_are_small(client):
    ((number, kind, content),) = unpacked(
        client.get("/api/exams/small/thumbnails/0?numbers=5").content
    )
    assert (number, kind) == (5, 1)
    assert max(Image.open(io.BytesIO(content)).size) <= 160


def test_the_timeline_has_every_frame(client):
    content = client.get("/api/exams/small/timeline?head=0").content
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])
    assert header["frames"] == FRAMES
    at = (4 + length + 7) // 8 * 8
    columns = {}
    for column in header["columns"]:
        values = np.frombuffer(content, column["type"], column["length"], at)
        columns[column["name"]] = values
        at += (values.nbytes + 7) // 8 * 8
    flagged = {n for first, last in EVENTS_OF_SMALL for n in range(first, last + 1)}
    assert set(np.flatnonzero(columns["label"] == 1)) == flagged
    assert at == len(content)


def test_a_missing_source_does_not_hide_the_exam(tmp_path, open_app):
    write_small_exam(tmp_path / "out", tmp_path / "source")
    shutil.rmtree(tmp_path / "source")
    client = open_app(tmp_path / "out").client()
    answer = client.get(f"{FRAME}/0")
    assert answer.status_code == 404
    assert answer.json()["detail"]
    assert client.get("/api/exams/small").status_code == 200
