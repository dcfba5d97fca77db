"""Users files and password hashes of the review app."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from capsieve.review import users

__all__ = ["PASSWORD", "add_user", "cheap_hashes", "count_hashes"]

PASSWORD = "correct horse"


def add_user(file: Path, name: str, password: str = PASSWORD, *, role: Any = "reader") -> None:
    """Add a user to a users file, or replace the password and role of a user."""
    users.add_user(file, name, password, role)


def cheap_hashes(monkeypatch: pytest.MonkeyPatch, *, cost: int = 16) -> None:
    """Make new password hashes cheap to compute."""
    monkeypatch.setattr(users, "_COST", cost)


def count_hashes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which every hash that is computed from now on adds its cost."""
    costs: list[int] = []
    scrypt = hashlib.scrypt

    def counted(*arguments: Any, **options: Any) -> bytes:
        costs.append(options["n"])
        return scrypt(*arguments, **options)

    monkeypatch.setattr(hashlib, "scrypt", counted)
    return costs
