"""Long commands that are killed at random moments and started again write the same files."""

import hashlib
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from support.commands import run_command
from support.exams import write_exam_video
from support.training_study import write_study, write_study_labels

_LABELS = "exam,frame,label,polyp,patient\n"
_FAST = "--workers 2 --quiet"

# Command line, and the folders or files that it writes. Inputs are made by _prepare.
COMMANDS = {
    "screen": (f"screen exams -o results {_FAST}", ["results"]),
    "evaluate": ("evaluate screened --labels labels.csv -o evaluation", ["evaluation"]),
    "calibrate": (
        "calibrate screened --labels labels.csv --specificity 60 -o calibration",
        ["calibration"],
    ),
    "search": (
        f"search exams --labels labels.csv --settings 4 --folds 2 -o found {_FAST}",
        ["found"],
    ),
    "robustness": (
        f"robustness exams --labels labels.csv --parameter M_U -o robust {_FAST}",
        ["robust"],
    ),
    "train": (
        f"train studied --model svm --labels studied.csv --folds 4 -o m.onnx {_FAST}",
        ["m.onnx", "m.folds.csv", "m.scores.csv", "m.onnx.work"],
    ),
    "phantom": (
        f"phantom --patients 2 --frames 40 --polyps 1 --size 128 -o study {_FAST}",
        ["study"],
    ),
    "demo": (f"demo -o demo {_FAST}", ["demo"]),
}


def _prepare(command: str, folder: Path) -> None:
    """Make the inputs of a command, and screen them if it needs results."""
    if command in ("phantom", "demo"):
        return
    if command == "train":
        write_study(folder / "study-exams")
        write_study_labels(folder / "studied.csv")
        _run(f"screen study-exams -o studied {_FAST}", folder)
        return
    lines = []
    frames = 100 if command in ("robustness", "search") else 300
    for exam in ("a", "b"):
        write_exam_video(folder / "exams" / f"{exam}.mp4", frames)
        for frame in range(frames):
            polyp = frame % 20 < 6
            label = f"polyp,{frame // 100}" if polyp else "normal,"
            lines.append(f"{exam},{frame},{label},{exam}\n")
    (folder / "labels.csv").write_text(_LABELS + "".join(lines))
    if command in ("evaluate", "calibrate"):
        _run(f"screen exams -o screened {_FAST}", folder)


def _run(line: str, folder: Path) -> float:
    started = time.monotonic()
    result = run_command(*line.split(), cwd=folder)
    assert result.returncode == 0, result.stderr
    return time.monotonic() - started


def _take(folder: Path, written: list[str]) -> dict[str, str]:
    """Return the hash of every file that a command wrote, and remove what it wrote."""
    found: dict[str, str] = {}
    for name in written:
        path = folder / name
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            content = hashlib.sha256(file.read_bytes()).hexdigest()
            found[file.relative_to(folder).as_posix()] = content
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return found


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_killed_command_continues_to_the_same_files(
    command: str,
    soak_seed: int,
    soak_minutes: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Files that differ between two runs without a kill, such as those with times, must exist."""
    line, written = COMMANDS[command]
    _prepare(command, tmp_path)
    usual = _run(line, tmp_path)
    first = _take(tmp_path, written)
    usual = min(usual, _run(line, tmp_path))
    second = _take(tmp_path, written)
    assert first.keys() == second.keys()
    same = {name for name in first if first[name] == second[name]}
    chance = random.Random(f"{soak_seed} {command}")
    end = time.monotonic() + 60 * soak_minutes / len(COMMANDS)
    counts: Counter[str] = Counter()
    while not counts["runs"] or time.monotonic() < end:
        counts["kills"] += _finish(line, tmp_path, lambda: chance.uniform(0.2, usual))
        counts["runs"] += 1
        found = _take(tmp_path, written)
        assert found.keys() == first.keys()
        assert {name for name in same if found[name] != first[name]} == set()
    with capsys.disabled():
        print(
            f"\n{command}: {counts['kills']} kills, {counts['runs']} runs; {len(same)} of "
            f"{len(first)} files have the same bytes in every run"
        )


def _finish(line: str, folder: Path, wait: Callable[[], float]) -> int:
    """Run a command until it ends by itself, and return how often it was killed."""
    command = [sys.executable, "-m", "capsieve", *line.split()]
    kills = 0
    while True:
        with (folder / "stderr.txt").open("wb") as messages:
            process = subprocess.Popen(
                command, cwd=folder, stdout=subprocess.DEVNULL, stderr=messages
            )
            try:
                # After five kills it may take as long as it needs.
                code = process.wait(wait() if kills < 5 else None)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
        if code == -signal.SIGKILL:
            kills += 1
            continue
        assert code == 0, (folder / "stderr.txt").read_text()
        return kills
