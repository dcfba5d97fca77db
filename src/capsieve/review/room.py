"""The room: all that its parts share, and how it is opened."""

import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from capsieve.decisions.database import (
    Database,
    change_workflow,
    open_database,
    read_room_id,
    read_workflow,
)
from capsieve.decisions.roles import DATABASE, ROLES, Role, Workflow, default_role
from capsieve.errors import FileError, ParameterError
from capsieve.review.access import Door
from capsieve.review.catalogue import Catalogue
from capsieve.review.evidence_desk import EvidenceDesk
from capsieve.review.frame_service import FrameService
from capsieve.review.sessions import Reader, Sessions
from capsieve.review.settings import LOOPBACK
from capsieve.review.static_pages import StaticFiles, shipped_pages
from capsieve.review.summaries import Summaries
from capsieve.review.users import Users
from capsieve.review.waiting import Waiting
from capsieve.review.warming import Warming
from capsieve.store.exam import exam_folders, unfinished_exams
from capsieve.store.record import RECORD

__all__ = ["ReadingRoom", "local_door", "open_room", "users_door"]

_HOUR = 3600.0


@dataclass(frozen=True, slots=True, eq=False)
class ReadingRoom:
    """A room that is open.

    Attributes
    ----------
    id
        Random, and the same for all servers on one database.
    workflow
        Single, validated or blind.
    door
        How it is entered.
    catalogue, frames, evidence
        The exams, their frames, and why those were flagged.
    warming
        Makes detectors ready for evidence, once it is told to.
    database, summaries
        What readers decided, and how far they are.
    pages
        The built page.
    ending
        Set when the server ends: answers that go on end then.
    """

    id: str
    workflow: Workflow
    door: Door
    catalogue: Catalogue
    frames: FrameService
    evidence: EvidenceDesk
    warming: Warming
    database: Database
    summaries: Summaries
    pages: StaticFiles
    ending: threading.Event = field(default_factory=threading.Event)

    def close(self) -> None:
        """Close files and connections."""
        self.warming.close()
        self.frames.close()
        self.database.close()


def open_room(
    out: str | os.PathLike[str],
    make_door: Callable[[Workflow], Door],
    *,
    workflow: Workflow | None = None,
    database: str | None = None,
    pages: StaticFiles | None = None,
) -> ReadingRoom:
    """Open the room of a folder of results.

    Parameters
    ----------
    out
        What was given to ``capsieve screen -o``, or the folder of one exam in it, which is then
        the only one that is shown; what is said of it is kept with the others.
    make_door
        Returns how it is entered, by how people work in it.
    workflow
        None keeps what was chosen before.
    database
        An address, where decisions are not to be kept in OUT.
    pages
        The built page; that of the package by default.

    Raises
    ------
    FileError
        There is no exam, or the database cannot be opened.
    ConflictError
        Another workflow was chosen, and reading has begun.
    """
    folder, only = _results(Path(out))
    kept = open_database(folder / DATABASE if database is None else database)
    try:
        if workflow is not None:
            change_workflow(kept, workflow)
        name = read_room_id(kept)
        chosen = read_workflow(kept)
        door = make_door(chosen)
        _check_fit(door, chosen)
    except BaseException:
        kept.close()
        raise
    frames, warming = FrameService(), Warming()
    return ReadingRoom(
        id=name,
        workflow=chosen,
        door=door,
        catalogue=Catalogue(folder, only=only),
        frames=frames,
        evidence=EvidenceDesk(frames, warming),
        warming=warming,
        database=kept,
        summaries=Summaries(kept, workflow=chosen),
        pages=pages or shipped_pages(),
    )


def local_door(
    workflow: Workflow,
    *,
    port: int,
    reader: str,
    role: Role | None = None,
    token: str | None = None,
) -> Door:
    """Return the door of a room on one's own machine: by the link that carries its token.

    Parameters
    ----------
    workflow
        Of the exams.
    port
        Where it listens.
    reader, role
        Who opens it, and as what.
    token
        What the link carries; a new one by default.
    """
    return Door(
        cookie=f"capsieve-{port}",
        hosts=LOOPBACK,
        # The link's holder may leave the page open overnight; the session ends with the server.
        sessions=Sessions(longest=30 * 24 * _HOUR, idle=30 * 24 * _HOUR),
        token=token or secrets.token_urlsafe(32),
        reader=Reader(reader, role or default_role(workflow)),
    )


def users_door(users: Users, *, port: int, host: str, names: Iterable[str]) -> Door:
    """Return the door of a room for several: by name and password.

    Parameters
    ----------
    users
        Who may enter.
    port, host
        Where the room listens.
    names
        Names of the machine, under which readers reach it.
    """
    own = {host, socket.gethostname(), *names} - {"0.0.0.0", "::"}
    return Door(
        cookie=f"capsieve-{port}",
        hosts=LOOPBACK | {name.lower() for name in own},
        sessions=Sessions(longest=12 * _HOUR, idle=1 * _HOUR, known=users.knows),
        users=users,
        waiting=Waiting(),
    )


def _check_fit(door: Door, workflow: Workflow) -> None:
    """Refuse a room in which nobody could work."""
    roles = ROLES[workflow]
    if door.reader is not None and door.reader.role not in roles:
        raise ParameterError(
            "role",
            f"the workflow is {workflow}, with the roles {' and '.join(roles)}; choose one with "
            "--role",
        )
    if door.users is not None and all(
        reader.role not in roles for reader in door.users.readers.values()
    ):
        raise ParameterError(
            "users",
            f"the workflow is {workflow}, and none of the users is a {' or '.join(roles)}; add one "
            "with capsieve users add NAME --role ROLE",
        )


def _results(out: Path) -> tuple[Path, str | None]:
    """Return the folder of results, and the one exam that is meant, where it is one."""
    out = out.resolve()
    if not out.exists():
        raise FileError(f"there is no folder {out}; give the one that capsieve screen -o wrote")
    if not out.is_dir():
        raise FileError(f"{out} is no folder; give the one that capsieve screen -o wrote")
    if (out / RECORD).is_file():
        return out.parent, out.name
    if not unfinished_exams(out):
        exam_folders(out)  # says in one sentence that there is none
    return out, None
