"""Work in an exam's folder: the lock, finished segments, and the replacement of results.

A process can be killed at any moment. A segment is then complete or absent, and the folder has
either its earlier results or the new ones, never a mixture under one record.
"""

import io
import json
import os
import shutil
import socket
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from capsieve.atomic_write import atomic_write, check_replaceable, sync
from capsieve.errors import FileError, OccupiedError, file_errors
from capsieve.store.choice import STORED_HASHES
from capsieve.store.record import RECORD
from capsieve.store.schema import SCHEMA, SEGMENT, TABLES

LOCK = ".lock"

REPORT = "report.html"

_WORK = ".unfinished"
_PLAN = "plan.json"
_CHECKSUM = 32  # bytes of SHA-256 before a segment's Parquet file: Parquet checks only parts
_STAGED = ".results-staged"  # results that are being written
_READY = ".results-ready"  # complete results that are being moved into the folder
_ADVICE = "start again with --overwrite"


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Keep other runs out of a folder while the block runs; create it if necessary.

    The system releases the lock when the process ends, also if it is killed. An interrupted
    :func:`replace_results` is completed before the block starts.

    Raises
    ------
    OccupiedError
        Another run is working in the folder.
    FileError
        The folder cannot be written.
    """
    path = folder / LOCK
    # A soft lock would outlive a killed process. The timeout is for a holder that just ends.
    lock = FileLock(path, timeout=0.2, fallback_to_soft=False)
    with file_errors("lock", folder, "check its permissions, or choose another folder"):
        try:
            lock.acquire()
        except Timeout:
            raise OccupiedError(
                f"another run is working in {folder} ({_holder(path)}); wait until it ends, or "
                "choose another folder"
            ) from None
    try:
        with suppress(OSError):  # on a full disk the lock is held without its holder's name
            path.write_text(f"process {os.getpid()} on {socket.gethostname()}")
        _complete_replacement(folder)
        yield
    finally:
        path.unlink(missing_ok=True)
        lock.release()


def _holder(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8") or "another process"
    return "another process"


class Segments:
    """The segments of an exam that have been scored so far.

    Parameters
    ----------
    folder
        The exam's folder.
    schema, work
        Columns of a segment, and the name of the folder inside that holds them; other work than
        screening has its own.
    """

    def __init__(self, folder: Path, schema: pa.Schema = SEGMENT, work: str = _WORK) -> None:
        self.folder = folder / work
        self._schema = schema

    def plan(self) -> dict[str, Any] | None:
        """Return what :meth:`begin` was called with; None if there is no unfinished work.

        Raises
        ------
        FileError
            The plan is damaged, or of another schema version.
        """
        path = self.folder / _PLAN
        with file_errors("read", path, _ADVICE):
            if not path.exists():
                return None
            text = path.read_text(encoding="utf-8")
        try:
            content = json.loads(text)
            version, plan = content["schema"], dict(content["plan"])
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{path} is damaged ({error}); {_ADVICE}") from error
        if version != SCHEMA:
            raise FileError(
                f"{path} has schema version {version!r}, this version of capsieve reads {SCHEMA}; "
                f"{_ADVICE}"
            )
        return plan

    def begin(self, plan: dict[str, Any]) -> None:
        """Create the folder and store the plan, unless that was done before."""
        if (self.folder / _PLAN).exists():
            return
        self.remove()  # segments without a plan belong to no known settings
        with file_errors("create", self.folder):
            self.folder.mkdir()
        with atomic_write(self.folder / _PLAN, durable=True) as temporary:
            text = json.dumps({"schema": SCHEMA, "plan": plan}, indent=2, allow_nan=False)
            temporary.write_text(text + "\n", encoding="utf-8")

    def add(self, head: int, number: int, content: bytes) -> None:
        """Store a segment, a Parquet file with the columns of the schema."""
        with atomic_write(self._path(head, number)) as temporary:
            temporary.write_bytes(sha256(content).digest() + content)

    def add_errors(self, head: int, number: int, text: str) -> None:
        """Store the error output of the workers that died while they worked on a segment."""
        with atomic_write(self._path(head, number).with_suffix(".errors.txt")) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def has(self, head: int, number: int) -> bool:
        """Return whether a segment is stored and undamaged."""
        try:
            return pq.read_schema(self._content(head, number)).equals(self._schema)
        except (OSError, ValueError):
            return False

    def rows(self, head: int, number: int) -> pa.Table:
        """Return the frames of a segment."""
        try:
            # One thread: more do not read small files faster, and each keeps its own memory.
            return pq.read_table(self._content(head, number), use_threads=False)
        except (OSError, ValueError) as error:
            path = self._path(head, number)
            raise FileError(f"cannot read {path}: {error}; {_ADVICE}") from error

    def remove(self) -> None:
        """Remove the plan and all segments."""
        removed = self.folder.with_name(f"{self.folder.name}-removed")
        with file_errors("remove", self.folder):
            shutil.rmtree(removed, ignore_errors=True)
            if self.folder.exists():
                self.folder.replace(removed)  # in one step: a part must not pass for the whole
                shutil.rmtree(removed)

    def _content(self, head: int, number: int) -> io.BytesIO:
        stored = self._path(head, number).read_bytes()
        content = stored[_CHECKSUM:]
        if sha256(content).digest() != stored[:_CHECKSUM]:
            raise ValueError("the file is damaged")
        return io.BytesIO(content)

    def _path(self, head: int, number: int) -> Path:
        return self.folder / f"head-{head}-segment-{number:06d}.checked"


@contextmanager
def replace_results(folder: Path) -> Generator[Path]:
    """Yield an empty folder for tables, report and record; then move these files to `folder`.

    The folder must be locked. Until all files are written and the block ends, the earlier results
    stay unchanged. From then on the new results count: if the process is killed while they are
    moved, the next :func:`locked` moves the rest. The earlier record is removed before the first
    file is moved, and the new one is moved last.

    Raises
    ------
    FileError
        The files cannot be written.
    """
    staged, ready = folder / _STAGED, folder / _READY
    with _writing(folder):
        shutil.rmtree(staged, ignore_errors=True)
        staged.mkdir()
    try:
        yield staged  # its writers raise FileError themselves
        with _writing(folder):
            for path in [*staged.iterdir(), staged]:
                sync(path)
            staged.replace(ready)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    _complete_replacement(folder)


def _writing(folder: Path) -> AbstractContextManager[None]:
    return file_errors("write the results to", folder, "the same command continues from here")


def _complete_replacement(folder: Path) -> None:
    """Move complete results into the folder; do nothing if there are none."""
    ready = folder / _READY
    with _writing(folder):
        if not ready.is_dir():
            return
        if (ready / RECORD).exists():
            (folder / RECORD).unlink(missing_ok=True)  # it does not describe the new tables
            for path in ready.iterdir():
                if path.name != RECORD:
                    path.replace(folder / path.name)
            sync(folder)
            (ready / RECORD).replace(folder / RECORD)
        ready.rmdir()
        sync(folder)


def recover_results(folder: Path) -> None:
    """Complete an interrupted :func:`replace_results`, unless a run is working in the folder."""
    if (folder / _READY).is_dir():
        with suppress(FileError), locked(folder):
            pass


def check_results_replaceable(folder: Path) -> None:
    """Raise FileError if results in a folder would replace a file of somebody else."""
    record = folder / RECORD
    check_replaceable(record, folder / REPORT, folder / STORED_HASHES)
    check_replaceable(*(folder / f"{table}.parquet" for table in TABLES), record=record)


def remove_results(folder: Path) -> None:
    """Remove the results and the unfinished work; the record first, because it describes them."""
    with file_errors("remove the results in", folder):
        for name in (RECORD, REPORT, STORED_HASHES, *(f"{table}.parquet" for table in TABLES)):
            (folder / name).unlink(missing_ok=True)
    Segments(folder).remove()


def unfinished(folder: Path) -> bool:
    """Return whether screening was started in a folder and has written no record yet."""
    started = (folder / _WORK).is_dir() or (folder / _READY).is_dir()
    return started and not (folder / RECORD).is_file()
