"""Work that the tests of the executors give to workers, which import it from here."""

import os
import signal
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from uuid import uuid4

from capsieve.screening import executors


@dataclass(frozen=True)
class Errand:
    """A task: what to do, and the folder in which every beginning leaves a file."""

    number: int
    folder: str = ""
    deaths: int = 0  # how many beginnings end with the death of the worker
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"errand {self.number}"


class Stubborn(Exception):
    """An exception that cannot be made again from its arguments."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def begin(errand: Errand) -> None:
    (Path(errand.folder) / f"{errand.number}-{os.getpid()}-{uuid4().hex}").touch()


def beginnings(folder: Path, number: int) -> list[int]:
    """Return the process of every beginning of an errand."""
    return [int(path.name.split("-")[1]) for path in folder.glob(f"{number}-*")]


def square(number: int) -> int:
    if number < 0:
        raise ValueError(f"negative: {number}")
    return number**2


def do(errand: Errand) -> int:
    begin(errand)
    if len(beginnings(Path(errand.folder), errand.number)) <= errand.deaths:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(errand.seconds)
    return errand.number


def print_and_die(word: str) -> str:
    os.write(2, f"a line\n{word}\n".encode())
    if word == "fatal":
        os.abort()
    return word


def be_stubborn(_: int) -> None:
    raise Stubborn("a", "b")


def leave(_: int) -> None:
    raise SystemExit(3)


def threads_of_opencv(_: int) -> int:
    import cv2

    return cv2.getNumThreads()


def pid(_: int) -> int:
    return os.getpid()


def refuse(error: Exception) -> None:
    raise error


def serve_and_die_in_the_warm_up(
    connection: Connection, parent: int, warm_up: bool, errors: str
) -> None:
    if warm_up:
        os.kill(os.getpid(), signal.SIGKILL)
    executors._serve(connection, parent, False, errors)


def refuse_to_start(*_: object) -> None:
    os._exit(1)


def shout(_: int) -> int:
    os.write(1, b"noise")
    os.write(2, b"noise")
    return 1


def alive(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def gone(processes: list[int], seconds: float = 20.0) -> bool:
    """Return whether processes end within a while."""
    until = time.monotonic() + seconds
    while any(alive(process) for process in processes) and time.monotonic() < until:
        time.sleep(0.1)
    return not any(alive(process) for process in processes)
