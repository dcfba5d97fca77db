"""An exam that comes through a pipe."""

import io
import sys

import pytest

from capsieve.engine.standard_input import is_spooled, spooled
from capsieve.errors import FileError, OccupiedError


class Pipe:
    """Standard input with some content."""

    def __init__(self, content, *, terminal=False):
        self.buffer = content if hasattr(content, "read") else io.BytesIO(content)
        self._terminal = terminal

    def isatty(self):
        return self._terminal


@pytest.fixture
def pipe(monkeypatch):
    def put(content, **options):
        monkeypatch.setattr(sys, "stdin", Pipe(content, **options))

    return put


def test_all_that_comes_is_kept_while_it_is_needed(pipe, tmp_path):
    content = bytes(range(256)) * 20_000
    pipe(content)
    with spooled(tmp_path) as path:
        assert path.read_bytes() == content
        assert tmp_path in path.parents
        assert is_spooled(str(path))
    assert list(tmp_path.iterdir()) == []


def test_the_folder_is_made(pipe, tmp_path):
    pipe(b"something")
    with spooled(tmp_path / "new" / "out") as path:
        assert path.exists()


def test_an_ordinary_path_is_not_taken_for_it(tmp_path):
    assert not is_spooled(str(tmp_path / "a.mp4"))
    assert not is_spooled("/data/standard-input")


def test_nothing_came(pipe, tmp_path):
    pipe(b"")
    with pytest.raises(FileError, match="nothing came through standard input"), spooled(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_is_not_waited_for(pipe, tmp_path):
    pipe(b"typed", terminal=True)
    with pytest.raises(FileError, match="pipe a video in, or name a file"), spooled(tmp_path):
        pass


def test_no_standard_input_at_all(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FileError, match="nothing comes through"), spooled(tmp_path):
        pass


def test_no_room_is_a_sentence_and_leaves_nothing(pipe, tmp_path):
    class Full(io.RawIOBase):
        def read(self, size=-1):
            raise OSError(28, "No space left on device")

    pipe(Full())
    with pytest.raises(FileError, match=r"cannot keep what .* No space"), spooled(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_way_is_a_sentence(pipe, tmp_path):
    (tmp_path / "out").write_text("")
    pipe(b"something")
    with pytest.raises(FileError, match="cannot write to"), spooled(tmp_path / "out"):
        pass


@pytest.mark.parametrize(
    "error", [OccupiedError("taken"), BrokenPipeError("the reader left"), KeyboardInterrupt()]
)
def test_what_fails_inside_is_told_as_it_is_and_nothing_stays(pipe, tmp_path, error):
    pipe(b"something")
    with pytest.raises(type(error)) as caught, spooled(tmp_path):
        raise error
    assert caught.value is error
    assert list(tmp_path.iterdir()) == []
