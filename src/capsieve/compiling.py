"""Compile kernels with numba and cache the compiled code.

Compilation takes about twenty seconds, once per machine. numba's cache notices a change in the file
of a function, but not in the files of the functions that it calls. The name of the cache folder
therefore contains a digest of all kernels, of this file, of numba's version and of the processor.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from llvmlite import binding
from numba.core import config, event
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

_HERE = Path(__file__).parent


def compiled(function: Function) -> Function:
    """Compile a kernel when it is first called, cache it, and release the GIL while it runs.

    Without fastmath: with it, code that was just compiled and code from the cache may add in
    another order, and results differ in the seventh digit.
    """
    folder = _folder()
    decorate = numba.njit(cache=folder is not None, nogil=True, error_model="numpy")
    # numba reads the folder from its configuration while it decorates, and at no other time.
    settings: Any = config
    usual, settings.CACHE_DIR = settings.CACHE_DIR, str(folder or "")
    try:
        return cast(Function, decorate(function))
    finally:
        settings.CACHE_DIR = usual


def is_compiled(work: str) -> bool:
    """Return whether all kernels for a kind of work are in the cache, see `mark_compiled`."""
    folder = _folder()
    return folder is not None and (folder / f"{work}.compiled").exists()


def mark_compiled(work: str) -> None:
    """Record that all kernels for a kind of work, such as "analysis", are in the cache."""
    folder = _folder()
    if folder is not None:
        with suppress(OSError):  # without the marker, the kernels are only loaded once more
            (folder / f"{work}.compiled").touch()


def on_first_compilation(call: Callable[[], None]) -> None:
    """Call a function once, just before this process compiles a kernel that is not cached.

    A later call of this function replaces an earlier one.
    """
    if _first_compilation.call is None:
        event.register("numba:compile", _first_compilation)
    _first_compilation.call = call


class _FirstCompilation(event.Listener):
    call: Callable[[], None] | None = None

    def on_start(self, event: event.Event) -> None:
        call, self.call = self.call, None
        if call is not None:
            call()

    def on_end(self, event: event.Event) -> None:
        pass


_first_compilation = _FirstCompilation()


@cache
def _folder() -> Path | None:
    """Return the cache folder of these kernels, or None if no folder can be written."""
    digest = sha256(f"{numba.__version__} {binding.get_host_cpu_name()}".encode())
    for path in [Path(__file__), *sorted(_HERE.glob("**/kernels/*.py"))]:
        digest.update(path.read_bytes())
    for parent in _parents():
        folder = parent / f"kernels-{digest.hexdigest()[:16]}"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    return None


def _parents() -> Iterator[Path]:
    """Yield folders for the cache, best first; never a shared one, because it is executed."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    yield _HERE / "__pycache__"
    with suppress(RuntimeError):  # a user without a home folder
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "capsieve"


def machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let kernels call code that is written instruction by instruction (a numba intrinsic)."""
    return cast(Callable[..., Any], intrinsic(function))
