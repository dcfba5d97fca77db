"""``capsieve flag``."""

import json
import shutil

import pytest

from support.commands import assert_failed
from support.exams import write_exam_images


@pytest.fixture(scope="module")
def screened(tmp_path_factory):
    from support.commands import invoke

    folder = tmp_path_factory.mktemp("flag")
    write_exam_images(folder / "source" / "a", 12)
    invoke("screen", folder / "source", "-o", folder / "out", "--workers", "1")
    return folder


@pytest.fixture
def out(screened, tmp_path):
    """A copy of the results."""
    return shutil.copytree(screened / "out", tmp_path / "out")


def test_the_new_counts_and_the_report_are_printed(run, out):
    result = run("flag", out, "--read", "3")
    assert result.exit_code == 0
    assert "3 of 12 frames to read" in result.stdout
    assert str(out / "a" / "report.html") in result.stdout
    assert run("flag", out / "a", "--threshold", "37").exit_code == 0


def test_json_has_the_rule(run, out, tmp_path):
    result = run("flag", out, "--read", "3", "-o", tmp_path / "second", "--json")
    (exam,) = json.loads(result.stdout)["exams"]
    assert exam["folder"] == str(tmp_path / "second" / "a")
    assert (exam["flagging"]["rule"], exam["flagging"]["frames"]) == ("count", 3)


@pytest.mark.parametrize(
    "options", [(), ("--read", "0"), ("--read", "200%"), ("--read", "3", "--threshold", "3")]
)
def test_wrong_rules_are_wrong_usage(run, out, options):
    assert run("flag", out, *options).exit_code == 2


@pytest.mark.parametrize("options", [(), ("--read", "3", "--threshold", "3")])
def test_a_rule_is_given_by_exactly_one_option(run, out, options):
    assert_failed(run("flag", out, *options), "--read", "--threshold", code=2)


def test_empty_paths_are_wrong_usage(run, out):
    assert_failed(run("flag", "", "--read", "3"), "empty", code=2)
    assert_failed(run("flag", out, "--read", "3", "-o", ""), "empty", code=2)


def test_a_folder_without_exams_is_named(run, tmp_path):
    assert_failed(run("flag", tmp_path, "--read", "3"), tmp_path)


def test_a_damaged_exam_is_exit_code_1(run, out):
    (out / "a" / "events.parquet").unlink()
    assert_failed(run("flag", out, "--read", "3"), out / "a")


def test_the_list_of_an_exam_with_entries_can_only_become_longer(run, out, tmp_path):
    pytest.importorskip("sqlalchemy")
    from support.readings import ExamReader

    assert run("flag", out, "--read", "4").exit_code == 0
    anna = ExamReader(out / "a")
    before = anna.writer.screening
    anna.add_finding("one", 1)
    assert_failed(run("flag", out, "--read", "3"), out / "a", "-o")
    assert run("flag", out, "--read", "6").exit_code == 0
    record = json.loads((out / "a" / "exam.json").read_text())
    assert record["flagging"]["frames"] == 6
    assert anna.writer.screening == before
    assert run("flag", out, "--read", "3", "-o", tmp_path / "second").exit_code == 0


def test_a_signed_exam_is_not_changed_in_place(run, out, tmp_path):
    pytest.importorskip("sqlalchemy")
    from support.readings import ExamReader

    ExamReader(out / "a").note("fine")
    ExamReader(out / "a").sign()
    before = (out / "a" / "exam.json").read_bytes()
    assert_failed(run("flag", out, "--read", "12"), out / "a", "-o")
    assert (out / "a" / "exam.json").read_bytes() == before
    assert run("flag", out, "--read", "3", "-o", tmp_path / "second").exit_code == 0


def test_a_missing_database_is_named(run, out, tmp_path):
    absent = tmp_path / "absent.sqlite"
    assert_failed(run("flag", out, "--read", "3", "--database", absent), absent)
