"""Work that is not yet finished: segments, each complete or absent, below the exam's folder."""

import io
import json
import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError
from capsieve.store.schema import SEGMENT

__all__ = ["WORK", "Unfinished"]

WORK = ".unfinished"
_PLAN = "plan.json"
_CHECKSUM = 32  # bytes of SHA-256 before a segment's Parquet file: Parquet itself checks only parts


class Unfinished:
    """The segments of an exam that have been screened so far.

    Parameters
    ----------
    folder
        The exam's folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder / WORK

    def plan(self) -> dict[str, Any] | None:
        """Return what the work was begun with; None where there is no such work."""
        try:
            content = json.loads((self.folder / _PLAN).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise FileError(
                f"cannot read {self.folder / _PLAN} ({error}); start over with --fresh"
            ) from error
        return content if isinstance(content, dict) else {}

    def begin(self, plan: dict[str, Any]) -> None:
        """Make the folder, and note what the work is begun with."""
        if not (self.folder / _PLAN).exists():
            self.remove()  # nobody knows what segments without a plan belong to
            try:
                self.folder.mkdir()
            except OSError as error:
                raise FileError(f"cannot make {self.folder}: {error.strerror}") from error
            with atomic_write(self.folder / _PLAN, durable=True) as temporary:
                temporary.write_text(json.dumps(plan, indent=2) + "\n", encoding="utf-8")

    def add(self, head: int, number: int, content: bytes) -> None:
        """Keep a screened segment."""
        with atomic_write(self._path(head, number)) as temporary:
            temporary.write_bytes(sha256(content).digest() + content)

    def has(self, head: int, number: int) -> bool:
        """Tell whether a segment is there and whole."""
        try:
            return self._read(head, number, None).schema.equals(SEGMENT)
        except (OSError, ValueError):
            return False

    def rows(self, head: int, number: int, columns: list[str] | None = None) -> pa.Table:
        """Return a segment's rows."""
        path = self._path(head, number)
        try:
            return self._read(head, number, columns)
        except (OSError, ValueError) as error:
            raise FileError(f"cannot read {path} ({error}); start over with --fresh") from error

    def counts(self, head: int, number: int) -> tuple[int, int]:
        """Return how many frames a segment has, and how many of them are flagged."""
        labels = self.rows(head, number, ["label"])["label"].to_pylist()
        return len(labels), labels.count("polyp")

    def remove(self) -> None:
        """Remove all of it; first out of sight at a stroke: no part may pass for the whole."""
        gone = self.folder.with_name(f"{WORK}-gone")
        try:
            shutil.rmtree(gone, ignore_errors=True)
            if self.folder.exists():
                self.folder.replace(gone)
                shutil.rmtree(gone)
        except OSError as error:
            raise FileError(f"cannot remove {self.folder}: {error.strerror}") from error

    def _read(self, head: int, number: int, columns: list[str] | None) -> pa.Table:
        stored = self._path(head, number).read_bytes()
        checksum, content = stored[:_CHECKSUM], stored[_CHECKSUM:]
        if sha256(content).digest() != checksum:
            raise ValueError("it is damaged")
        # One thread: small files are read no faster by several, and each keeps memory of its own.
        with pq.ParquetFile(io.BytesIO(content)) as file:
            return file.read(columns, use_threads=False)

    def _path(self, head: int, number: int) -> Path:
        return self.folder / f"head-{head}-segment-{number:06d}.checked"
