"""``capsieve report`` as a user meets it."""

import json
import sqlite3
from contextlib import closing

import pytest

from capsieve.cli.report import NOT_TO_RELY_ON
from html_page import Page
from made_reading import Scribe, choose_way
from support.small_exam import FRAMES, write_small_exam


@pytest.fixture
def exam(tmp_path):
    return write_small_exam(tmp_path / "out", tmp_path / "source")


def test_the_report_lies_beside_the_results(run, exam):
    Scribe(exam).find("a", 3, size="small", size_frame=3)
    result = run("report", exam)
    assert result.exit_code == 0
    assert "small: DRAFT" in result.stdout
    assert f"Wrote {exam / 'reading.html'}" in result.stdout
    assert "small (6 to 9 mm)" in Page((exam / "reading.html").read_text(encoding="utf-8")).text


def test_json_is_all_that_is_printed(run, exam, tmp_path):
    anna = Scribe(exam)
    anna.find("a", 3, size="small", size_frame=3)
    anna.look(range(6))
    anna.sign()
    file = tmp_path / "report.html"
    told = json.loads(run("report", exam, "-o", file, "--json").stdout)
    assert told["exam"] == "small"
    assert told["files"] == [str(file)]
    assert told["signature_holds"] is True
    assert not told["draft"]
    assert told["seen"]["frames"] == 6
    assert told["seen"]["of"] == FRAMES
    assert told["reading"]["findings"][0]["size"] == "small"
    assert file.is_file()


def test_an_exam_without_decisions_has_a_report(run, exam):
    result = run("report", exam)
    assert result.exit_code == 0
    assert "NOT READ" in result.stdout
    assert sorted(path.name for path in exam.parent.iterdir()) == ["small"]


def test_a_frame_without_picture_is_told(run, exam, tmp_path):
    Scribe(exam).find("a", 3)
    (tmp_path / "source" / "frame3.png").unlink()
    result = run("report", exam)
    assert result.exit_code == 0
    assert "no picture of finding 1" in result.stderr


def test_a_signature_that_does_not_hold_is_told(run, exam):
    anna = Scribe(exam)
    anna.find("a", 3)
    anna.sign()
    record = json.loads((exam / "exam.json").read_text(encoding="utf-8"))
    record["versions"]["capsieve"] = "another"
    (exam / "exam.json").write_text(json.dumps(record), encoding="utf-8")
    result = run("report", exam, "--json")
    assert result.exit_code == NOT_TO_RELY_ON == 3
    assert "the signature does not hold" in result.stderr
    assert "does not hold" in (exam / "reading.html").read_text(encoding="utf-8")
    told = json.loads(result.stdout)
    assert told["signature_holds"] is False
    assert len(told["signature_problems"]) == 1


def damage(exam, statement):
    with closing(sqlite3.connect(exam.parent / "decisions.sqlite")) as database, database:
        for action in ("update", "delete"):
            database.execute(f"DROP TRIGGER capsieve_entries_{action}")
        database.execute(statement)


def test_a_signature_that_cannot_be_read_is_told_and_the_report_is_written(run, exam):
    Scribe(exam).find("a", 3)
    Scribe(exam).sign()
    damage(exam, "UPDATE capsieve_entries SET content = '{}' WHERE kind = 'sign'")
    result = run("report", exam)
    assert result.exit_code == NOT_TO_RELY_ON
    assert "small: SIGNED" in result.stdout
    assert "the signature cannot be checked" in result.stderr
    page = Page((exam / "reading.html").read_text(encoding="utf-8")).text
    assert "The signature does not hold" in page
    assert "The statement cannot be read." in page


def test_a_decision_that_cannot_be_read_is_told_on_top(run, exam):
    anna = Scribe(exam)
    anna.find("a", 3)
    anna.write("note", "exam", text="fine")
    damage(exam, "UPDATE capsieve_entries SET content = '[' WHERE kind = 'finding'")
    result = run("report", exam, "--json")
    assert result.exit_code == NOT_TO_RELY_ON
    assert "entry 1 (finding, by anna" in result.stderr
    assert len(json.loads(result.stdout)["unreadable"]) == 1
    page = Page((exam / "reading.html").read_text(encoding="utf-8")).text
    assert "Not all that was decided can be read" in page
    assert "fine" in page


@pytest.mark.parametrize(("signed", "code"), [(False, NOT_TO_RELY_ON), (True, 0)])
def test_missing_entries_matter_unless_a_signature_holds(run, exam, signed, code):
    other = Scribe(exam)
    other.who["exam"] = "another"
    other.write("note", "exam", text="gone")
    Scribe(exam).find("a", 3)
    if signed:
        Scribe(exam).sign()
    damage(exam, "DELETE FROM capsieve_entries WHERE exam = 'another'")
    result = run("report", exam)
    assert result.exit_code == code
    assert ("lacks 1 of its entries" in result.stderr) is not signed


def test_the_codes_are_told_by_help(run):
    assert "Exit code 3" in run("report", "--help").stdout


def test_decisions_may_lie_elsewhere(run, exam, tmp_path):
    Scribe(exam).find("a", 3)
    (exam.parent / "decisions.sqlite").rename(tmp_path / "kept.sqlite")
    result = run("report", exam, "--database", tmp_path / "kept.sqlite")
    assert "DRAFT" in result.stdout


def test_whose_blind_reading_is_chosen(run, exam):
    choose_way(exam, "blind")
    Scribe(exam, "anna").find("a", 3)
    assert run("report", exam, "--reader", "anna").exit_code == 0
    failed = run("report", exam, "--reader", "boris")
    assert failed.exit_code == 1
    assert "boris has written nothing" in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nowhere",), "holds no screened exam"),
        (("out",), "say which"),
        (("out/small", "--version", "2"), "there is only version 1"),
        (("out/small", "--database", "absent.sqlite"), "no such file"),
        (("out/small", "-o", "absent/report.html"), "there is no folder"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(run, exam, monkeypatch, arguments, words):
    monkeypatch.chdir(exam.parents[1])
    result = run("report", *arguments)
    assert result.exit_code == 1
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_the_name_of_a_pdf_needs_the_option(run, exam, tmp_path):
    assert run("report", exam, "-o", tmp_path / "report.pdf").exit_code == 2


def test_a_pdf_lies_beside_the_page(run, exam, tmp_path, monkeypatch):
    written = {}
    monkeypatch.setattr("capsieve.report.reading_pdf.require_pdf", lambda: None)
    monkeypatch.setattr(
        "capsieve.report.reading_pdf.write_pdf", lambda page, path: written.update({path: page})
    )
    assert run("report", exam, "--pdf", "-o", tmp_path / "a.pdf").exit_code == 0
    assert run("report", exam, "--pdf", "-o", tmp_path / "b.html").exit_code == 0
    assert list(written) == [tmp_path / "a.pdf", tmp_path / "b.pdf"]
    for name in ("a", "b"):
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert page == written[tmp_path / f"{name}.pdf"]


def test_a_missing_package_is_named_before_anything_is_written(run, exam, monkeypatch):
    monkeypatch.setattr("capsieve.review.extra._PACKAGES", ("no_such_package",))
    result = run("report", exam)
    assert result.exit_code == 1
    assert "pip install 'capsieve[review]'" in result.stderr
    assert not (exam / "reading.html").exists()
