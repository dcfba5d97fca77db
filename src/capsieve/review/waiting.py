"""Waiting after wrong passwords: whoever guesses waits, and nobody else.

Wrong passwords are counted for a name at an address, alike whether somebody has that name or not:
who tries names out learns nothing, and who guesses anna's password from elsewhere does not keep
anna out. All tries of an address are counted as well, with more of them free and shorter waits: a
thousand names are no way around, and each try costs the server a tenth of a second.
"""

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any

__all__ = ["Waiting", "client_address"]

_MOST = 10_000  # counts that are kept; the oldest makes room
_FORGET = 3600.0  # seconds after which a wrong password is forgotten
_MANY, _SHORT = 20, 30.0  # free tries of an address, and its longest wait in seconds


class Waiting:
    """How long somebody must wait before the next password is looked at.

    The first few wrong ones are free; from then on each doubles the wait.

    Parameters
    ----------
    free
        Wrong passwords without a wait.
    longest
        Seconds that nobody waits longer than.
    clock
        Counts seconds.
    """

    def __init__(
        self,
        *,
        free: int = 3,
        longest: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._free, self._longest, self._clock = free, longest, clock
        self._failures: OrderedDict[bytes, tuple[int, float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def left(self, name: str, address: str) -> float:
        """Return the seconds that are left to wait."""
        now = self._clock()
        with self._lock:
            waits = [
                self._failures.get(key, (0, now, now))[1]
                for key in (_key(name, address), _key(address))
            ]
        return max(0.0, max(waits) - now)

    def failed(self, name: str, address: str) -> None:
        """Note a wrong password."""
        with self._lock:
            self._count(_key(name, address), self._free, self._longest)
            self._count(_key(address), _MANY, min(_SHORT, self._longest))
            while len(self._failures) > _MOST:
                self._failures.popitem(last=False)

    def passed(self, name: str, address: str) -> None:
        """Forget the wrong ones before a right one, and that the right one was counted."""
        with self._lock:
            self._failures.pop(_key(name, address), None)
            whole = _key(address)
            if whole in self._failures:
                count, _, since = self._failures[whole]
                self._failures[whole] = max(count - 1, 0), since, since

    def _count(self, key: bytes, free: int, longest: float) -> None:
        now = self._clock()
        count, _, since = self._failures.pop(key, (0, now, now))
        count = 1 if now - since > _FORGET else count + 1
        over = count - free
        wait = 0.0 if over < 0 else min(2.0 ** min(over, 30), longest)
        self._failures[key] = count, now + wait, now


def client_address(scope: Mapping[str, Any]) -> str:
    """Return from where a request comes; all addresses of one network of IPv6 are one.

    Whoever has a line there has as many addresses as they like.
    """
    host = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))


def _key(*said: str) -> bytes:
    """What a count is kept under: of the same size for every name, however long."""
    digests = (sha256(each.encode("utf-8", "surrogatepass")).digest() for each in said)
    return sha256(b"".join(digests)).digest()
