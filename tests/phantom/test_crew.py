"""The processes that render."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from capsieve.phantom import plan_exam, render_frame
from capsieve.phantom.crew import Crew

SCRIPT = """
import time
from capsieve.phantom import plan_exam
from capsieve.phantom.crew import Crew
if __name__ == "__main__":
    with Crew(2) as crew:
        next(crew.frames(plan_exam(1, frames=40, polyps=0, size=64)))
        print(*crew._pool._processes, flush=True)
        time.sleep(60)
"""


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_workers_go_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "render.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout
        workers = [int(word) for word in parent.stdout.readline().split()]
        assert workers
        assert all(alive(pid) for pid in workers)
        os.kill(parent.pid, signal.SIGKILL)
    until = time.monotonic() + 20
    while any(alive(pid) for pid in workers) and time.monotonic() < until:
        time.sleep(0.2)
    assert not any(alive(pid) for pid in workers)


@pytest.mark.slow
def test_frames_come_in_order_and_are_those_of_one_process():
    plan = plan_exam(2, frames=6, polyps=1, size=64, heads=2)
    with Crew(2) as crew:
        frames = list(crew.frames(plan))
    assert [(frame.truth.number, frame.truth.head) for frame in frames] == [
        (number, head) for number in range(6) for head in range(2)
    ]
    np.testing.assert_array_equal(frames[7].pixels, render_frame(plan, 3, 1).pixels)
