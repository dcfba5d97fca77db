import csv
import io
import re
from pathlib import Path

import pytest

from capsieve.report.evaluation.table_files import (
    csv_text,
    markdown_text,
    table_text,
    tex_text,
    write_table,
)
from capsieve.statistics.table import Column, Table
from support.made_tables import made_tables

EVIL = r"a|b_c $x$ \input{/etc/passwd} <b>&#%~^{}* [l](u) `c`"
COLUMNS = (
    Column("name", "Name"),
    Column("frames", "N_F", "count"),
    Column("rate", "delta(SPEC)", "share"),
)


def a_table(*names: str, total: tuple | None = None) -> Table:
    rows = tuple((name, 12000 + place, 1 / 3) for place, name in enumerate(names))
    return Table("a-table", "A table", COLUMNS, rows, "Of T_max and sigma1.", total)


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_csv_keeps_full_precision_and_plain_numbers() -> None:
    rows = read(csv_text(a_table("x", total=("all", 3, None))))
    assert rows[0] == ["name", "frames", "rate"]
    assert float(rows[1][2]) == 1 / 3
    assert rows[1][1] == "12000"
    assert rows[2] == ["all", "3", ""]


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "-1+1"])
def test_csv_defuses_formulas(text: str) -> None:
    assert read(csv_text(a_table(text)))[1][0] == f"'{text}"


@pytest.mark.parametrize("text", ["-3", "+1.5", "1e-3", "-.5", "P-1", "a,b", 'say "x"', "a\nb", ""])
def test_csv_changes_no_other_text(text: str) -> None:
    assert read(csv_text(a_table(text)))[1][0] == text


def test_markdown_cells_stay_in_their_columns() -> None:
    lines = markdown_text(a_table(EVIL, "x", total=("all", 2, 0.5))).splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert len(rows) == 5
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 4 for row in rows)
    assert "12,001" in rows[3]
    assert "33.3 %" in rows[3]
    assert rows[4].startswith("| **all** |")


def test_markdown_leaves_no_sign_that_means_something() -> None:
    [row] = [line for line in markdown_text(a_table(EVIL)).splitlines() if "passwd" in line]
    inside = row.strip("| ").split(" | ")[0]
    assert not re.search(r"(?<!\\)[`*<>\[\]$]", inside.replace("\\\\", ""))


def test_tex_escapes_what_means_something() -> None:
    [row] = [line for line in tex_text(a_table(EVIL)).splitlines() if "passwd" in line]
    name, frames, rate = row.removesuffix(r" \\").split(" & ")
    left = name
    for word in ("textbackslash", "textbar", "textless", "textgreater", "textasciitilde"):
        left = left.replace(rf"\{word}{{}}", "")
    left = left.replace(r"\textasciicircum{}", "")
    assert not re.search(r"(?<!\\)[_$&#%{}~^]", left)
    assert not re.search(r"\\[A-Za-z]", left)
    assert (frames, rate) == ("12,000", r"33.3\,\%")


def test_tex_sets_the_papers_symbols_as_mathematics() -> None:
    text = tex_text(a_table("sigma1", "M_L", "T_max of patient_1"))
    assert r"$N_{F}$ & $\delta$(SPEC)" in text
    assert r"$T_{\mathrm{max}}$ and $\sigma_{1}$" in text
    assert "\n$\\sigma_{1}$ & " in text
    assert "\n$M_{L}$ & " in text
    # In a text from outside a symbol is only letters.
    assert r"T\_max of patient\_1" in text


@pytest.mark.parametrize("table", made_tables(), ids=lambda table: table.key)
def test_tex_is_balanced_and_every_row_has_all_cells(table: Table) -> None:
    text = tex_text(table)
    assert re.findall(r"\\begin{(\w+)}", text) == re.findall(r"\\end{(\w+)}", text)[::-1]
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == len(table.rows) + 1 + (table.total is not None)
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {len(table.columns) - 1}
    depth = 0
    for sign in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0


def test_the_papers_table_is_printed_with_rounded_rates() -> None:
    table = made_tables()[2]
    rates = re.findall(r"patient \d.*?\|.*?\|.*?\| ([\d.]+ %)", markdown_text(table))
    assert rates == ["8.1 %", "5.5 %", "14.4 %", "9.0 %", "7.6 %"]


def test_long_tables_are_cut_aloud_where_people_read_them() -> None:
    table = a_table(*(f"row {n}" for n in range(300)))
    assert len(read(csv_text(table))) == 301
    for text in (markdown_text(table), tex_text(table)):
        assert text.count("row ") == 200
        assert "200 of 300 rows" in text


def test_terminal_columns_are_aligned() -> None:
    lines = table_text(a_table("x", "日本", "é", total=("all", 3, 1.0))).splitlines()
    assert lines[0] == "A table"
    assert len({len(line) + line.count("日") + line.count("本") for line in lines[1:]}) == 1


def test_control_signs_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in table_text(a_table("\x1b[31mred\u202e"))
    assert "\u202e" not in table_text(a_table("\u202e"))


def test_three_files_are_written(tmp_path: Path) -> None:
    paths = write_table(a_table("\ud800"), tmp_path)
    assert sorted(path.name for path in paths) == ["a-table.csv", "a-table.md", "a-table.tex"]
    assert sorted(tmp_path.iterdir()) == sorted(paths)


def test_a_table_without_rows_is_still_a_table() -> None:
    table = a_table()
    assert read(csv_text(table)) == [["name", "frames", "rate"]]
    assert "N_F" in table_text(table)
    assert "N_F" in markdown_text(table)
