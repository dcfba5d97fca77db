"""Users files and password hashes of the review app."""

from pathlib import Path
from typing import Any

import argon2
import pytest

from capsieve.review import users

__all__ = ["PASSWORD", "add_user", "cheap_hashes", "count_hashes"]

PASSWORD = "correct horse"


def add_user(file: Path, name: str, password: str = PASSWORD, *, role: Any = "reader") -> None:
    """Add a user to a users file, or replace the password and role of a user."""
    users.add_user(file, name, password, role)


def cheap_hashes(monkeypatch: pytest.MonkeyPatch, *, cost: int = 16) -> None:
    """Make new password hashes cheap to compute."""
    hasher = argon2.PasswordHasher(time_cost=1, memory_cost=cost, parallelism=1)
    monkeypatch.setattr(users, "_HASHER", hasher)


def count_hashes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which every hash that is computed from now on adds its cost."""
    costs: list[int] = []
    verify = argon2.low_level.verify_secret

    def counted(hash: bytes, *arguments: Any) -> bool:  # noqa: A002
        costs.append(argon2.extract_parameters(hash.decode()).memory_cost)
        return verify(hash, *arguments)

    monkeypatch.setattr("argon2._password_hasher.verify_secret", counted)
    return costs
