"""The exams of a room."""

import json
import os
import shutil

import numpy as np
import pytest

from capsieve.review.catalogue import Catalogue
from capsieve.review.decisions.refusals import UnreachableError
from made_results import write_results


@pytest.fixture
def out(tmp_path):
    write_results(tmp_path / "out" / "exam 2", score=np.zeros(30), time=np.arange(30) / 4)
    write_results(tmp_path / "out" / "exam 10", score=np.zeros(7))
    return tmp_path / "out"


def names(catalogue):
    return [facts.exam for facts in catalogue.exams()]


def found(catalogue, name="exam 2"):
    facts = catalogue.find(name)
    assert facts is not None
    return facts


def test_exams_are_in_natural_order_with_what_was_found(out):
    first, second = Catalogue(out).exams()
    assert (first.exam, first.frames, first.duration_s, first.heads) == ("exam 2", 30, 7.25, (0,))
    assert (second.exam, second.frames, second.duration_s) == ("exam 10", 7, None)


def test_an_exam_that_is_screened_meanwhile_appears(out):
    catalogue = Catalogue(out)
    assert names(catalogue) == ["exam 2", "exam 10"]
    write_results(out / "exam 3", score=np.zeros(3))
    assert names(catalogue) == ["exam 2", "exam 3", "exam 10"]
    shutil.rmtree(out / "exam 3")
    assert names(catalogue) == ["exam 2", "exam 10"]
    assert catalogue.find("exam 3") is None


def test_an_exam_that_is_screened_again_is_read_again(out):
    catalogue = Catalogue(out)
    before = catalogue.find("exam 2")
    shutil.rmtree(out / "exam 2")
    write_results(out / "exam 2", score=np.zeros(31))
    after = catalogue.find("exam 2")
    assert before is not None
    assert after is not None
    assert (before.frames, after.frames) == (30, 31)
    assert before.stamp != after.stamp


def test_what_did_not_change_is_not_read_again(out, monkeypatch):
    catalogue = Catalogue(out)
    catalogue.exams()
    monkeypatch.setattr("capsieve.review.catalogue.read_record", lambda folder: 1 / 0)
    assert names(catalogue) == ["exam 2", "exam 10"]


def damaged_record(folder):
    (folder / "exam.json").write_text("{")


def another_schema(folder):
    (folder / "exam.json").write_text('{"schema": 99}')


def record_without_parts(folder):
    (folder / "exam.json").write_text('{"schema": 1}')


def unreadable_table(folder):
    (folder / "frames.parquet").write_bytes(b"rubbish")


def no_table(folder):
    (folder / "frames.parquet").unlink()


def other_table(folder):
    record = json.loads((folder / "exam.json").read_text())
    record["ledger"]["found"] = 31
    (folder / "exam.json").write_text(json.dumps(record))


def unfinished(folder):
    (folder / "exam.json").unlink()
    (folder / ".unfinished").mkdir()


@pytest.mark.parametrize(
    "breaking",
    [
        damaged_record,
        another_schema,
        record_without_parts,
        unreadable_table,
        no_table,
        other_table,
        unfinished,
    ],
)
def test_a_broken_exam_is_listed_with_its_problem_and_breaks_nothing(out, breaking):
    breaking(out / "exam 2")
    broken, whole = Catalogue(out).exams()
    assert (broken.exam, broken.readable, broken.complete) == ("exam 2", False, False)
    assert len(broken.problems) == 1
    assert broken.problems[0].endswith(".")
    assert str(out) not in broken.problems[0]
    assert whole.readable


def test_other_folders_and_files_are_no_exams(out):
    (out / "notes").mkdir()
    (out / ".hidden").mkdir()
    (out / "report.html").write_text("x")
    assert names(Catalogue(out)) == ["exam 2", "exam 10"]


@pytest.mark.parametrize(
    "name",
    [
        "..",
        ".",
        "",
        "/",
        "../out/exam 2",
        "exam 2/",
        "exam 2/../exam 10",
        "/etc",
        "exam 2\0",
        "x" * 5000,
    ],
)
def test_only_names_of_exams_are_found(out, name):
    assert Catalogue(out).find(name) is None


def test_one_exam_alone_can_be_shown(out):
    catalogue = Catalogue(out, only="exam 10")
    assert names(catalogue) == ["exam 10"]
    assert catalogue.find("exam 2") is None


def test_a_folder_that_is_gone_for_now_is_not_an_empty_one(out):
    catalogue = Catalogue(out)
    before = catalogue.exams()
    os.rename(out, out.with_name("elsewhere"))
    for ask in (catalogue.exams, lambda: catalogue.find("exam 2")):
        with pytest.raises(UnreachableError, match="just now"):
            ask()
    os.rename(out.with_name("elsewhere"), out)
    assert catalogue.exams() == before


def test_an_exam_that_can_be_read_again_is_told_so(out):
    catalogue = Catalogue(out)
    table, kept = out / "exam 2" / "frames.parquet", out / "kept"
    os.rename(table, kept)
    assert not found(catalogue).readable
    os.rename(kept, table)
    assert found(catalogue).readable


def test_another_screening_has_another_name(out):
    catalogue = Catalogue(out)
    before = found(catalogue).screening
    path = out / "exam 2" / "exam.json"
    os.utime(path)
    assert found(catalogue).screening == before
    record = json.loads(path.read_text())
    record["tables"] = {"frames.parquet": "1" * 64}
    path.write_text(json.dumps(record))
    assert found(catalogue).screening != before
