"""One damaged input in a child process with limits of time and memory, and what became of it."""

import faulthandler
import json
import os
import random
import resource
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from capsieve.errors import CapsieveError
from soak.subjects import SUBJECTS, Reading, Subject

__all__ = [
    "CLASSES",
    "FAULTS",
    "Class",
    "Outcome",
    "damaged",
    "intact_reading",
    "run_trial",
    "tried",
]

Class = Literal[
    "equal", "reported", "refused", "silent change", "silent loss", "traceback", "hang", "crash"
]
"""What became of an input, from best to worst.

equal: it was read as the intact one. reported: it was read, and problems or warnings were given.
refused: one message. silent change: content differs and nothing was reported, as it must be if the
format has no checksum. silent loss: something is missing or added and nothing was reported, though
the format shows it. The others are faults wherever they occur.
"""

CLASSES: tuple[Class, ...] = get_args(Class)
FAULTS: tuple[Class, ...] = ("silent loss", "traceback", "hang", "crash")

SECONDS = 30
_MEMORY = 6 * 2**30  # of addresses, which includes libraries
_NOT_A_FILE_SIZE = 300_000_000


class Outcome(NamedTuple):
    """What became of an input; `detail` has the message or the last lines of the traceback."""

    found: Class
    detail: str = ""


def damaged(subject: str, seed: str, content: bytes) -> bytes:
    """Return the file of a subject with the damage of a seed."""
    return SUBJECTS[subject].damage(content, random.Random(f"{subject} {seed}"))


def run_trial(
    name: str, folder: Path, intact: Reading, damage: Callable[[bytes], bytes]
) -> Outcome:
    """Damage the file of a subject in its folder, read it in a child process, and classify it."""
    subject = SUBJECTS[name]
    path = subject.path(folder)
    content = path.read_bytes()
    try:
        path.write_bytes(damage(content))
        found, value = tried(lambda: _read(subject, folder))
    finally:
        path.write_bytes(content)
    if found != "read":
        return Outcome(found, value)  # pyright: ignore[reportArgumentType]
    items, reports = value
    if items == intact.items and reports == intact.reports:
        return Outcome("equal")
    new = [one for one in reports if one not in intact.reports]
    if new:
        return Outcome("reported", new[0])
    if items == intact.items:
        return Outcome("equal", "fewer reports")
    lost = len(items) != len(intact.items) and subject.shows_losses
    detail = f"{len(items)} instead of {len(intact.items)}; {_difference(items, intact.items)}"
    return Outcome("silent loss" if lost else "silent change", detail)


def intact_reading(name: str, folder: Path) -> Reading:
    """Make the intact file of a subject and return its content."""
    subject = SUBJECTS[name]
    subject.make(folder)
    found, value = tried(lambda: _read(subject, folder))
    assert found == "read", (name, found, value)
    return Reading(*value)


def _read(subject: Subject, folder: Path) -> list[list[str]]:
    return list(map(list, subject.read(folder)))


def _difference(items: list[str], intact: list[str]) -> str:
    added, lost = Counter(items) - Counter(intact), Counter(intact) - Counter(items)
    return f"without {list(lost)[:2]}, with {list(added)[:2]}"


def tried(function: Callable[[], Any], *, seconds: int = SECONDS) -> tuple[str, Any]:
    """Call a function in a child process.

    Returns
    -------
    class, value
        "read" and what the function returned (as JSON), or "refused", "traceback", "hang" or
        "crash" and a text.
    """
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork, if libraries have threads
        child = os.fork()
    if child == 0:
        os.close(reading)
        _child(function, writing, seconds)
    os.close(writing)
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return (
            ("hang", f"after {seconds} s") if number == signal.SIGALRM else ("crash", str(number))
        )
    if not answer:
        return "crash", f"exit code {os.waitstatus_to_exitcode(status)}"
    found, value = json.loads(answer)
    return found, value


def _child(function: Callable[[], Any], writing: int, seconds: int) -> None:
    """Write the outcome into a pipe and end the process."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_NOT_A_FILE_SIZE, _NOT_A_FILE_SIZE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()  # pytest turns it on
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # it ends also what does not return to Python
    signal.alarm(seconds)
    warnings.simplefilter("default")
    try:
        answer = ("read", function())
    except CapsieveError as error:
        lines = str(error).strip().splitlines()
        answer = ("refused", lines[0]) if len(lines) == 1 else ("traceback", f"{lines}")
    except MemoryError:
        answer = ("crash", "".join(traceback.format_exc().splitlines(keepends=True)[-6:]))
    except BaseException:
        answer = ("traceback", "".join(traceback.format_exc().splitlines(keepends=True)[-6:]))
    with open(writing, "wb") as pipe:
        pipe.write(json.dumps(answer).encode())
    os._exit(0)
