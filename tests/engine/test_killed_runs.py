"""A run that is killed, again and again, ends with the same tables as one that is not."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sample_exams import frames_of, run_command, tables_of, write_exam_video

KILLS = 24
FRAMES = 1500


@pytest.fixture(scope="module")
def exam(tmp_path_factory):
    return write_exam_video(tmp_path_factory.mktemp("source") / "exam.mp4", FRAMES)


@pytest.fixture(scope="module")
def undisturbed(exam, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed")
    started = time.monotonic()
    result = run_command("screen", exam, "-o", out, "--workers", "2", "--quiet")
    assert result.returncode == 0, result.stderr
    return out / "exam", time.monotonic() - started


def start(exam: Path, out: Path, workers: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "capsieve", "screen", str(exam), "-o", str(out), "--quiet"]
    command += ["--workers", str(workers)]
    nowhere = subprocess.DEVNULL
    return subprocess.Popen(command, start_new_session=True, stdout=nowhere, stderr=nowhere)


def until(condition, process: "subprocess.Popen[Any]", seconds: float = 60.0) -> bool:
    """Wait for a condition while the process lives."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if condition():
            return True
        time.sleep(0.001)
    return condition()


def moments(folder: Path, chance: random.Random, usual: float):
    """Yield, for ever, a way to wait for the moment of the next kill."""
    unfinished = folder / ".unfinished"

    def segments() -> int:
        return len(list(unfinished.glob("head-*.checked")))

    def any_time(process):
        time.sleep(chance.uniform(0.0, usual))

    def after_the_next_segment(process):
        before = segments()
        until(lambda: segments() > before or (unfinished / "finished").exists(), process)
        time.sleep(chance.uniform(0.0, 0.3))

    def while_a_file_is_being_written(process):
        until(lambda: any(unfinished.glob(".*.part*")), process)

    def at_the_very_end(process):
        until((unfinished / "finished").exists, process)
        time.sleep(chance.uniform(0.0, 0.1))

    while True:
        yield any_time
        yield after_the_next_segment
        yield while_a_file_is_being_written
        yield at_the_very_end


@pytest.mark.slow
def test_killed_at_random_moments_it_ends_with_the_same_tables(exam, undisturbed, tmp_path):
    expected, usual = undisturbed
    chance = random.Random(4)
    kills = finished = 0
    while kills < KILLS or not finished:
        out = tmp_path / f"out-{finished}"
        waits = moments(out / "exam", chance, usual)
        while True:
            process = start(exam, out, workers=chance.choice((1, 2)))
            if kills < KILLS:
                next(waits)(process)
                process.kill()
            code = process.wait()
            kills += code == -signal.SIGKILL
            assert code in (0, -signal.SIGKILL)
            if code == 0:
                break
        finished += 1
        assert tables_of(out / "exam") == tables_of(expected)
        assert sorted(path.name for path in (out / "exam").iterdir()) == sorted(
            path.name for path in expected.iterdir()
        )
    numbers = frames_of(expected)["frame"].to_pylist()
    assert numbers == list(range(FRAMES))


@pytest.mark.slow
def test_no_worker_outlives_a_killed_run(exam, tmp_path):
    process = start(exam, tmp_path, workers=2)
    assert until(lambda: len(children_of(process.pid)) >= 2, process)
    workers = children_of(process.pid)
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while time.monotonic() < end and any(Path(f"/proc/{pid}").exists() for pid in workers):
        time.sleep(0.1)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


@pytest.mark.slow
def test_killed_workers_lose_nothing(exam, undisturbed, tmp_path):
    expected, _ = undisturbed
    process = start(exam, tmp_path, workers=2)
    folder = tmp_path / "exam" / ".unfinished"
    assert until(lambda: any(folder.glob("head-*.checked")), process)
    for pid in children_of(process.pid):
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    assert process.wait() == 0
    assert tables_of(tmp_path / "exam") == tables_of(expected)


def test_interrupted_it_says_that_the_same_command_goes_on(exam, tmp_path):
    command = [sys.executable, "-m", "capsieve", "screen", str(exam), "-o", str(tmp_path)]
    command += ["--workers", "2"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        folder = tmp_path / "exam" / ".unfinished"
        assert until(lambda: any(folder.glob("head-*.checked")), process)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said


def children_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(child) for child in path.read_text(encoding="utf-8").split()]
    except OSError:
        return []
