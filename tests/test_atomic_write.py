import os
import subprocess
import sys

import pytest

from capsieve import FileError
from capsieve.atomic_write import atomic_write, remove_leftovers


def test_the_file_appears_whole(tmp_path):
    with atomic_write(tmp_path / "a.png") as temporary:
        assert temporary.suffix == ".png"
        temporary.write_text("new")
        assert not (tmp_path / "a.png").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_absent_folder_is_a_file_error(tmp_path):
    with (
        pytest.raises(FileError, match="there is no folder"),
        atomic_write(tmp_path / "no" / "a.png"),
    ):
        pytest.fail("the body must not run")


def test_a_folder_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="it is a folder"), atomic_write(tmp_path):
        pytest.fail("the body must not run")


def test_a_system_error_becomes_a_file_error(tmp_path):
    with (
        pytest.raises(FileError, match="No space left"),
        atomic_write(tmp_path / "a.png"),
    ):
        raise OSError(28, os.strerror(28))


def test_leftovers_of_processes_that_are_gone_are_removed_and_nothing_else(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    leftover = tmp_path / f".roc.{gone.pid}.part.svg"
    others = [
        tmp_path / f".roc.{os.getpid()}.part.svg",
        tmp_path / ".mine.part.svg",
        tmp_path / "roc.part.svg",
    ]
    for path in (leftover, *others):
        path.touch()
    remove_leftovers(tmp_path)
    assert not leftover.exists()
    assert all(path.exists() for path in others)
