"""How the loops are compiled, and where the compiled code is kept.

Compiling takes some twenty seconds, once. numba's own cache looks only at the file of the function
that it loads: a change in another file that is called from there, as an upgrade may bring, would go
unnoticed. So the folder's name carries a digest of all kernels
and of this file.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config
from numba.extending import intrinsic

__all__ = ["compiled", "is_compiled", "machine_code"]

Function = TypeVar("Function", bound=Callable[..., Any])

_HERE = Path(__file__).parent


def _homes() -> Iterator[Path]:
    """Yield where compiled code may live, best first. No shared folder: it is executed."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    yield _HERE / "__pycache__"
    try:
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "capsieve"
    except RuntimeError:  # a user without a home
        return


@cache
def _folder() -> Path | None:
    """Return the folder of this state of the kernels; None where nothing can be written."""
    digest = sha256()
    for path in [Path(__file__), *sorted(_HERE.glob("**/kernels/*.py"))]:
        digest.update(path.read_bytes())
    for home in _homes():
        folder = home / f"kernels-{digest.hexdigest()[:16]}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    return None


def is_compiled() -> bool:
    """Return whether compiled code was found: the first frame then takes no longer than others."""
    folder = _folder()
    return folder is not None and any(folder.rglob("*.nbi"))


def compiled(function: Function) -> Function:
    """Compile a loop once per machine, release the GIL, and let sums be reordered into vectors.

    The order of a sum is fixed when the code is compiled, so that results repeat bit for bit.
    NaN-safe comparisons are given up ("nnan"): frames are checked for NaN before they come here.
    """
    folder = _folder()
    decorate = numba.njit(
        cache=folder is not None,
        nogil=True,
        error_model="numpy",
        fastmath={"reassoc", "contract", "nsz", "nnan"},
    )
    # numba asks its configuration for the folder while it decorates, and at no other time.
    settings: Any = config
    usual, settings.CACHE_DIR = settings.CACHE_DIR, str(folder or "")
    try:
        return cast(Function, decorate(function))
    finally:
        settings.CACHE_DIR = usual


def machine_code(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a compiled loop use code that is written out instruction by instruction.

    The function gets the types of its arguments, and returns a signature and a writer.
    """
    return cast(Callable[..., Any], intrinsic(function))
