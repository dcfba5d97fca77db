"""The settings of a reading room: how people work in it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from capsieve.review.decisions.clock import utc_now
from capsieve.review.decisions.database import Database
from capsieve.review.decisions.entries import canonical
from capsieve.review.decisions.fields import check_name
from capsieve.review.decisions.refusals import ConflictError, EntryError, UnreachableError
from capsieve.review.decisions.schema import ENTRIES, ROOM, stored_room
from capsieve.review.decisions.sql import sa
from capsieve.review.decisions.stored import parse_object
from capsieve.review.way import WAYS, Way

__all__ = ["Room", "change_room", "read_room", "read_room_id", "room_in"]


@dataclass(frozen=True, slots=True)
class Room:
    """The settings of a room.

    Attributes
    ----------
    way
        "single", "validated" or "blind".
    """

    way: Way = "single"


def read_room(database: Database) -> Room:
    """Return the settings; those of a new room where nobody has chosen.

    Raises
    ------
    UnreachableError
        They cannot be read.
    """
    with database.read() as connection:
        return room_in(connection)


def read_room_id(database: Database) -> str:
    """Return the room's own name: random, made with the database, the same for all its servers.

    Raises
    ------
    UnreachableError
        It cannot be read.
    """
    with database.read() as connection:
        found = stored_room(connection)
    if not found:
        raise UnreachableError("the database has lost the name of its room; open the room again")
    return found


def room_in(connection: sa.Connection) -> Room:
    """Return the settings, within a transaction.

    Raises
    ------
    UnreachableError
        They cannot be read: who may see what is then not known, so nobody sees anything.
    """
    query = sa.select(ROOM.c.settings).order_by(ROOM.c.number.desc()).limit(1)
    stored = connection.scalar(query)
    if stored is None:
        return Room()
    try:
        way = parse_object(stored).get("way")
    except EntryError:
        way = None
    if way not in WAYS:
        raise UnreachableError(
            "how people work in this room cannot be read from its decisions; update capsieve, or "
            "bring the database back from a copy"
        )
    return Room(way=cast(Way, way))


def change_room(
    database: Database, room: Room, *, reader: str, now: Callable[[], str] = utc_now
) -> None:
    """Write down new settings.

    Raises
    ------
    EntryError
        There is no such way of working.
    ConflictError
        Somebody has begun to read: who may see what would change behind their back.
    """
    if room.way not in WAYS:
        raise EntryError(f"there is no way of working {room.way!r}; give one of {', '.join(WAYS)}")
    check_name(reader, "reader")
    with database.write() as connection:
        if room_in(connection) == room:
            return
        if connection.scalar(sa.select(ENTRIES.c.number).limit(1)) is not None:
            raise ConflictError(
                f"the room works as {room_in(connection).way!r}, and reading has begun; "
                "keep that, or make a new room"
            )
        last = connection.scalar(sa.select(sa.func.max(ROOM.c.number))) or 0
        connection.execute(
            ROOM.insert().values(
                number=last + 1,
                time=now(),
                reader=reader,
                settings=canonical({"way": room.way}),
            )
        )
