"""The file of users, who log in by name and password.

Passwords are kept as Argon2id hashes (RFC 9106), each with its own salt and costs.
"""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import argon2

from capsieve.atomic_write import atomic_write
from capsieve.decisions.roles import Role, roles_of_all
from capsieve.errors import FileError, ParameterError
from capsieve.report.text import plain
from capsieve.review.sessions import Reader
from capsieve.user_files import read_text

SCHEMA = 2
"""Version of the file."""

SHORTEST = 10
"""Letters of a password."""

_LONGEST_NAME = 64
_LONGEST_PASSWORD = 1024
_HASHER = argon2.PasswordHasher()  # 64 MB and about a tenth of a second
_MOST_MEMORY, _MOST_TIME = 1 << 18, 20  # KiB and passes that a hash in a file may ask for


class _User(NamedTuple):
    reader: Reader
    hash: str


class Users:
    """The users in a file, which is read again if it was changed.

    If it cannot be read then, its earlier content counts, and that is reported once.

    Parameters
    ----------
    path
        The file.
    report
        Takes a sentence that says why the file could not be read again.

    Raises
    ------
    FileError
        The file is missing, damaged, or has no users.
    """

    def __init__(self, path: Path, *, report: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._report = path, report
        self._stamp = _stamp(path)  # before it is read: a change meanwhile is noticed later
        self._users = _read(path)
        self._lock = threading.Lock()

    @property
    def readers(self) -> dict[str, Reader]:
        """The users by name."""
        return {name: user.reader for name, user in self._now().items()}

    def knows(self, reader: Reader) -> bool:
        """Return whether there is a user with this name and role."""
        return self.readers.get(reader.name) == reader

    def log_in(self, name: str, password: str) -> Reader | None:
        """Return the user with this name and password; None if there is none.

        An unknown name takes as long as a known one: its password is compared with the hash of
        another user, always the same one, because costs may differ from hash to hash.
        """
        users = self._now()
        user, names = users.get(name), sorted(users)
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        other = users[names[int.from_bytes(digest) % len(names)]]
        right = _matches((user or other).hash, password)
        return user.reader if user is not None and right else None

    def _now(self) -> dict[str, _User]:
        stamp = _stamp(self._path)
        with self._lock:
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._users = _read(self._path)
                except FileError as error:
                    self._report(f"{error}; until that is repaired, its earlier content counts")
            return self._users


def _matches(hash: str, password: str) -> bool:  # noqa: A002
    try:
        return _HASHER.verify(hash, password[: _LONGEST_PASSWORD + 1].encode(errors="replace"))
    except argon2.exceptions.VerificationError:
        return False


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read(path: Path) -> dict[str, _User]:
    if not os.path.lexists(path):
        raise FileError(
            f"there is no file {path}; capsieve users add NAME --users {path} writes it"
        )
    try:
        content = json.loads(read_text(path))
        if content["schema"] != SCHEMA:
            raise ValueError(f"it has the schema {content['schema']!r}, and {SCHEMA} is known")
        users = {name: _user(name, **user) for name, user in content["users"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"{path} is no file of users ({error})") from error
    if not users:
        raise FileError(f"{path} has no users; add one with capsieve users add NAME --users {path}")
    return users


def _user(name: str, *, role: Role, password: str) -> _User:
    if role not in roles_of_all():
        raise ValueError(f"{name} has the unknown role {role!r}")
    try:
        costs = argon2.extract_parameters(password)
    except argon2.exceptions.InvalidHashError:
        raise ValueError(f"the password of {name} is no Argon2 hash") from None
    if costs.memory_cost > _MOST_MEMORY or costs.time_cost > _MOST_TIME:
        raise ValueError(f"the password of {name} has costs out of bounds")
    return _User(Reader(name, role), password)


def listed_users(path: Path) -> list[Reader]:
    """Return name and role of the users in a file."""
    return [user.reader for user in _read(path).values()]


def find_user(path: Path, name: str) -> Reader:
    """Return the user of a name; raise ParameterError if there is none."""
    users = _read(path)
    if name not in users:
        names = ", ".join(sorted(users)[:5]) + ", ..." * (len(users) > 5)
        raise ParameterError("name", f"{path} has no user {plain(name)!r}; it has {names}")
    return users[name].reader


def add_user(path: Path, name: str, password: str, role: Role) -> None:
    """Add a user to a file, or give the user of this name a new password and role.

    Raises
    ------
    ParameterError
        The name or the password is not accepted.
    FileError
        The file is damaged, or cannot be written.
    """
    check_name(name)
    if not SHORTEST <= len(password) <= _LONGEST_PASSWORD:
        raise ParameterError(
            "password", f"it needs at least {SHORTEST} characters; several words are good"
        )
    users = _read(path) if path.exists() else {}
    hashed = _HASHER.hash(password.encode(errors="replace"))
    _write(path, users | {name: _User(Reader(name, role), hashed)})


def remove_user(path: Path, name: str) -> None:
    """Remove a user from a file.

    Raises
    ------
    ParameterError
        There is no such user, or no other.
    FileError
        The file is damaged, or cannot be written.
    """
    find_user(path, name)
    users = _read(path)
    if len(users) == 1:
        raise ParameterError(
            "name", f"{name} is the only user in {path}; add another one first, or delete the file"
        )
    _write(path, {key: user for key, user in users.items() if key != name})


def check_name(name: str) -> None:
    """Raise ParameterError if a text cannot be the name of a reader."""
    if not name or name != name.strip() or name != plain(name) or len(name) > _LONGEST_NAME:
        raise ParameterError(
            "reader",
            f"{plain(name)!r} is no name; it has 1 to {_LONGEST_NAME} letters, none of them a "
            "control character, and no space at its ends",
        )


def _write(path: Path, users: Mapping[str, _User]) -> None:
    rows = {name: {"role": user.reader.role, "password": user.hash} for name, user in users.items()}
    content = json.dumps({"schema": SCHEMA, "users": rows}, indent=2, ensure_ascii=False)
    with atomic_write(path, durable=True) as temporary:
        # Nobody else may read it, not for a moment.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        temporary.chmod(0o600)
        temporary.write_text(content + "\n", encoding="utf-8")
