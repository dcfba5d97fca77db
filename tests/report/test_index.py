"""The index over exams."""

import re
from pathlib import Path

import pytest

from capsieve.errors import FileError
from capsieve.report.index import write_index
from capsieve.store.record import read_record, write_record
from support.html_page import Page
from support.screened_exam import write_exam

EVIL = "<script>alert(1)<\"'&>"


@pytest.fixture
def exams(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / "out" / name for name in ("a", "b c")]
    for folder in folders:
        write_exam(folder)
    return folders


def test_every_exam_has_a_row_with_its_counts_and_a_link(exams: list[Path]) -> None:
    path = write_index(exams[0].parent, exams)
    html = path.read_text(encoding="utf-8")
    assert {"a/report.html", "b%20c/report.html"} <= set(Page(html).values("href"))
    rows = re.findall("<tr>.*?</tr>", html[html.index("<tbody>") :], re.DOTALL)
    for row, folder in zip(rows, exams, strict=False):
        counts = read_record(folder)["frame_counts"]
        assert f"{counts['to_read']}" in Page(row).text
        assert f"{counts['found']}" in Page(row).text
    assert "not a medical device" in Page(html).text
    assert "://" not in html


def test_incomplete_exams_and_warnings_are_marked(exams: list[Path]) -> None:
    record = read_record(exams[0])
    record["complete"], record["warnings"] = False, [EVIL]
    write_record(record, exams[0])
    html = write_index(exams[0].parent, exams).read_text(encoding="utf-8")
    assert "not complete" in html
    assert "<script" not in html
    assert EVIL in Page(html).text


def test_an_index_is_replaced_and_another_page_is_not(exams: list[Path]) -> None:
    path = write_index(exams[0].parent, exams)
    assert write_index(exams[0].parent, exams) == path
    path.write_text("<p>mine</p>")
    with pytest.raises(FileError, match=re.escape("index.html")):
        write_index(exams[0].parent, exams)
    assert path.read_text() == "<p>mine</p>"
