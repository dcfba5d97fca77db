"""The cache of compiled kernels, in processes with a cache folder of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNELS = """
from capsieve.compiling import compiled

@compiled
def twice(number):
    return 2 * number

@compiled
def thrice(number):
    return 3 * number
"""
ANNOUNCED = """
from capsieve.compiling import on_first_compilation
on_first_compilation(lambda: print("compiling"))
import some_kernels
print("before")
print(some_kernels.twice(1), some_kernels.thrice(1))
"""


@pytest.fixture
def run(tmp_path):
    """Return a function that runs a script with an empty cache, and returns what it prints."""
    (tmp_path / "some_kernels.py").write_text(KERNELS)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def result(script: str, **variables: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            check=True,
            text=True,
            cwd=tmp_path,
            env=environment | variables,
        )
        return done.stdout.splitlines()

    return result


def test_the_first_compilation_is_announced_once_and_never_with_a_filled_cache(run):
    assert run(ANNOUNCED) == ["before", "compiling", "2 3"]
    assert run(ANNOUNCED) == ["before", "2 3"]


def test_a_later_announcement_replaces_an_earlier_one(run):
    twice = ANNOUNCED.replace(
        "import some", "on_first_compilation(lambda: print('again'))\nimport some"
    )
    assert run(twice) == ["before", "again", "2 3"]


def test_work_is_compiled_when_it_was_marked_and_not_when_one_kernel_is_cached(run):
    script = """
import some_kernels
from capsieve.compiling import is_compiled, mark_compiled
some_kernels.twice(1)
print(is_compiled("analysis"))
mark_compiled("analysis")
print(is_compiled("analysis"), is_compiled("evidence"))
"""
    assert run(script) == ["False", "True False"]
    assert run("from capsieve.compiling import is_compiled\nprint(is_compiled('analysis'))") == [
        "True"
    ]


def test_the_folder_is_named_by_a_digest_of_the_kernels(run, tmp_path):
    show = "from capsieve import compiling\nprint(compiling._folder())"
    other = """
from pathlib import Path
read = Path.read_bytes
Path.read_bytes = lambda path: read(path) + b"#" * (path.name == "ball.py")
"""
    (usual,) = run(show)
    (changed,) = run(other + show)
    assert Path(usual).parent == Path(changed).parent == tmp_path / "cache"
    assert usual != changed


def test_without_a_folder_to_write_kernels_are_compiled_in_memory(run, tmp_path):
    # A file in place of each folder: permissions would not stop root.
    blocked = tmp_path / "file"
    blocked.touch()
    script = """
from pathlib import Path
from capsieve import compiling
compiling._HERE = Path("file")
import some_kernels
print(some_kernels.twice(2), compiling.is_compiled("analysis"))
compiling.mark_compiled("analysis")
"""
    place = str(blocked / "inside")
    assert run(script, NUMBA_CACHE_DIR=place, XDG_CACHE_HOME=place) == ["4 False"]


def test_a_shared_folder_is_never_used(run):
    script = """
from capsieve import compiling
print(*compiling._parents(), sep="\\n")
"""
    places = run(script, NUMBA_CACHE_DIR="", XDG_CACHE_HOME="", HOME="/home/somebody")
    assert places[-1] == "/home/somebody/.cache/capsieve"
    assert len(places) == 2
    assert places[0].endswith("capsieve/__pycache__")
