"""The page of a reproduction."""

from matplotlib.figure import Figure

from capsieve.report.figures import Drawing
from capsieve.report.reproduce import ReproducedStudy, write_reproduction
from capsieve.result_table import Column, Table
from support.html_page import Page

TABLES = ("numbers", "readings", "table-1", "table-2", "table-3", "table-4")


def drawing():
    return Drawing(Figure(figsize=(1, 1)), "T_max of <b>", "a figure")


def written(out, **changes):
    name = (Column("name", "Name"),)
    given = {
        "is_phantom": True,
        "is_short": False,
        "patient": "patient 4",
        "counts": ("5 patients",),
        "tables": {key: Table(key, key, name, (("<i>x</i>",),)) for key in TABLES},
        "drawings": {number: {"As printed": drawing()} for number in range(1, 10)},
        "changes": drawing(),
        "warnings": {"As printed": ["R_P does not act <u>"]},
        "facts": (("Seed", "0"),),
    }
    return Page(write_reproduction(ReproducedStudy(**given | changes), out).read_text())


def test_names_of_any_origin_are_escaped(tmp_path):
    page = written(tmp_path, patient="<script>")
    assert not {"i", "u", "b", "script"} & {tag for tag, _ in page.attributes}
    assert "<script>" in page.text


def test_a_figure_without_a_frame_says_so(tmp_path):
    whole = written(tmp_path / "whole")
    drawings = {number: {"As printed": drawing()} for number in range(1, 10)} | {5: {}}
    page = written(tmp_path / "part", drawings=drawings)
    assert page.text.count("No frame") == whole.text.count("No frame") + 1
    assert "figure-5" in page.values("id")


def test_a_short_study_says_so(tmp_path):
    assert "tenth" not in written(tmp_path / "whole").text
    assert "tenth" in written(tmp_path / "short", is_short=True).text


def test_own_exams_are_not_called_a_phantom(tmp_path):
    assert "phantom" not in written(tmp_path, is_phantom=False).text


def test_the_content_security_policy_allows_the_style_and_the_images(tmp_path):
    page = written(tmp_path)
    [policy] = [value for value in page.values("content") if "default-src" in value]
    parts = dict(part.split(maxsplit=1) for part in policy.split("; "))
    assert parts["img-src"] == "data:"
    assert parts["style-src"].startswith("'sha256-")
