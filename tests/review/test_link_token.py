"""The token of the link outlives a killed server, and nothing else."""

import os
import stat
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from capsieve.review.link_token import (
    HOURS,
    forget_token,
    kept_fresh,
    kept_token,
    leading_page,
    token_file,
)


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


def test_it_does_not_grow_old_while_its_server_runs(path):
    token = kept_token(path)
    age(path, HOURS * 3600 + 1)
    with kept_fresh(path, every=0.01):
        for _ in range(2):  # at the start, and later
            age(path, HOURS * 3600 + 1)
            end = time.monotonic() + 20
            while time.time() - path.stat().st_mtime > 3600 and time.monotonic() < end:
                time.sleep(0.01)
            assert kept_token(path) == token


def test_a_page_of_the_owners_alone_leads_to_the_link(path):
    token = kept_token(path)
    link = f"http://127.0.0.1:8765/?token={token}"
    address = leading_page(path, link)
    assert address is not None
    assert token not in address
    page = Path(unquote(urlsplit(address).path))
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert f'content="0; url={link}"' in page.read_text()
    assert leading_page(path, link) == address  # one of a killed server is replaced
    forget_token(path)
    assert list(path.parent.iterdir()) == []


def test_where_no_page_can_be_written_there_is_none(tmp_path, monkeypatch):
    (tmp_path / "state").write_text("a file in the folder's place")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert leading_page(token_file("/results"), "http://127.0.0.1:8765/?token=x") is None
