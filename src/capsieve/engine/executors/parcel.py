"""A call that is made where it is unpickled.

Dask's scheduler unpickles the tasks that pass through it. A parcel is plain bytes there, so that
capsieve needs to be installed on the workers alone, and a worker without it fails with an ordinary
exception.
"""

import pickle
from collections.abc import Callable
from typing import Any

__all__ = ["parcel"]


class _Call:
    """Pickles as the call of a function, and so unpickles as what the function returns."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._call = (function, arguments)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._call


def parcel(function: Callable[..., Any], *arguments: object) -> bytes:
    """Return bytes for which ``pickle.loads`` calls a function of a module."""
    return pickle.dumps(_Call(function, arguments))
