"""Who is in the room: sessions, and when they end."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from capsieve.decisions.roles import Role

__all__ = ["Reader", "Sessions"]

_MOST = 1000  # sessions at a time; the one that was idle longest makes room


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody who reads.

    Attributes
    ----------
    name
        As entries carry it.
    role
        What they may do.
    """

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
        Seconds after which a session ends, and after which one that nobody uses does.
    known
        Whether somebody may still enter; the sessions of others end.
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
        """Return the secret that a reader's browser shows from now on."""
        secret = secrets.token_urlsafe(32)
        now = self._clock()
        with self._lock:
            self._forget_ended(now)
            while len(self._sessions) >= _MOST:
                del self._sessions[min(self._sessions, key=lambda key: self._sessions[key].used)]
            self._sessions[_key(secret)] = _Session(reader, now + self._longest, now)
        return secret

    def reader(self, secret: str, *, touch: bool = True) -> Reader | None:
        """Return whose session it is, and note that it is used; None where it has ended.

        Parameters
        ----------
        secret
            What the browser showed.
        touch
            False for what a page does on its own: an empty chair does not keep a session alive.
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

    def _forget_ended(self, now: float) -> None:
        ended = [key for key, each in self._sessions.items() if self._has_ended(each, now)]
        for key in ended:
            del self._sessions[key]


def _key(secret: str) -> bytes:
    """What a session is kept under: the time that a look-up takes says nothing of the secret."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()
