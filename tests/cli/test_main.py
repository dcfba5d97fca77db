import os
import shlex
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import capsieve
from capsieve.cli import main as main_module
from capsieve.cli.main import main
from support.exams import write_exam_images

COMMANDS = ("calibrate", "demo", "evaluate", "explain", "model", "parameters", "phantom", "report")
COMMANDS += ("flag", "review", "robustness", "screen", "search", "splits", "train", "users")


def capsieve_command(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "capsieve", *arguments],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_version(run):
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"capsieve, version {capsieve.__version__}\n"


def test_help_lists_every_command(run):
    result = run("--help")
    assert result.exit_code == 0
    for command in COMMANDS:
        assert command in result.stdout


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_an_example(run, command):
    result = run(*filter(None, [command]), "--help")
    assert result.exit_code == 0
    assert "Example:\n    capsieve" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("nonsense",), ("explain",), ("explain", "a", "b"), ("demo", "--nonsense")]
)
def test_wrong_usage_is_exit_code_2(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage:" in result.stderr


def test_an_option_that_is_given_twice_is_wrong_usage(run):
    line = "evaluate scores.csv --labels labels.csv -o evaluation --regions"
    result = run(*line.split(), "masks", "--regions", "boxes")
    assert result.exit_code == 2
    assert "--regions is given 2 times" in result.stderr


@pytest.mark.parametrize(
    ("typed", "meant"), [("scren", "screen"), ("Screen", "screen"), ("usr", "users")]
)
def test_a_misspelt_command_gets_a_suggestion(run, typed, meant):
    result = run(typed)
    assert result.exit_code == 2
    assert repr(meant) in result.stderr


def test_a_command_like_no_other_gets_no_suggestion(run):
    result = run("xyzzy")
    assert not [name for name in COMMANDS if repr(name) in result.stderr]


@pytest.mark.parametrize("arguments", [("--help",), ("explain", "--help"), ("--version",)])
def test_start_up_imports_nothing_heavy(arguments):
    heavy = ["numba", "cv2", "matplotlib", "scipy", "PIL", "numpy"]
    code = (
        "import sys\n"
        "from capsieve.cli.main import main\n"
        "try:\n"
        f"    main({list(arguments)!r})\n"
        "except SystemExit as end:\n"
        "    assert not end.code\n"
        f"sys.exit(' '.join(name for name in {heavy!r} if name in sys.modules) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_module_runs_as_the_command():
    done = capsieve_command("--version")
    assert (done.returncode, done.stdout) == (0, f"capsieve, version {capsieve.__version__}\n")


def test_a_failure_is_one_line_and_exit_code_1(tmp_path):
    done = capsieve_command("explain", str(tmp_path / "absent.png"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("capsieve: ")
    assert str(tmp_path / "absent.png") in done.stderr
    assert done.stderr.count("\n") == 1


def test_wrong_usage_of_the_module_is_exit_code_2():
    assert capsieve_command("nonsense").returncode == 2


def test_interruption_is_exit_code_130(monkeypatch):
    def interrupted(self, ctx):
        raise KeyboardInterrupt

    monkeypatch.setattr(main_module._Commands, "invoke", interrupted)
    with pytest.raises(SystemExit) as end:
        main(["parameters"])
    assert end.value.code == 130


def test_a_reader_that_leaves_is_no_traceback():
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m capsieve parameters | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_full_disk_behind_a_redirection_is_one_line():
    done = subprocess.run(
        f"{shlex.quote(sys.executable)} -m capsieve parameters > /dev/full",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("capsieve: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "missing.png"),
        ("screen", "missing.mp4", "-o", "out"),
        ("screen", "missing.mp4", "-o", "out", "--workers", "2"),
        ("robustness", "missing.mp4", "--labels", "missing.csv", "-o", "out"),
        ("train", "missing.mp4", "--labels", "missing.csv", "-o", "model.onnx"),
    ],
)
def test_a_command_that_fails_at_once_does_not_announce_a_compilation(arguments, tmp_path):
    cold = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    result = capsieve_command(*arguments, cwd=tmp_path, env=cold)
    assert result.returncode in (1, 2)
    assert "ompiling" not in result.stderr


@pytest.mark.slow
def test_a_screening_announces_the_compilation_once_and_only_on_the_first_run(tmp_path):
    write_exam_images(tmp_path / "exam", 3)
    cold = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for out, announcements in (("first", 1), ("second", 0)):
        result = capsieve_command(
            *("screen", "exam", "-o", out, "--workers", "2"), cwd=tmp_path, env=cold
        )
        assert result.returncode == 0
        assert result.stderr.count("ompiling") == announcements


def test_a_warning_is_one_line_without_a_path_of_the_source(tmp_path):
    levels = np.random.default_rng(0).integers(0, 256, (64, 64)).astype(np.uint16)
    Image.fromarray(levels).save(tmp_path / "deep.png")
    result = capsieve_command("explain", "deep.png", cwd=tmp_path)
    assert result.returncode == 0
    (line,) = [line for line in result.stderr.splitlines() if "16-bit" in line]
    assert line.startswith("capsieve: warning: ")
    assert ".py" not in result.stderr


@pytest.mark.parametrize("kilobytes", [600_000, 900_000, 1_300_000])
def test_a_limit_of_memory_that_is_too_low_is_one_line(kilobytes):
    command = f"ulimit -v {kilobytes}; {shlex.quote(sys.executable)} -m capsieve model show learned"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert done.stderr.startswith("capsieve: ")
    assert "ulimit -v" in done.stderr
    assert done.stderr.count("\n") == 1


def test_full_memory_is_one_line(run, monkeypatch):
    def full():
        raise MemoryError

    monkeypatch.setattr(main_module, "_check_memory_limit", full)
    result = run("parameters")
    assert result.exit_code == 1
    assert "memory" in result.stderr
    assert "Traceback" not in result.stderr
