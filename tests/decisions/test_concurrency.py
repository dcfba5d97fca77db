"""Many who write at once, and some who die while they do."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

from capsieve.decisions.database import Database, open_database
from capsieve.decisions.log import changes_after, load_entries, missing_entries
from capsieve.decisions.model import ConflictError, Note
from capsieve.decisions.viewed import count_frames, load_viewed
from decisions.hands import EVENT, EXAM, Hand

# Writes actions of two notes, and says each number when it is acknowledged.
PROGRAM = """
import sys
from capsieve.decisions.database import open_database
from capsieve.decisions.log import Writer, append
from capsieve.decisions.model import Note

place, reader, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
database = open_database(place)
writer = Writer("exam-1", reader, "reader", "screening-1")
for k in range(count):
    notes = [Note(subject="exam", text=f"{reader} {k}") for _ in range(2)]
    entries = append(database, writer, f"{reader}-{k:06}", notes)
    print(*[f"{entry.number} {entry.key}" for entry in entries], sep=";", flush=True)
"""


def start(place: str, reader: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, place, reader, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def follow(database: Database, stop: threading.Event) -> list[int]:
    """Ask for what is new until all is written, as another window does."""
    seen: list[int] = []
    while True:
        ended = stop.is_set()
        new = changes_after(database, seen[-1] if seen else 0)
        seen += [number for number, _ in new]
        if ended and not new:
            return seen
        time.sleep(0.005)


def test_threads_write_each_entry_once_and_followers_miss_none(database: Database) -> None:
    stop = threading.Event()
    with ThreadPoolExecutor(6) as pool:
        follower = pool.submit(follow, database, stop)
        hands = [Hand(database, f"reader-{k}") for k in range(4)]
        jobs = [
            pool.submit(lambda hand=hand: [hand.decide(EVENT, "accept") for _ in range(4)])
            for hand in hands
        ]
        try:
            wait(jobs)
        finally:
            stop.set()  # whatever happens: the follower would never end
        written = [entry for job in jobs for entry in job.result()]
        assert follower.result() == list(range(1, 17))
    assert sorted(entry.number for entry in written) == list(range(1, 17))


def test_the_same_key_from_many_threads_is_one_entry(database: Database) -> None:
    hand = Hand(database)
    with ThreadPoolExecutor(6) as pool:
        entries = list(
            pool.map(
                lambda _: hand.act(Note(subject="exam", text="once"), key="the-one-key"), range(12)
            )
        )
    assert load_entries(database, EXAM) == entries[0]
    assert all(entry == entries[0] for entry in entries)


def test_of_many_undos_at_once_one_is_written(database: Database) -> None:
    hands = [Hand(database) for _ in range(4)]
    hands[0].decide(EVENT, "accept")

    def take_back(k: int) -> bool:
        try:
            hands[k].undo(1)
        except ConflictError:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(take_back, range(4))) == 1


def test_displayed_frames_of_many_threads_are_merged(database: Database) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda k: Hand(database).see(k % 9, viewed=(k % 3,)), range(24)))
    [bitmaps] = load_viewed(database, EXAM, "screening-1")
    assert count_frames([bitmaps]) == (9, 3)


@pytest.mark.slow
def test_two_processes_write_and_a_follower_misses_none(place: str) -> None:
    database = open_database(place)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        follower = pool.submit(follow, database, stop)
        programs = [start(place, reader, 10) for reader in ("anna", "ben")]
        try:
            said = [line for program in programs for line in program.communicate()[0].splitlines()]
        finally:
            stop.set()  # whatever happens: the follower would never end
        assert follower.result() == list(range(1, 41))
    assert {program.returncode for program in programs} == {0}
    stored = {f"{entry.number} {entry.key}" for entry in load_entries(database, EXAM)}
    assert stored == {each for line in said for each in line.split(";")}
    database.close()


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1, 9])
def test_a_killed_writer_loses_nothing_that_was_acknowledged(place: str, lines: int) -> None:
    program = start(place, "anna", 100_000)
    assert program.stdout is not None
    said = [program.stdout.readline().strip() for _ in range(lines)]
    os.kill(program.pid, signal.SIGKILL)
    said += program.stdout.read().splitlines()[:-1]  # the last line may be cut short
    program.stdout.close()
    assert program.wait() == -signal.SIGKILL
    database = open_database(place)
    entries = load_entries(database, EXAM)
    acknowledged = {each for line in said for each in line.split(";")}
    assert acknowledged <= {f"{entry.number} {entry.key}" for entry in entries}
    assert missing_entries(database) == 0
    # Whatever it was writing is there whole, or not at all; the next one goes on.
    assert len(entries) % 2 == 0
    assert [entry.action for entry in entries[1::2]] == [entry.action for entry in entries[::2]]
    assert Hand(database, "ben").decide(EVENT, "accept").number == len(entries) + 1
    database.close()


@pytest.mark.slow
def test_a_killed_writer_leaves_a_sound_file(tmp_path: Path) -> None:
    place = str(tmp_path / "decisions.sqlite")
    program = start(place, "anna", 100_000)
    assert program.stdout is not None
    program.stdout.readline()
    program.kill()
    program.communicate()
    database = open_database(place)
    with database.read() as connection:
        assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
    database.close()
