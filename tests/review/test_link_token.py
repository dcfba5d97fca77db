"""The token of the link outlives a killed server, and nothing else."""

import os
import stat
import time

import pytest

from capsieve.review.link_token import HOURS, forget_token, kept_token, token_file


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return token_file("/results", 8765, "anna", "reader")


def test_it_is_the_same_until_it_is_forgotten(path):
    token = kept_token(path)
    assert kept_token(path) == token
    assert len(token) == 43
    forget_token(path)
    assert kept_token(path) != token


def test_its_owner_alone_can_read_it(path):
    kept_token(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_each_room_and_reader_has_its_own(path):
    others = [
        token_file("/other", 8765, "anna", "reader"),
        token_file("/results", 8766, "anna", "reader"),
        token_file("/results", 8765, "bert", "reader"),
        token_file("/results", 8765, "anna", "consensus"),
    ]
    assert len({kept_token(each) for each in (path, *others)}) == 5


def age(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("harm", ["others", "old", "short", "link", "future"])
def test_one_that_is_not_to_be_trusted_is_replaced(path, harm):
    token = kept_token(path)
    if harm == "others":
        path.chmod(0o644)
    elif harm == "old":
        age(path, HOURS * 3600 + 1)
    elif harm == "future":
        age(path, -3600)
    elif harm == "short":
        path.write_text(token[:5])
    else:
        path.rename(path.with_name("elsewhere"))
        path.symlink_to(path.with_name("elsewhere"))
    again = kept_token(path)
    assert again != token
    assert kept_token(path) == again


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(tmp_path, monkeypatch):
    (tmp_path / "state").write_text("a file in the folder's place")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = token_file("/results")
    assert kept_token(path) != kept_token(path)
    forget_token(path)
