"""A room over a small screened exam, and somebody in it."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from capsieve.review.room import ReadingRoom, local_door, open_room
from capsieve.review.way import Role, Way
from room_client import PORT, RoomClient
from support.small_exam import write_small_exam

Opener = Callable[..., ReadingRoom]


class Clock:
    """Stands still until somebody sets it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT with one exam of 24 images."""
    folder = tmp_path_factory.mktemp("room")
    write_small_exam(folder / "out", folder / "source")
    return folder / "out"


@pytest.fixture
def open_a_room(results: Path, tmp_path: Path) -> Iterator[Opener]:
    """Open rooms over the exam, with decisions of their own."""
    opened: list[ReadingRoom] = []

    def opener(
        *,
        out: Path = results,
        reader: str = "anna",
        role: Role | None = None,
        way: Way | None = None,
    ) -> ReadingRoom:
        room = open_room(
            out,
            partial(local_door, port=PORT, reader=reader, role=role),
            reader=reader,
            way=way,
            database=str(tmp_path / "decisions.sqlite"),
        )
        opened.append(room)
        return room

    yield opener
    for room in opened:
        room.close()


@pytest.fixture
def room(open_a_room: Opener) -> ReadingRoom:
    return open_a_room()


@pytest.fixture
def visitor(room: ReadingRoom) -> RoomClient:
    """Somebody who has not been let in."""
    return RoomClient(room, enter=False)


@pytest.fixture
def client(room: ReadingRoom) -> RoomClient:
    """Somebody who has opened the link."""
    return RoomClient(room)
