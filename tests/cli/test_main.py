import shlex
import subprocess
import sys

import pytest

import capsieve
from capsieve.cli import main as main_module
from capsieve.cli.main import main

COMMANDS = ("calibrate", "demo", "evaluate", "explain", "model", "parameters", "phantom", "report")
COMMANDS += ("review", "robustness", "screen", "splits", "train")


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
