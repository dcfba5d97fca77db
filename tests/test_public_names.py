import subprocess
import sys

import pytest

import capsieve

PUBLIC = [
    "CapsieveError",
    "Detector",
    "Evaluation",
    "Explanation",
    "Feature",
    "FieldOfView",
    "FileError",
    "Frame",
    "FrameError",
    "FrameResult",
    "LeakError",
    "Metric",
    "MissingExtraError",
    "OccupiedError",
    "ParameterError",
    "Parameters",
    "Placement",
    "Progress",
    "ScreenedExam",
    "WorkerError",
    "__version__",
    "analyze",
    "evaluate",
    "explain",
    "find_field_of_view",
    "load_detector",
    "phantom",
    "screen",
]
HEAVY = ["PIL", "click", "cv2", "matplotlib", "numba", "numpy", "scipy"]


def imported_by(statement: str) -> set[str]:
    """Return the packages that a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_the_public_names_are_these_and_sorted() -> None:
    assert capsieve.__all__ == PUBLIC
    assert sorted(PUBLIC) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves(name: str) -> None:
    assert getattr(capsieve, name) is not None


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert getattr(capsieve, name).__doc__


def test_dir_lists_the_public_names() -> None:
    assert set(PUBLIC) <= set(dir(capsieve))


def test_a_star_import_brings_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from capsieve import *", names)
    assert set(PUBLIC) <= set(names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'capsieve' has no attribute 'polyp'"):
        capsieve.polyp  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_submodules_import_as_usual() -> None:
    assert "capsieve" in imported_by("from capsieve import errors, parameters")


@pytest.mark.parametrize(
    "statement",
    ["import capsieve", "from capsieve import __version__, Parameters, CapsieveError"],
)
def test_nothing_heavy_is_imported_until_it_is_used(statement: str) -> None:
    assert not imported_by(statement) & set(HEAVY)


def test_the_version_is_that_of_the_installed_package() -> None:
    from importlib.metadata import version

    assert capsieve.__version__ == version("capsieve")
