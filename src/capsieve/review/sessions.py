"""Sessions of readers, and the attempts to log in."""

import ipaddress
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from capsieve.decisions.roles import Role

_MOST = 1000  # sessions at a time; the one that was unused longest makes room
_PER_NAME = parse_many("3 per 30 seconds; 20 per 10 minutes")
_PER_ADDRESS = parse_many("30 per 1 minute; 300 per 1 hour")


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader: the name as entries have it, and the role."""

    name: str
    role: Role


@dataclass(slots=True)
class _Session:
    reader: Reader
    ends: float
    used: float


class Sessions:
    """The sessions of one server, in memory: they end with it.

    Parameters
    ----------
    longest, idle
        Seconds after which a session ends, and after which an unused one does.
    known
        Whether somebody may still log in; the sessions of others end.
    clock
        Counts seconds.
    """

    def __init__(
        self,
        *,
        longest: float,
        idle: float,
        known: Callable[[Reader], bool] = lambda _: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._longest, self._idle, self._known, self._clock = longest, idle, known, clock
        self._sessions: dict[bytes, _Session] = {}
        self._lock = threading.Lock()

    def begin(self, reader: Reader) -> str:
        """Begin a session; return the secret that the reader's browser has from now on."""
        secret = secrets.token_urlsafe(32)
        now = self._clock()
        with self._lock:
            ended = [key for key, each in self._sessions.items() if self._has_ended(each, now)]
            for key in ended:
                del self._sessions[key]
            while len(self._sessions) >= _MOST:
                del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].used)]
            self._sessions[_key(secret)] = _Session(reader, now + self._longest, now)
        return secret

    def reader(self, secret: str, *, touch: bool = True) -> Reader | None:
        """Return whose session it is; None if it has ended.

        Parameters
        ----------
        touch
            Whether that counts as use: not for what a page does by itself.
        """
        now = self._clock()
        with self._lock:
            session = self._sessions.get(_key(secret))
            if session is None or self._has_ended(session, now) or not self._known(session.reader):
                self._sessions.pop(_key(secret), None)
                return None
            if touch:
                session.used = now
            return session.reader

    def end(self, secret: str) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(_key(secret), None)

    def _has_ended(self, session: _Session, now: float) -> bool:
        return now >= session.ends or now - session.used >= self._idle


def _key(secret: str) -> bytes:
    """Return a hash as key: the time of a look-up tells nothing about the secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Attempts:
    """Counts attempts to log in, in memory.

    They are counted for a name at an address, whether somebody has that name or not: whoever tries
    names out learns nothing, and whoever guesses a password from elsewhere does not lock its owner
    out. All attempts of an address are counted as well, against trying a thousand names.
    """

    def __init__(self) -> None:
        self._storage = MemoryStorage()
        self._limiter = FixedWindowRateLimiter(self._storage)

    def count(self, name: str, address: str) -> float:
        """Count an attempt, before its password is compared: also those at the same time count.

        Returns
        -------
        float
            Seconds to wait; 0 if the password may be compared.
        """
        waits = [0.0]
        for limit, key in _limits(name, address):
            if not self._limiter.hit(limit, key):
                waits.append(self._limiter.get_window_stats(limit, key).reset_time - time.time())
        return max(waits)

    def forget(self, name: str, address: str) -> None:
        """Forget the attempts of a name, and the last one of its address: it was right."""
        for limit, key in _limits(name, address):
            if limit in _PER_NAME:
                self._limiter.clear(limit, key)
            else:
                self._storage.decr(limit.key_for(key))


def _limits(name: str, address: str) -> list[tuple[RateLimitItem, str]]:
    # Of the same size for every name, however long.
    of_address = _key(address).hex()
    keys = (of_address, _PER_ADDRESS), (_key(name).hex() + of_address, _PER_NAME)
    return [(limit, key) for key, limits in keys for limit in limits]


def client_address(scope: Mapping[str, Any]) -> str:
    """Return the client's address; for IPv6 its network, because anybody has many in one."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return str(host)
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((int(address), 64), strict=False))
