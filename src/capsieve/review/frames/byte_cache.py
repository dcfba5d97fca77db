"""Values kept while there is room: the least recently used goes first."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["ByteCache"]

Value = TypeVar("Value")


class ByteCache(Generic[Value]):
    """A cache that is bounded by the bytes of what it holds. Threads may share it.

    Parameters
    ----------
    limit
        Bytes that are held at most; one value larger than that is not kept.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    @property
    def bytes(self) -> int:
        """How many bytes are held now."""
        return self._bytes

    @property
    def limit(self) -> int:
        """How many bytes are held at most."""
        return self._limit

    def __len__(self) -> int:
        return len(self._held)

    def get(self, key: Hashable) -> Value | None:
        """Return a value, and count that as a use; None where it is not held."""
        with self._lock:
            found = self._held.get(key)
            if found is None:
                return None
            self._held.move_to_end(key)
            return found[0]

    def put(self, key: Hashable, value: Value, size: int) -> None:
        """Keep a value, or note its new size, and let go of others where there is no room."""
        with self._lock:
            gone = self._forget(key)
            if size <= self._limit:
                self._held[key] = (value, size)
                self._bytes += size
            while self._bytes > self._limit:
                gone += self._forget(next(iter(self._held)))
        # Values may close files when they go: not while others wait for the lock.
        gone.clear()

    def forget(self, owner: Hashable) -> None:
        """Let go of every value whose key is a tuple that begins with `owner`."""
        with self._lock:
            keys = [key for key in self._held if isinstance(key, tuple) and key[0] == owner]
            gone = [value for key in keys for value in self._forget(key)]
        gone.clear()

    def _forget(self, key: Hashable) -> list[Value]:
        found = self._held.pop(key, None)
        if found is None:
            return []
        self._bytes -= found[1]
        return [found[0]]
