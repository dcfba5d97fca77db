"""Children that hang, crash or fail are recognised; a seed always gives the same damage."""

import os
import random
import time
from pathlib import Path

import numpy as np
import pytest

from capsieve.errors import FileError
from soak.subjects import SUBJECTS
from soak.trials import damaged, intact_reading, run_trial, tried


def fail(error):
    raise error


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda: ["x"], "read"),
        (lambda: fail(FileError("it is damaged")), "refused"),
        (lambda: fail(FileError("it is\ndamaged")), "traceback"),
        (lambda: fail(ValueError("x")), "traceback"),
        (lambda: fail(SystemExit(1)), "traceback"),
        (os.abort, "crash"),
        (lambda: os._exit(3), "crash"),
        (lambda: np.ones(2**40), "crash"),
        (lambda: time.sleep(60), "hang"),
        (lambda: any(iter(int, 1)), "hang"),
    ],
)
def test_what_became_of_a_call_is_recognised(function, found):
    assert tried(function, seconds=1, wall=10)[0] == found


@pytest.mark.parametrize("name", ["video-avi-mjpeg", "scores-csv"])
def test_a_seed_gives_the_same_damage_and_another_one_does_not(name, tmp_path):
    subject = SUBJECTS[name]
    subject.make(tmp_path)
    content = subject.path(tmp_path).read_bytes()
    assert damaged(name, "0-1", content) == damaged(name, "0-1", content)
    assert len({damaged(name, f"0-{number}", content) for number in range(20)}) > 15


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda content: content, "equal"),
        (lambda content: content[: len(content) // 2], "reported"),
        (lambda content: random.Random(1).randbytes(900), "reported"),
    ],
)
def test_trials_are_classified_and_leave_the_file_intact(damage, found, tmp_path: Path):
    intact = intact_reading("image-jpeg", tmp_path)
    before = SUBJECTS["image-jpeg"].path(tmp_path).read_bytes()
    assert run_trial("image-jpeg", tmp_path, intact, damage).found == found
    assert SUBJECTS["image-jpeg"].path(tmp_path).read_bytes() == before
