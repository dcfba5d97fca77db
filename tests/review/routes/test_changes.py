"""The stream of changes, without a server in between: it is driven until it says enough."""

import asyncio
from typing import Any

import pytest
from fastapi import Request

from capsieve.review.decisions.following import heard_after
from capsieve.review.decisions.refusals import UnreachableError
from capsieve.review.routes import changes
from capsieve.review.sessions import Reader
from room_client import RoomClient

NOTE = {"key": "note-0001", "kind": "note", "subject": "exam", "content": {"text": "x"}}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(changes, "_STEP", 0.001)


def asked(room, secret):
    header = (b"cookie", f"{room.door.cookie}={secret}".encode())
    return Request({"type": "http", "headers": [header]})


async def stream(room, reader, *, after=None, then=None):
    """Return all that is said until the session ends; `then` is called after the greeting."""
    secret = room.door.sessions.begin(reader)
    answer = await changes.get_changes(asked(room, secret), room, reader, after, None)
    said: list[Any] = []
    async for part in answer.body_iterator:
        said.append(part)
        if len(said) == 1 and then is not None:
            then()
        if "data" in said[-1] or then is None:
            room.door.sessions.end(secret)
    return said


def test_a_stream_ends_with_its_session(room):
    assert asyncio.run(stream(room, Reader("anna", "reader"))) == [": from now\n\n"]


def test_a_busy_database_ends_no_stream(room, client, monkeypatch):
    client.post("/api/exams/small/entries", json=NOTE)
    calls = []

    def busy_at_first(*args, **options):
        calls.append(args)
        if len(calls) == 1:
            raise UnreachableError("busy")
        return heard_after(*args, **options)

    monkeypatch.setattr(changes, "heard_after", busy_at_first)
    said = asyncio.run(stream(room, Reader("anna", "reader"), after=0, then=lambda: None))
    assert said[0] == ": from 0\n\n"
    assert '"number": 1' in said[1]


def test_a_blind_reader_hears_nothing_of_the_other(open_a_room):
    anna = RoomClient(open_a_room(reader="anna", way="blind"))
    room = open_a_room(reader="bert")
    bert = RoomClient(room)
    anna.post("/api/exams/small/entries", json=NOTE)
    bert.post("/api/exams/small/entries", json=NOTE | {"key": "note-0002"})
    said = asyncio.run(stream(room, Reader("bert", "reader"), after=0, then=lambda: None))
    assert said[1:] == ['id: 2\ndata: {"number": 2, "exam": "small"}\n\n']
