import subprocess
import sys
from importlib.metadata import version

import pytest

import capsieve

HEAVY = ["PIL", "click", "cv2", "matplotlib", "numba", "numpy", "pyarrow", "scipy"]
PUBLIC: list[str] = vars(capsieve)["__all__"]
CALLED_BY_OTHERS = {
    "Parameters",
    "FieldOfView",
    "analyze",
    "calibrate",
    "evaluate",
    "explain",
    "find_field_of_view",
    "load_detector",
    "phantom",
    "read_labels",
    "screen",
    "train",
}


def imported_by(statement: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_the_names_that_others_call_are_public() -> None:
    assert set(PUBLIC) >= CALLED_BY_OTHERS


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_resolves_and_has_a_docstring(name: str) -> None:
    assert getattr(capsieve, name).__doc__


def test_dir_and_a_star_import_have_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from capsieve import *", names)
    assert set(PUBLIC) <= set(names)
    assert set(PUBLIC) <= set(dir(capsieve))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError):
        capsieve.polyp  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


def test_a_class_of_the_public_interface_is_that_of_its_module() -> None:
    from capsieve.errors import FileError

    assert capsieve.FileError is FileError


@pytest.mark.parametrize(
    "statement",
    ["import capsieve", "from capsieve import __version__, Parameters, CapsieveError"],
)
def test_nothing_heavy_is_imported_until_it_is_used(statement: str) -> None:
    assert not imported_by(statement) & set(HEAVY)


def test_a_module_is_imported_when_its_name_is_used() -> None:
    assert "capsieve.frames" in imported_by("import capsieve\ncapsieve.FieldOfView")


def test_the_version_is_that_of_the_installed_package() -> None:
    assert capsieve.__version__ == version("capsieve")
