"""Screening that is killed repeatedly writes the same tables as a run without interruption."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.commands import run_command
from support.exams import read_frames, table_bytes, write_exam_video
from support.unfinished import is_complete, is_writing, segments

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


def start(exam: Path, out: Path, workers: int, *options: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "capsieve", "screen", str(exam), "-o", str(out), "--quiet"]
    command += ["--workers", str(workers), *options]
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
    """Yield functions that wait for the moment of the next kill, without end."""

    def any_time(process):
        time.sleep(chance.uniform(0.0, usual))

    def after_the_next_segment(process):
        before = segments(folder)
        until(lambda: segments(folder) > before or is_complete(folder), process)
        time.sleep(chance.uniform(0.0, 0.3))

    def while_a_file_is_being_written(process):
        until(lambda: is_writing(folder), process)

    def at_the_very_end(process):
        until(lambda: is_complete(folder), process)
        time.sleep(chance.uniform(0.0, 0.1))

    while True:
        yield any_time
        yield after_the_next_segment
        yield while_a_file_is_being_written
        yield at_the_very_end


@pytest.mark.slow
def test_runs_killed_at_random_moments_end_with_the_same_tables(exam, undisturbed, tmp_path):
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
        assert table_bytes(out / "exam") == table_bytes(expected)
        assert sorted(path.name for path in (out / "exam").iterdir()) == sorted(
            path.name for path in expected.iterdir()
        )
    numbers = read_frames(expected)["frame"].to_pylist()
    assert numbers == list(range(FRAMES))


@pytest.mark.slow
def test_workers_end_with_a_killed_run(exam, tmp_path):
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
def test_killed_workers_do_not_change_the_tables(exam, undisturbed, tmp_path):
    expected, _ = undisturbed
    process = start(exam, tmp_path, workers=2)
    assert until(lambda: segments(tmp_path / "exam") > 0, process)
    for pid in children_of(process.pid):
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            os.kill(pid, signal.SIGKILL)
    assert process.wait() == 0
    assert table_bytes(tmp_path / "exam") == table_bytes(expected)


def test_an_interrupted_run_can_be_continued(exam, undisturbed, tmp_path):
    expected, _ = undisturbed
    command = [sys.executable, "-m", "capsieve", "screen", str(exam), "-o", str(tmp_path)]
    command += ["--workers", "2"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert until(lambda: segments(tmp_path / "exam") > 0, process)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert segments(tmp_path / "exam") > 0
    assert run_command("screen", exam, "-o", tmp_path, "--quiet").returncode == 0
    assert table_bytes(tmp_path / "exam") == table_bytes(expected)


def test_an_interrupted_run_can_be_continued_with_another_rule(exam, tmp_path):
    process = start(exam, tmp_path / "killed", 2, "--read", "10%")
    assert until(lambda: segments(tmp_path / "killed" / "exam") > 0, process)
    process.kill()
    process.wait()
    command = ("screen", exam, "--quiet", "--read", "5%", "-o")
    assert run_command(*command, tmp_path / "killed").returncode == 0
    assert run_command(*command, tmp_path / "whole").returncode == 0
    killed, whole = (tmp_path / name / "exam" for name in ("killed", "whole"))
    assert table_bytes(killed) == table_bytes(whole)
    record = json.loads((killed / "exam.json").read_text())
    assert record["flagging"]["value"] == 0.05
    assert record["run"]["frames_by_an_earlier_run"] > 0


def children_of(pid: int) -> list[int]:
    """Return the ids of the child processes of a process."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        return [int(child) for child in path.read_text(encoding="utf-8").split()]
    except OSError:
        return []
