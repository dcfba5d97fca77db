"""The first sheet of a workbook."""

from pathlib import Path

import pytest

from capsieve.errors import FileError
from capsieve.statistics.labels import xlsx
from capsieve.statistics.labels.xlsx import is_workbook, read_first_sheet
from label_trees import write_workbook

SHEET = "xl/worksheets/sheet1.xml"
NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def sheet(rows: str) -> dict[str, bytes]:
    return {SHEET: f"<worksheet {NAMESPACE}><sheetData>{rows}</sheetData></worksheet>".encode()}


@pytest.mark.parametrize("shared", [True, False])
def test_texts_and_numbers_come_back(tmp_path: Path, shared: bool) -> None:
    rows = [["name", "n"], ["a < b & ü", "12"], ["", "0.5"]]
    path = write_workbook(tmp_path / "t.xlsx", rows, shared=shared)
    assert is_workbook(path)
    assert read_first_sheet(path) == list(enumerate(rows, start=1))


def test_gaps_between_cells_and_rows_stay(tmp_path: Path) -> None:
    rows = '<row r="2"><c r="C2"><v>1</v></c><c r="AA2"><v>2</v></c></row><row r="9"/>'
    path = write_workbook(tmp_path / "t.xlsx", [], parts=sheet(rows))
    assert read_first_sheet(path) == [(2, ["", "", "1", *[""] * 23, "2"])]


def test_texts_in_runs_are_joined(tmp_path: Path) -> None:
    strings = (
        f"<sst {NAMESPACE}><si><r><t>Po</t></r><r><t>lyp</t></r><rPh><t>x</t></rPh></si></sst>"
    )
    rows = '<row><c t="s"><v>0</v></c></row>'
    parts = sheet(rows) | {"xl/sharedStrings.xml": strings.encode()}
    path = write_workbook(tmp_path / "t.xlsx", [], parts=parts)
    assert read_first_sheet(path) == [(1, ["Polyp"])]


@pytest.mark.parametrize(
    "rows",
    [
        '<row><c t="s"><v>7</v></c></row>',
        '<row><c t="s"><v>-1</v></c></row>',
        '<row><c r="B1"><v>1</v></c><c r="A1"><v>2</v></c></row>',
        '<row><c r="nowhere"><v>1</v></c></row>',
        '<row r="9999999"><c><v>1</v></c></row>',
        "<row>",
    ],
)
def test_a_damaged_sheet_is_refused(tmp_path: Path, rows: str) -> None:
    path = write_workbook(tmp_path / "t.xlsx", [], parts=sheet(rows))
    with pytest.raises(FileError, match=r"t\.xlsx"):
        read_first_sheet(path)


@pytest.mark.parametrize(
    "data",
    [
        f'<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet {NAMESPACE}>&a;</worksheet>'.encode(),
        f"<worksheet {NAMESPACE}/>".encode("utf-16"),
        f'<?xml version="1.0" encoding="cp037"?><worksheet {NAMESPACE}/>'.encode(),
    ],
)
def test_xml_that_no_workbook_has_is_refused(tmp_path: Path, data: bytes) -> None:
    path = write_workbook(tmp_path / "t.xlsx", [], parts={SHEET: data})
    with pytest.raises(FileError, match="plain XML"):
        read_first_sheet(path)


def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, "_LARGEST_PART", 20_000)
    path = write_workbook(tmp_path / "t.xlsx", [["0"] * 20] * 100)
    assert path.stat().st_size < 20_000
    with pytest.raises(FileError, match="larger than any table"):
        read_first_sheet(path)


def test_what_is_no_archive_is_no_workbook(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK\3\4 and no more")
    assert not is_workbook(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match=r"no \.xlsx workbook"):
        read_first_sheet(tmp_path / "t.xlsx")


def test_an_archive_cut_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "t.xlsx", [["a"] * 20] * 50)
    data = bytearray(path.read_bytes())
    place = data.index(SHEET.encode()) + len(SHEET) + 5
    data[place : place + 40] = bytes(40)
    path.write_bytes(data)
    with pytest.raises(FileError, match=r"t\.xlsx"):
        read_first_sheet(path)
