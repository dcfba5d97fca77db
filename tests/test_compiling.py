"""Where compiled code is kept."""

import os
import subprocess
import sys
from pathlib import Path

import capsieve

SCRIPT = """
import numpy as np
from capsieve import compiling
from capsieve.paper.kernels.gray import gray
pixels, out = np.full((4, 4, 3), 9, np.uint8), np.empty((4, 4), np.float32)
before = compiling.is_compiled()
gray(pixels, out)
print(before, compiling.is_compiled(), compiling._folder() is not None, float(out[0, 0]))
"""


def run(**environment):
    source = str(Path(capsieve.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_the_second_run_finds_what_the_first_compiled(tmp_path):
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:3] == ["False", "True", "True"]
    assert run(NUMBA_CACHE_DIR=str(tmp_path))[:3] == ["True", "True", "True"]


def test_the_users_own_setting_of_numba_is_left_alone(tmp_path):
    code = (
        "import numba; before = numba.config.CACHE_DIR\n"
        "import capsieve.paper.kernels.gray\nassert numba.config.CACHE_DIR == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
