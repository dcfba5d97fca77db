"""One run at a time."""

import os
import signal
import subprocess
import sys

import pytest

from capsieve.errors import FileError, OccupiedError
from capsieve.store.lock import LOCK, locked

HOLD = """
import sys, time
from pathlib import Path
from capsieve.store.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_is_told_who_is_there(tmp_path):
    with (
        locked(tmp_path),
        pytest.raises(OccupiedError, match=rf"another run .* \(process {os.getpid()} on "),
        locked(tmp_path),
    ):
        pass


def test_nothing_is_left_behind(tmp_path):
    with locked(tmp_path):
        assert (tmp_path / LOCK).exists()
    assert not list(tmp_path.iterdir())


def test_the_lock_goes_with_a_killed_process(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(OccupiedError), locked(tmp_path):
            pass
        other.send_signal(signal.SIGKILL)
        other.wait()
    with locked(tmp_path):
        pass


def test_a_failure_inside_lets_go(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path):
        _ = 1 / 0
    with locked(tmp_path):
        pass


def test_no_folder_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="cannot write to"), locked(tmp_path / "absent"):
        pass
