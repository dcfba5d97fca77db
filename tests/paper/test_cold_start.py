"""The process that compiles the kernels gives the results of later processes, bit for bit."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import capsieve
from sample_frames import GOLDEN_FRAMES, golden_frame

everything = capsieve.Parameters(texture_low=0, texture_high=1000)
for name in GOLDEN_FRAMES:
    print(name, capsieve.analyze(golden_frame(name)[0], everything))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)  # compiling takes minutes on a busy machine
def test_process_that_compiles_and_later_process_give_the_same_results(tmp_path):
    # Another pattern in uninitialised memory (glibc) must not change anything either.
    cold = run(tmp_path, MALLOC_PERTURB_="128")
    assert any(tmp_path.rglob("*.nbi")), "nothing was cached"
    warm = run(tmp_path)
    assert len(cold.splitlines()) > 10
    assert cold == warm


def run(cache: Path, **environment: str) -> str:
    """Return the results on the golden frames, as text that distinguishes every float."""
    tests = Path(__file__).parents[1]
    paths = os.pathsep.join([str(tests), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": paths} | environment
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.run(
        command, env=environment, capture_output=True, check=True, text=True
    ).stdout
