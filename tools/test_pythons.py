"""Test reading and screening on every newer Python of this machine, with the newest packages.

The lock files and ``make test`` use one Python. Users of another one get newer packages from
``pip install``; this finds out whether they work. Pythons are searched on the PATH and in pyenv.
"""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / ".venv-pythons"
OLDEST = (3, 12)
EXTRAS = "cluster,learned,review"
TOOLS = ("httpx", "hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
FOLDERS = ("sources", "screening", "store", "cli")


def main() -> int:
    """Test on all Pythons that are found; return 1 if a test fails on one of them."""
    found = dict(sorted(find_pythons()))
    failed = [version for version, python in found.items() if not works_on(version, python)]
    named = {version for version in classified() if version >= OLDEST}
    for version in sorted(named - found.keys()):
        print(f"Python {text(version)}: not found on this machine, not tested")
    for version in found:
        print(f"Python {text(version)}: {'FAILED' if version in failed else 'passed'}")
    return 1 if failed else 0


def find_pythons() -> Iterator[tuple[tuple[int, int], Path]]:
    """Yield version and path of every Python from the oldest one up that can be started."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [*map(Path, os.get_exec_path()), *pyenv.glob("versions/*/bin")]
    for path in {file for folder in folders for file in folder.glob("python3.[0-9][0-9]")}:
        asked = [
            path,
            "-c",
            "import sys; print(*sys.version_info[:3], sys.version_info.releaselevel)",
        ]
        answer = subprocess.run(asked, capture_output=True, text=True, check=False)
        if answer.returncode == 0:  # a shim of pyenv fails for versions that are not chosen
            major, minor, _, level = answer.stdout.split()
            if (int(major), int(minor)) >= OLDEST and level == "final":
                yield (int(major), int(minor)), path


def classified() -> list[tuple[int, ...]]:
    """Return the versions that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [
        line.rpartition(" :: ")[2] for line in project["classifiers"] if "Python :: 3." in line
    ]
    return [tuple(map(int, name.split("."))) for name in names]


def works_on(version: tuple[int, int], python: Path) -> bool:
    """Install capsieve as the README does, with the newest packages, and run the fast tests."""
    print(f"Python {text(version)} ({python})", flush=True)
    folder = ENVIRONMENTS / text(version)
    own = folder / "bin" / "python"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    pip = [own, "-m", "pip", "install", "--quiet", "--upgrade", "--upgrade-strategy", "eager"]
    tests = [f"tests/{name}" for name in FOLDERS]
    run = [
        own,
        "-m",
        "pytest",
        "-q",
        "-n",
        "auto",
        "--dist",
        "loadfile",
        "-m",
        "not slow and not soak",
    ]
    for command in (
        [python, "-m", "venv", folder],
        [*pip, f".[{EXTRAS}]", *TOOLS],
        [*run, "-p", "no:cacheprovider", *tests],
    ):
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            return False
    return True


def text(version: tuple[int, ...]) -> str:
    """Return a version as people write it."""
    return ".".join(map(str, version))


if __name__ == "__main__":
    sys.exit(main())
