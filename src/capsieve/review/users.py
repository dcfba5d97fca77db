"""The file of those who may enter a room that is not on one's own machine.

Passwords are kept as scrypt hashes (RFC 7914), each with its own salt and with the costs that it
was made with, so that costs may grow without anybody choosing a new password.
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from capsieve.atomic_write import atomic_write
from capsieve.decisions.roles import ROLES, Role
from capsieve.errors import FileError, ParameterError
from capsieve.report.text import plain
from capsieve.review.sessions import Reader
from capsieve.user_files import read_text

__all__ = [
    "LEAST_LENGTH",
    "Listed",
    "Users",
    "add_user",
    "check_name",
    "find_user",
    "hashed",
    "listed_users",
    "matches",
    "remove_user",
]

SCHEMA = 1
"""Version of the file; it grows when a name in it changes its meaning."""

LEAST_LENGTH = 10
"""Letters of a password."""

_LONGEST_NAME = 64
_LONGEST_PASSWORD = 1024
_COST, _BLOCK, _LANES = 1 << 15, 8, 1  # 32 MB and about a tenth of a second for each try
_MEMORY = 1 << 28  # bytes that a hash from a file may ask for
_ALL_ROLES = sorted({role for roles in ROLES.values() for role in roles})
_ONE_AT_A_TIME = threading.Lock()  # many tries at once would take all of the memory


class Users:
    """Who may enter, as the file says; it is read again when it was changed.

    Where it cannot be read then, what it said before counts on, and that is told once.

    Parameters
    ----------
    path
        The file.
    say
        Told in one sentence why it could not be read again.

    Raises
    ------
    FileError
        It is absent, damaged, or names nobody.
    """

    def __init__(self, path: Path, *, say: Callable[[str], None] = lambda _: None) -> None:
        self._path, self._say = path, say
        self._stamp = _stamp(path)  # before it is read: a change meanwhile is noticed later
        self._listed = _read(path)
        self._lock = threading.Lock()

    @property
    def readers(self) -> dict[str, Reader]:
        """Those who may enter, by name."""
        return {name: listed.reader for name, listed in self._now().items()}

    def knows(self, reader: Reader) -> bool:
        """Return whether somebody may enter, and as what they did."""
        listed = self._now().get(reader.name)
        return listed is not None and listed.reader == reader

    def reader(self, name: str, password: str) -> Reader | None:
        """Return who has this name and password; None where nobody has.

        An unknown name takes as long as a known one: names cannot be tried out.
        """
        users = self._now()
        listed = users.get(name)
        right = matches(password, _somebody(users, name) if listed is None else listed.password)
        return listed.reader if listed is not None and right else None

    def _now(self) -> "dict[str, Listed]":
        stamp = _stamp(self._path)
        with self._lock:
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._listed = _read(self._path)
                except FileError as error:
                    self._say(f"{error}; until that is mended, those it named before may enter")
            return self._listed


class Listed(NamedTuple):
    """Somebody in a file of users.

    Attributes
    ----------
    reader
        Name and role.
    password
        Its hash.
    """

    reader: Reader
    password: str


def _read(path: Path) -> dict[str, Listed]:
    """Return who is in a file of users, by name; raise FileError where it is none."""
    if not os.path.lexists(path):
        raise FileError(
            f"there is no file {path}; capsieve users add NAME --users {path} writes it"
        )
    try:
        content = json.loads(read_text(path))
        if content["schema"] != SCHEMA:
            raise ValueError(f"it has the schema {content['schema']!r}, and {SCHEMA} is known")
        listed: dict[str, Listed] = {}
        for name, user in content["users"].items():
            if user["role"] not in _ALL_ROLES:
                raise ValueError(f"{name} has the unknown role {user['role']!r}")
            _parts(user["password"])
            listed[name] = Listed(Reader(name, user["role"]), user["password"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FileError(f"{path} is no file of users ({error})") from error
    if not listed:
        raise FileError(f"{path} has no users; add one with capsieve users add NAME --users {path}")
    return listed


def _stamp(path: Path) -> tuple[int, ...] | None:
    """Return what changes with a file; None where it is gone."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def listed_users(path: Path) -> list[Reader]:
    """Return name and role of the users in a file."""
    return [listed.reader for listed in _read(path).values()]


def find_user(path: Path, name: str) -> Reader:
    """Return the user of a name; raise ParameterError if there is none."""
    listed = _read(path)
    if name not in listed:
        raise ParameterError("name", f"{path} has no user {plain(name)!r}; it has {_names(listed)}")
    return listed[name].reader


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
    if not LEAST_LENGTH <= len(password) <= _LONGEST_PASSWORD:
        raise ParameterError(
            "password", f"it needs at least {LEAST_LENGTH} characters; several words are good"
        )
    users = _read(path) if path.exists() else {}
    _write(path, {**users, name: Listed(Reader(name, role), hashed(password))})


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


def _names(listed: Mapping[str, Listed]) -> str:
    return ", ".join(sorted(listed)[:5]) + ", ..." * (len(listed) > 5)


def _write(path: Path, listed: Mapping[str, Listed]) -> None:
    users = {
        name: {"role": user.reader.role, "password": user.password} for name, user in listed.items()
    }
    content = json.dumps({"schema": SCHEMA, "users": users}, indent=2, ensure_ascii=False)
    with atomic_write(path, durable=True) as temporary:
        # Made for the owner alone before anything stands in it.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        temporary.chmod(0o600)
        temporary.write_text(content + "\n", encoding="utf-8")


def check_name(name: str) -> None:
    """Raise ParameterError where a text will not do as the name of a reader."""
    if not name or name != name.strip() or name != plain(name) or len(name) > _LONGEST_NAME:
        raise ParameterError(
            "reader",
            f"{plain(name)!r} is no name; it has 1 to {_LONGEST_NAME} letters, none of them a "
            "control character, and no space at its ends",
        )


def hashed(password: str) -> str:
    """Return what is kept of a password."""
    salt = secrets.token_bytes(16)
    key = _scrypt(password, salt, _COST, _BLOCK, _LANES)
    texts = (base64.b64encode(part).decode("ascii") for part in (salt, key))
    return "$".join(["scrypt", str(_COST), str(_BLOCK), str(_LANES), *texts])


def matches(password: str, kept: str) -> bool:
    """Return whether a password is the one of which `kept` was kept."""
    cost, block, lanes, salt, key = _parts(kept)
    shortened = password[: _LONGEST_PASSWORD + 1]
    return hmac.compare_digest(_scrypt(shortened, salt, cost, block, lanes), key)


def _parts(kept: str) -> tuple[int, int, int, bytes, bytes]:
    kind, cost, block, lanes, salt, key = kept.split("$")
    if kind != "scrypt":
        raise ValueError(f"passwords are kept as scrypt, not as {kind!r}")
    numbers = int(cost), int(block), int(lanes)
    if min(numbers) < 1 or 128 * numbers[0] * numbers[1] * numbers[2] > _MEMORY:
        raise ValueError("a hash has costs out of bounds")
    salt_bytes, key_bytes = (base64.b64decode(part, validate=True) for part in (salt, key))
    if len(key_bytes) != hashlib.sha256().digest_size or len(salt_bytes) < 16:
        raise ValueError("a hash is of the wrong length")
    return *numbers, salt_bytes, key_bytes


def _scrypt(password: str, salt: bytes, cost: int, block: int, lanes: int) -> bytes:
    with _ONE_AT_A_TIME:
        return hashlib.scrypt(
            password.encode("utf-8", "surrogatepass"),
            salt=salt,
            n=cost,
            r=block,
            p=lanes,
            maxmem=2 * _MEMORY,
            dklen=hashlib.sha256().digest_size,
        )


def _somebody(users: Mapping[str, Listed], name: str) -> str:
    """Return the hash against which the password of an unknown name is tried, in vain.

    It is that of somebody else, always the same one for a name: costs may differ from hash to hash,
    and so may the time that a try takes.
    """
    others = sorted(users)
    chosen = int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest())
    return users[others[chosen % len(others)]].password
