"""An exam that comes through a pipe: it is kept on disk while it is screened."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from capsieve.errors import FileError
from capsieve.store.lock import locked

__all__ = ["STANDARD_INPUT", "is_spooled", "spooled"]

STANDARD_INPUT = "-"
_PREFIX = ".standard-input-"


@contextmanager
def spooled(out: Path) -> Iterator[Path]:
    """Yield a file below `out` with all that came; a video's index may stand at its end.

    Raises
    ------
    FileError
        Nothing came, nothing can come because it is a terminal, or there is no room for it.
    """
    if sys.stdin is None or sys.stdin.isatty():
        raise FileError("nothing comes through standard input; pipe a video in, or name a file")
    try:
        out.mkdir(parents=True, exist_ok=True)
        _clear_left_behind(out)
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=out))
    except OSError as error:
        raise FileError(f"cannot write to {out}: {error.strerror}") from error
    with _held(folder):
        path = folder / "standard-input"
        try:
            with path.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
        except OSError as error:
            raise FileError(f"cannot keep what came in {out}: {error.strerror or error}") from error
        if os.path.getsize(path) == 0:
            raise FileError("nothing came through standard input; is the command before it right?")
        yield path


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep a folder locked while it is in use, and remove it after."""
    with locked(folder):
        try:
            yield
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _clear_left_behind(out: Path) -> None:
    """Remove what killed runs left: whole exams, that nobody works on."""
    for folder in out.glob(f"{_PREFIX}*"):
        with suppress(FileError), _held(folder):
            pass


def is_spooled(path: str) -> bool:
    """Tell whether a path is that of a kept standard input, which goes away after the run."""
    return Path(path).parent.name.startswith(_PREFIX)
