"""What the parts of the app share, and what routes are given."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Response
from fastapi import Path as PathParameter
from pydantic import TypeAdapter
from xxhash import xxh3_128_hexdigest

from capsieve.decisions.database import (
    Database,
    change_workflow,
    open_database,
    read_room_id,
    read_workflow,
)
from capsieve.decisions.model import UnreachableError
from capsieve.decisions.roles import DATABASE, ROLES, Workflow
from capsieve.errors import FileError, ParameterError
from capsieve.review.catalogue import Catalogue, ExamFacts
from capsieve.review.errors import NotFoundError
from capsieve.review.evidence import EvidenceService
from capsieve.review.frame_service import FrameService
from capsieve.review.security import Access
from capsieve.review.sessions import Attempts, Reader
from capsieve.review.summaries import Summaries
from capsieve.store.exam import exam_folders, unfinished_exams
from capsieve.store.record import RECORD

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class State:
    """What the parts of an open app share.

    Attributes
    ----------
    id
        Random, and the same for all servers on one database.
    workflow
        Of the exams.
    access, attempts
        Who may use the app, and the attempts to log in.
    catalogue, frames, evidence
        The exams, their frames, and why frames were flagged.
    database, summaries
        What readers decided, and how far the readings are.
    ending
        Set when the server ends.
    lookups
        Threads that look exams up: a slow disk must not use up those of the decisions.
    exports, logins
        Threads that make reports and tables, and those that hash passwords, with 64 MB each.
    """

    id: str
    workflow: Workflow
    access: Access
    attempts: Attempts
    catalogue: Catalogue
    frames: FrameService
    evidence: EvidenceService
    database: Database
    summaries: Summaries
    ending: threading.Event = field(default_factory=threading.Event)
    lookups: Executor = field(default_factory=lambda: ThreadPoolExecutor(4, "exams"))
    exports: Executor = field(default_factory=lambda: ThreadPoolExecutor(2, "exports"))
    logins: Executor = field(default_factory=lambda: ThreadPoolExecutor(2, "logins"))

    def close(self) -> None:
        """Close files and connections; work that nobody waits for is not waited for."""
        self.ending.set()
        for threads in (self.lookups, self.exports, self.logins):
            threads.shutdown(wait=False, cancel_futures=True)
        self.evidence.close()
        self.frames.close()
        self.database.close()


def open_state(
    out: str | os.PathLike[str],
    make_access: Callable[[Workflow], Access],
    *,
    workflow: Workflow | None = None,
    database: str | None = None,
) -> State:
    """Open a folder of results.

    Parameters
    ----------
    out
        The folder of ``capsieve screen -o``; or that of one exam in it, which is then the only one
        that is shown.
    make_access
        Returns who may use the app, from the workflow.
    workflow
        By default the stored one.
    database
        Its address; by default the file in OUT.

    Raises
    ------
    FileError
        There is no exam, or the database cannot be opened.
    ConflictError
        Another workflow was chosen, and reading has begun.
    ParameterError
        The workflow has no role of these users.
    """
    folder, only = _results(Path(out))
    kept = open_database(folder / DATABASE if database is None else database)
    try:
        if workflow is not None:
            change_workflow(kept, workflow)
        chosen = read_workflow(kept)
        access = make_access(chosen)
        _check_roles(access, chosen)
        frames = FrameService()
        return State(
            id=read_room_id(kept),
            workflow=chosen,
            access=access,
            attempts=Attempts(),
            catalogue=Catalogue(folder, only=only),
            frames=frames,
            evidence=EvidenceService(frames),
            database=kept,
            summaries=Summaries(kept, workflow=chosen),
        )
    except BaseException:
        kept.close()
        raise


def _check_roles(access: Access, workflow: Workflow) -> None:
    roles = ROLES[workflow]
    if access.reader is not None and access.reader.role not in roles:
        raise ParameterError(
            "role",
            f"the workflow is {workflow}, with the roles {' and '.join(roles)}; choose one with "
            "--role",
        )
    users = None if access.users is None else access.users.readers.values()
    if users is not None and all(reader.role not in roles for reader in users):
        raise ParameterError(
            "users",
            f"the workflow is {workflow}, and none of the users is a {' or '.join(roles)}; add one "
            "with capsieve users add NAME --role ROLE",
        )


def _results(out: Path) -> tuple[Path, str | None]:
    """Return the folder of results, and the one exam that is meant, if it is one."""
    out = out.resolve()
    if not out.is_dir():
        what = "is not a folder" if out.exists() else "does not exist"
        raise FileError(f"{out} {what}; give the folder that capsieve screen -o wrote")
    if (out / RECORD).is_file():
        return out.parent, out.name
    if not unfinished_exams(out):
        exam_folders(out)  # raises FileError if there is none
    return out, None


async def run_in(threads: Executor, function: Callable[..., Result], *arguments: Any) -> Result:
    """Call a function in threads of its own kind; the others stay free."""
    return await asyncio.get_running_loop().run_in_executor(threads, function, *arguments)


# What routes are given

Responses = dict[int | str, dict[str, Any]]
"""Answers of a route beside its message, for the description of the interface."""

UNCHANGED: Responses = {304: {"description": "The page has this message."}}

FrameNumber = Annotated[int, PathParameter(ge=0, lt=2**31, description="From 0.")]
HeadNumber = Annotated[int, PathParameter(ge=0, lt=2**15, description="Which camera.")]


async def _state(request: Request) -> State:
    return request.app.state.capsieve


async def _reader(request: Request) -> Reader:
    return request.state.reader


Here = Annotated[State, Depends(_state)]
Who = Annotated[Reader, Depends(_reader)]


async def _wanted(request: Request, state: Here) -> Callable[[], bool]:
    loop = asyncio.get_running_loop()

    def wanted() -> bool:
        if state.ending.is_set():
            return False
        return not asyncio.run_coroutine_threadsafe(request.is_disconnected(), loop).result()

    return wanted


Wanted = Annotated[Callable[[], bool], Depends(_wanted)]
"""For a working thread: returns whether the request is still open."""


async def _exam(exam: str, state: Here) -> ExamFacts:
    facts = await run_in(state.lookups, state.catalogue.find, exam)
    if facts is None:
        raise NotFoundError(f"there is no exam {exam!r}")
    if not facts.readable:
        raise UnreachableError(f"the exam {exam} cannot be read: {facts.problems[0]}")
    return facts


Chosen = Annotated[ExamFacts, Depends(_exam)]
"""The exam that the address names."""


def known_head(facts: ExamFacts, head: int) -> int:
    """Return a head of the exam; raise NotFoundError if it has no such head."""
    if head not in facts.frames_by_head:
        heads = " and ".join(map(str, facts.frames_by_head))
        raise NotFoundError(f"the exam {facts.exam} has no head {head}; it has {heads}")
    return head


def unless_known(request: Request, messages: TypeAdapter[Any], value: Any) -> Response:
    """Return a message with an ETag; status 304 without it if the page has this message.

    The ETag is a hash of the message, so it says nothing that the message does not say.
    """
    content = messages.dump_json(value)
    headers = {"etag": f'"{xxh3_128_hexdigest(content)}"'}
    if headers["etag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type="application/json", headers=headers)
