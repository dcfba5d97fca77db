"""Open the files that a user names: regular files only, of a bounded size, without blocking.

A pipe cannot be read twice and a device has no end, so both are refused before anything is read.
"""

import io
import os
import stat

from capsieve.errors import FileError, file_errors

PathLike = str | os.PathLike[str]

LARGEST_TEXT = 2**30
"""Largest text file that is read as a whole, in bytes."""

_KINDS = (
    (stat.S_ISDIR, "it is a folder; give a file"),
    (stat.S_ISFIFO, "it is a pipe; save its content to a file first"),
    (stat.S_ISSOCK, "it is a socket; save its content to a file first"),
    (lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode), "it is a device; give a file"),
)


def open_file(
    path: PathLike, *, largest: int | None = None, advice: str = "check the name"
) -> io.BufferedReader:
    """Open a regular file for reading.

    Parameters
    ----------
    path
        The file; a link is followed.
    largest
        Most bytes that it may have; None for any number.
    advice
        What the user can do if the file is missing.

    Raises
    ------
    FileError
        The file is missing, unreadable or too large, or it is a folder, pipe, socket or device.
    """
    try:
        # Opening a pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise _unreadable(path, f"there is no such file; {advice}") from error
    except PermissionError as error:
        raise _unreadable(path, f"{error.strerror}; change the file's permissions") from error
    except OSError as error:  # sockets cannot be opened
        reason = _refused_kind(path) or f"{error.strerror}; {advice}"
        raise _unreadable(path, reason) from error
    except ValueError as error:
        raise _unreadable(repr(os.fspath(path)), f"{error}; {advice}") from error
    try:
        status = os.fstat(descriptor)
        for is_kind, reason in _KINDS:
            if is_kind(status.st_mode):
                raise _unreadable(path, reason)
        if largest is not None and status.st_size > largest:
            raise _unreadable(path, _too_large(status.st_size, largest))
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_bytes(path: PathLike, *, largest: int) -> bytes:
    """Return the content of a regular file.

    Raises
    ------
    FileError
        As for :func:`open_file`, or the file cannot be read.
    """
    with open_file(path, largest=largest) as file, file_errors("read", path):
        # Python allocates as much as it may read, so not more than the size at first.
        content = file.read(os.fstat(file.fileno()).st_size + 1)
        if more := file.read(1):  # it has grown
            content += more + file.read(max(0, largest - len(content)))
    if len(content) > largest:
        raise _unreadable(path, _too_large(len(content), largest))
    return content


def read_text(path: PathLike, *, largest: int = LARGEST_TEXT) -> str:
    """Return the text of a regular file in UTF-8, without the mark that some editors put first.

    Raises
    ------
    FileError
        As for :func:`read_bytes`, or the file is not UTF-8 text.
    """
    content = read_bytes(path, largest=largest)
    with file_errors("read", path, "save it as UTF-8"):
        return content.decode("utf-8-sig")


def _refused_kind(path: PathLike) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return ""
    return next((reason for is_kind, reason in _KINDS if is_kind(mode)), "")


def _too_large(size: int, largest: int) -> str:
    return f"it has {size:,} bytes, more than the {largest:,} that are read; give a smaller file"


def _unreadable(path: PathLike, reason: str) -> FileError:
    return FileError(f"cannot read {os.fspath(path)}: {reason}")
