"""``capsieve backup`` and ``capsieve restore``."""

import json

import pytest

from support.commands import assert_failed
from support.readings import ExamReader
from support.small_exam import write_small_exam


@pytest.fixture
def exam(tmp_path):
    folder = write_small_exam(tmp_path / "out", tmp_path / "source")
    anna = ExamReader(folder)
    anna.add_finding("a", 3)
    anna.see(range(6))
    anna.sign()
    return folder


def test_a_backup_is_restored_with_its_signature(run, exam, tmp_path):
    out, file = exam.parent, tmp_path / "decisions.backup"
    result = run("backup", out, "-o", file)
    assert result.exit_code == 0
    assert str(file) in result.stdout
    assert "2 entries about 1 exam" in result.stdout
    for path in out.glob("decisions.sqlite*"):
        path.unlink()
    assert run("restore", file, "-o", out).exit_code == 0
    report = json.loads(run("report", exam, "--json").stdout)
    assert report["signature_valid"] is True
    assert report["seen"]["displayed"] == 6


def test_json_has_the_numbers(run, exam, tmp_path):
    file = tmp_path / "decisions.backup"
    told = json.loads(run("backup", exam.parent, "-o", file, "--json").stdout)
    assert told == {"written": str(file), "entries": 2, "exams": 1, "viewed": 1}
    other = tmp_path / "other.sqlite"
    result = run("restore", file, "-o", exam.parent, "--database", other, "--json")
    assert json.loads(result.stdout)["written"] == str(other)


def test_nothing_is_overwritten(run, exam, tmp_path):
    out, file = exam.parent, tmp_path / "decisions.backup"
    assert run("backup", out, "-o", file).exit_code == 0
    assert_failed(run("backup", out, "-o", file), file)
    assert_failed(run("restore", file, "-o", out), out / "decisions.sqlite")


def test_a_missing_database_or_file_is_named(run, tmp_path):
    assert_failed(run("backup", tmp_path, "-o", tmp_path / "f"), tmp_path / "decisions.sqlite")
    assert_failed(run("restore", tmp_path / "f", "-o", tmp_path), tmp_path / "f")
    assert list(tmp_path.iterdir()) == []
