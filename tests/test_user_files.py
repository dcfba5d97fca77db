import os
import socket
import tracemalloc

import pytest

from capsieve.errors import FileError
from capsieve.user_files import open_file, read_bytes, read_text


def refused(path, **options):
    with pytest.raises(FileError, match="cannot read") as error, open_file(path, **options):
        pass
    (line,) = str(error.value).splitlines()
    assert os.fspath(path).replace("\0", "\\x00") in line
    return line


def test_a_regular_file_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    with open_file(tmp_path / "link") as file:
        assert file.read() == b"abc"
        assert not os.get_inheritable(file.fileno())


def test_what_is_not_a_regular_file_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert "it is a socket" in refused("socket")
    assert "it is a pipe; save its content to a file first" in refused("pipe")
    assert "it is a folder" in refused(tmp_path)
    assert "it is a device" in refused("/dev/zero")
    assert "no such file; check the name" in refused("absent")
    assert "no such file; copy it" in refused("absent", advice="copy it")
    (tmp_path / "loop").symlink_to("loop")
    refused("loop")
    refused("a\0b")
    refused("a" * 300)


def test_a_pipe_with_a_writer_is_refused_and_not_read():
    ours, theirs = os.pipe()
    os.write(theirs, b"exam,frame,label\n")
    assert "it is a pipe" in refused(f"/dev/fd/{ours}")
    assert os.read(ours, 100) == b"exam,frame,label\n"
    os.close(ours)
    os.close(theirs)


def test_refused_files_are_closed(tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        refused(tmp_path)
        refused("/dev/null")
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    (tmp_path / "a").touch(mode=0)
    assert "change the file's permissions" in refused(tmp_path / "a")


def test_a_size_over_the_limit_is_refused_before_reading(tmp_path):
    (tmp_path / "a").touch()
    os.truncate(tmp_path / "a", 2**40)
    assert "1,099,511,627,776 bytes" in refused(tmp_path / "a", largest=10)
    os.truncate(tmp_path / "a", 10)
    assert read_bytes(tmp_path / "a", largest=10) == bytes(10)


def test_a_file_that_grows_beyond_the_limit_is_refused():
    # The kernel declares no size for these, and they have content.
    with pytest.raises(FileError, match="more than the 10"):
        read_bytes("/proc/self/maps", largest=10)


def test_text_is_utf_8_with_or_without_a_mark(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfpolyp\xc3\xa9")
    assert read_text(tmp_path / "a") == "polypé"
    (tmp_path / "a").write_bytes(b"polyp\xe9")
    with pytest.raises(FileError, match="not UTF-8 text; save it as UTF-8"):
        read_text(tmp_path / "a")


def test_a_small_file_is_read_without_memory_for_a_large_one(tmp_path):
    (tmp_path / "a").write_bytes(b"few")
    tracemalloc.start()
    try:
        assert read_bytes(tmp_path / "a", largest=10**9) == b"few"
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()
