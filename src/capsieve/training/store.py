"""Arrays that a training keeps in files, so an interrupted one can continue.

The name of a folder of arrays depends on everything that determines them. A file is complete or
absent, and its checksum shows damage: a damaged array is computed again.
"""

import io
import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from xxhash import xxh3_128

from capsieve.atomic_write import atomic_write, remove_leftovers
from capsieve.errors import file_errors

_CHECKSUM = 16  # bytes of XXH3 behind an array
_BLOCK = 1 << 22


class Store:
    """Arrays in a folder.

    Parameters
    ----------
    parent, name
        Where the folder is, and how its name begins.
    content, arrays
        Everything that determines the arrays: values that JSON can represent, and arrays.

    Attributes
    ----------
    folder : pathlib.Path
        It is created with the first array.
    key : str
        Hash of `content` and `arrays`.
    """

    def __init__(self, parent: Path, name: str, content: Any, *arrays: NDArray[Any]) -> None:
        digest = sha256(json.dumps(content, sort_keys=True).encode())
        for array in arrays:
            digest.update(np.ascontiguousarray(array).tobytes())
        self.key = digest.hexdigest()
        self.folder = parent / f"{name}-{self.key[:16]}"

    def read(
        self, name: str, dtype: DTypeLike, shape: tuple[int, ...] | None = None
    ) -> NDArray[Any] | None:
        """Return an array that is read when it is used; None if it is absent or damaged.

        Parameters
        ----------
        name
            Of the array in the folder.
        dtype, shape
            An array with another type or shape counts as damaged.
        """
        path = self._path(name)
        try:
            digest, size = xxh3_128(), path.stat().st_size - _CHECKSUM
            with path.open("rb") as file:
                while size > 0:
                    block = file.read(min(size, _BLOCK))
                    digest.update(block)
                    size -= len(block) or size
                if file.read() != digest.digest():
                    return None
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        fits = array.dtype == np.dtype(dtype) and shape in (None, array.shape)
        return array if fits else None

    def write(self, name: str, array: ArrayLike, *, durable: bool = False) -> None:
        """Store an array, complete or not at all.

        Raises
        ------
        FileError
            The folder cannot be written.
        """
        if not self.folder.is_dir():
            with file_errors("create", self.folder):
                self.folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.folder)
        content = io.BytesIO()
        np.save(content, np.asarray(array), allow_pickle=False)
        with (
            atomic_write(self._path(name), durable=durable) as temporary,
            temporary.open("wb") as file,
        ):
            file.write(content.getbuffer())
            file.write(xxh3_128(content.getbuffer()).digest())

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"


class Joined(Sequence[NDArray[Any]]):
    """The rows of several arrays one after another; they are read when they are used."""

    def __init__(self, parts: Sequence[NDArray[Any]]) -> None:
        self._parts = parts
        self._first = np.cumsum([0, *map(len, parts)])

    def __len__(self) -> int:
        return int(self._first[-1])

    def __getitem__(self, row: Any) -> Any:
        part = int(np.searchsorted(self._first, row, side="right")) - 1
        return np.array(self._parts[part][row - self._first[part]])
