"""Tables as HTML, CSV, LaTeX and plain text."""

import csv
import io
import re
from pathlib import Path

import pytest

from capsieve.report import tables
from capsieve.result_table import Column, Table
from support.html_page import Page

EVIL = r"a|b_c $x$ \input{/etc/passwd} <b>&#%~^{}* [l](u) `c`"
COLUMNS = (
    Column("name", "Name"),
    Column("frames", "N_F", "count"),
    Column("rate", "delta(SPEC)", "share"),
)


def a_table(*names: str, total: tuple | None = None) -> Table:
    rows = tuple((name, 12000 + place, 1 / 3) for place, name in enumerate(names))
    return Table("a-table", "A table", COLUMNS, rows, "Of T_max and sigma1.", total)


def read(content: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content, newline="")))


def test_csv_has_keys_and_full_precision():
    rows = read(tables.csv(a_table("x", total=("all", None, 0.5))))
    assert rows == [
        ["name", "frames", "rate"],
        ["x", "12000", repr(1 / 3)],
        ["all", "", "0.5"],
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_csv_defuses_formulas(start):
    assert read(tables.csv(a_table(f"{start}cmd|x")))[1][0] == f"'{start}cmd|x"


@pytest.mark.parametrize("name", ["+1.5", "1e-3", "-.5", "P-1", "a,b", 'say "x"', "a\nb", ""])
def test_csv_changes_no_other_text(name):
    assert read(tables.csv(a_table(name)))[1][0] == name


def test_latex_escapes_what_means_something():
    [row] = [line for line in tables.latex(a_table(EVIL)).splitlines() if "passwd" in line]
    name, frames, rate = row.removesuffix(r" \\").split(" & ")
    left = re.sub(r"\\text(backslash|bar|less|greater|asciitilde|asciicircum){}", "", name)
    assert not re.search(r"(?<!\\)[_$&#%{}~^]", left)
    assert not re.search(r"\\[A-Za-z]", left)
    assert (frames, rate) == ("12,000", r"33.3\,\%")


def test_latex_sets_symbols_but_not_in_names():
    content = tables.latex(a_table("sigma1", "T_max of patient_1"))
    assert r"$N_{F}$ & $\delta$(SPEC)" in content
    assert "\n$\\sigma_{1}$ & " in content
    assert r"T\_max of patient\_1" in content


def test_words_have_symbols_and_texts_have_names():
    columns = (Column("meaning", "Meaning", "words"), Column("exam", "Exam"))
    table = Table("a", "A", columns, (("smallest T_max", "smallest T_max"),))
    assert "<td>smallest T_max</td>" in tables.html(table)
    assert "smallest T<sub>max</sub></th>" in tables.html(table)
    assert r"smallest $T_{\mathrm{max}}$ & smallest T\_max" in tables.latex(table)


def test_latex_is_balanced_and_every_row_has_all_cells():
    content = tables.latex(a_table(EVIL, "x", total=("all", 2, None)))
    assert re.findall(r"\\begin{(\w+)}", content) == re.findall(r"\\end{(\w+)}", content)[::-1]
    rows = [line for line in content.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}


def test_html_shows_hostile_names_as_text():
    page = Page(tables.html(a_table("<script>alert(1)</script>\u202e")))
    assert "<script>alert(1)</script>\N{REPLACEMENT CHARACTER}" in page.text
    assert "script" not in [tag for tag, _ in page.attributes]


def test_html_has_captions_scopes_and_a_total():
    page = Page(tables.html(a_table("x", total=("all", 2, None))))
    tags = [tag for tag, _ in page.attributes]
    assert all(each.get("scope") for tag, each in page.attributes if tag == "th")
    assert {"caption", "tfoot", "h3"} <= set(tags)


def test_long_tables_are_cut_for_people_and_say_so():
    table = a_table(*(f"row {n}" for n in range(300)))
    assert len(read(tables.csv(table))) == 301
    assert "The first 200 of 300 rows" in tables.latex(table)
    assert "The first 60 of 300 rows" in tables.html(table)
    assert "row 60" not in tables.html(table)


def test_terminal_columns_are_aligned_and_without_control_characters():
    content = tables.terminal(a_table("x", "日本", "e\u0301", "\x1b[31m", total=("all", 3, 1.0)))
    assert "\x1b" not in content
    first, *lines = content.splitlines()
    assert first == "A table"
    wide = [len(line) + sum(letter in "日本" for letter in line) for line in lines]
    assert len({size - line.count("\u0301") for size, line in zip(wide, lines, strict=True)}) == 1


def test_two_files_are_written(tmp_path: Path):
    paths = tables.write(a_table("\ud800"), tmp_path)
    assert sorted(path.name for path in paths) == ["a-table.csv", "a-table.tex"]


def test_a_table_without_rows_is_still_a_table():
    assert read(tables.csv(a_table())) == [["name", "frames", "rate"]]
    assert "N_F" in tables.terminal(a_table())
    Page(tables.html(a_table()))


def test_a_narrow_terminal_breaks_lines_between_words():
    columns = (Column("name", "What was measured"), Column("value", "Value of it", "number", 1))
    rows = (("Sensitivity per frame of the small bowel", 0.5), ("Specificity", 12.25))
    table = Table("t", "T", columns, rows)
    wide = tables.terminal(table, width=200).splitlines()
    assert len(wide) == 5
    narrow = tables.terminal(table, width=24).splitlines()
    assert max(map(len, narrow[1:])) <= 24
    words = " ".join(narrow).split()
    assert {"Sensitivity", "measured", "bowel", "Specificity"} <= set(words)
