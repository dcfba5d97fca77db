"""``capsieve report``."""

import json
import subprocess
import sys

import pytest

from support.commands import assert_failed
from support.html_page import Page
from support.readings import ExamReader, choose_workflow, tamper
from support.small_exam import FRAMES, write_small_exam

DATABASE = "decisions.sqlite"
UNRELIABLE = 1  # exit code: a signature or an entry cannot be relied on


@pytest.fixture
def exam(tmp_path):
    return write_small_exam(tmp_path / "out", tmp_path / "source")


def test_the_report_is_written_next_to_the_results(run, exam):
    ExamReader(exam).add_finding("a", 3, size="small")
    result = run("report", exam)
    assert result.exit_code == 0
    assert str(exam / "reading.html") in result.stdout
    assert "small" in Page((exam / "reading.html").read_text(encoding="utf-8")).text


def test_json_is_all_that_is_printed(run, exam, tmp_path):
    anna = ExamReader(exam)
    anna.add_finding("a", 3, size="small")
    anna.see(range(6))
    anna.sign()
    file = tmp_path / "report.html"
    told = json.loads(run("report", exam, "-o", file, "--json").stdout)
    assert told["exam"] == "small"
    assert told["files"] == [str(file)]
    assert told["signature_valid"] is True
    assert not told["draft"]
    assert told["seen"]["displayed"] == 6
    assert told["seen"]["of"] == FRAMES
    assert told["reading"]["findings"][0]["content"]["size"] == "small"
    assert file.is_file()


def test_a_folder_of_exams_gets_an_index(run, exam):
    result = run("report", exam.parent)
    assert result.exit_code == 0, result.output
    page = (exam.parent / "index.html").read_text(encoding="utf-8")
    assert 'href="small/report.html"' in page
    assert_failed(run("report", exam.parent, "--pdf"), "--pdf", code=2)


def test_an_exam_without_decisions_has_a_report(run, exam):
    assert run("report", exam).exit_code == 0
    assert sorted(path.name for path in exam.parent.iterdir()) == ["small"]


def test_a_changed_table_is_refused(run, exam):
    with (exam / "frames.parquet").open("ab") as file:
        file.write(b" ")
    assert_failed(run("report", exam), "frames.parquet", "--overwrite")
    assert not (exam / "reading.html").exists()


def test_a_missing_source_image_does_not_stop_the_report(run, exam, tmp_path):
    ExamReader(exam).add_finding("a", 3)
    (tmp_path / "source" / "frame3.png").unlink()
    result = run("report", exam)
    assert result.exit_code == 0
    assert result.stderr
    assert (exam / "reading.html").is_file()


def test_an_invalid_signature_is_reported(run, exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3)
    anna.sign()
    record = json.loads((exam / "exam.json").read_text(encoding="utf-8"))
    record["sources"][0]["bytes"] += 1
    (exam / "exam.json").write_text(json.dumps(record), encoding="utf-8")
    result = run("report", exam, "--json")
    assert result.exit_code == UNRELIABLE
    told = json.loads(result.stdout)
    assert told["signature_valid"] is False
    assert next(iter(told)) == "problems"
    assert len(told["problems"]) == 1


def test_an_unreadable_signature_is_reported_and_the_report_is_written(run, exam):
    ExamReader(exam).add_finding("a", 3)
    ExamReader(exam).sign()
    tamper(exam.parent / DATABASE, "UPDATE capsieve_entries SET content = '{}' WHERE kind = 'sign'")
    result = run("report", exam)
    assert result.exit_code == UNRELIABLE
    assert (exam / "reading.html").is_file()
    assert json.loads(run("report", exam, "--json").stdout)["signature_valid"] is False


def test_an_unreadable_entry_is_reported_and_the_others_are_shown(run, exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3)
    anna.note("fine")
    tamper(
        exam.parent / DATABASE, "UPDATE capsieve_entries SET content = '[' WHERE kind = 'finding'"
    )
    result = run("report", exam, "--json")
    assert result.exit_code == UNRELIABLE
    assert len(json.loads(result.stdout)["problems"]) == 1
    page = Page((exam / "reading.html").read_text(encoding="utf-8")).text
    assert "fine" in page


@pytest.mark.parametrize(("signed", "code"), [(False, UNRELIABLE), (True, 0)])
def test_missing_entries_matter_unless_a_signature_holds(run, exam, signed, code):
    other = ExamReader(exam)
    other.exam = "another"
    other.note("gone")
    ExamReader(exam).add_finding("a", 3)
    if signed:
        ExamReader(exam).sign()
    tamper(exam.parent / DATABASE, "DELETE FROM capsieve_entries WHERE exam = 'another'")
    assert run("report", exam).exit_code == code


def test_the_database_can_be_anywhere(run, exam, tmp_path):
    ExamReader(exam).add_finding("a", 3)
    (exam.parent / DATABASE).rename(tmp_path / "kept.sqlite")
    result = run("report", exam, "--database", tmp_path / "kept.sqlite", "--json")
    assert len(json.loads(result.stdout)["reading"]["findings"]) == 1


def test_whose_blind_reading_is_chosen(run, exam):
    choose_workflow(exam, "blind")
    ExamReader(exam, "anna").add_finding("a", 3)
    assert run("report", exam, "--reader", "anna").exit_code == 0
    assert_failed(run("report", exam, "--reader", "boris"), "--reader", "boris", code=2)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("nowhere",), "nowhere"),
        (("source",), "source"),
        (("out/small", "--database", "absent.sqlite"), "absent.sqlite"),
        (("out/small", "-o", "absent/report.html"), "absent"),
    ],
)
def test_a_failure_names_its_cause_in_one_line(run, exam, monkeypatch, arguments, named):
    monkeypatch.chdir(exam.parents[1])
    assert_failed(run("report", *arguments), named)


def test_the_name_of_a_pdf_needs_the_option(run, exam, tmp_path):
    assert run("report", exam, "-o", tmp_path / "report.pdf").exit_code == 2


def test_a_pdf_lies_beside_the_page(run, exam, tmp_path, monkeypatch):
    written = {}
    monkeypatch.setattr("capsieve.report.page.require_pdf", lambda: None)
    monkeypatch.setattr("capsieve.report.page.pdf", lambda page, path: written.update({path: page}))
    assert run("report", exam, "--pdf", "-o", tmp_path / "a.pdf").exit_code == 0
    assert run("report", exam, "--pdf", "-o", tmp_path / "b.html").exit_code == 0
    assert list(written) == [tmp_path / "a.pdf", tmp_path / "b.pdf"]
    for name in ("a", "b"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert page == written[tmp_path / f"{name}.pdf"]


def test_a_revision_that_does_not_exist_is_a_usage_error(run, exam):
    ExamReader(exam).add_finding("a", 3)
    result = run("report", exam, "--revision", "2")
    assert_failed(result, "--revision", "only revision 1", code=2)


_WITHOUT = """
import sys
for name in ("fastapi", "sqlalchemy", "uvicorn"):
    sys.modules[name] = None
from capsieve.cli.main import main
main(["report", sys.argv[1]])
"""


@pytest.mark.parametrize("decided", [False, True])
def test_the_report_needs_no_server_and_sqlalchemy_only_for_decisions(exam, decided):
    if decided:
        ExamReader(exam).add_finding("a", 3)
    result = subprocess.run(
        [sys.executable, "-c", _WITHOUT, exam], capture_output=True, text=True, check=False
    )
    assert result.returncode == int(decided), result.stderr
    assert ("capsieve[review]" in result.stderr) == decided
    assert (exam / "reading.html").is_file() != decided
