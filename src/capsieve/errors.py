"""The exceptions of capsieve.

    CapsieveError
    |-- FrameError        (ValueError)   pixels that cannot be analysed: shape, values, size
    |-- ParameterError    (ValueError)   a setting: unknown, of the wrong type or out of bounds
    |-- FileError                        a file: missing, unreadable, damaged, of an unknown kind
    |   `-- OccupiedError                a folder in use by another run or with other settings
    |-- LeakError         (ValueError)   training and test frames that are not independent
    |-- WorkerError       (RuntimeError) worker processes that died or do not match this one
    `-- MissingExtraError (ImportError)  an optional dependency that is not installed

A message says what is wrong, with the name or path, and then what to do. All errors keep their
attributes when they are pickled.
"""

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class CapsieveError(Exception):
    """Base class of all errors that capsieve raises on purpose."""

    def __str__(self) -> str:
        return printable(super().__str__())


class FrameError(CapsieveError, ValueError):
    """Pixels that cannot be analysed."""


class ParameterError(CapsieveError, ValueError):
    """A setting that is unknown, of the wrong type or out of bounds.

    Attributes
    ----------
    field
        The name of the setting.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(field, message)  # both: unpickling calls the class with these arguments
        self.field = field

    def __str__(self) -> str:
        return printable(": ".join(self.args))


class FileError(CapsieveError):
    """A file that is missing, unreadable, damaged or of an unknown kind."""


class OccupiedError(FileError):
    """A folder that another run uses, or that holds results of other settings."""


class LeakError(CapsieveError, ValueError):
    """Training and test frames that are not independent."""


class WorkerError(CapsieveError, RuntimeError):
    """Worker processes that died, or that have another version or detector."""


class MissingExtraError(CapsieveError, ImportError):
    """An optional dependency that is needed and not installed."""


@contextmanager
def file_errors(action: str, path: str | os.PathLike[str], advice: str = "") -> Generator[None]:
    """Raise a :class:`FileError` if an operation on a file or folder fails.

    Parameters
    ----------
    action, path
        They begin the message: "cannot `action` `path`: ...". The action is a verb such as
        "read", "write", "list" or "create".
    advice
        What the user can do. On a full disk the advice is always to free space.

    Raises
    ------
    FileError
        The operation failed (OSError), or the text is not UTF-8. Errors of connections, such as a
        pipe that was closed, are not about the file and are raised unchanged.
    """
    try:
        yield
    except ConnectionError:
        raise
    except UnicodeDecodeError as error:
        reason, cause = "it is not UTF-8 text", error
    except OSError as error:
        reason, cause = error.strerror or str(error), error
        if error.errno in _DISK_FULL:
            advice = "free some space and try again"
    else:
        return
    raise FileError(
        f"cannot {action} {path}: {reason}" + (f"; {advice}" if advice else "")
    ) from cause


def printable(text: str) -> str:
    r"""Return a text with escapes such as ``\u202e`` for characters that do not print.

    Control characters in the name of a file, also those of bidirectional text, could change what a
    terminal shows. The messages of all errors are printable.
    """
    return "".join(
        character if character.isprintable() or character in "\n\t" else _escaped(character)
        for character in text
    )


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
