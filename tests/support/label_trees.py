"""Label files and folders as people have them, made at run time and without any picture in them."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

VIDEO = "04a78ef00c5245e0"
OTHER_VIDEO = "bca26705313a4644"

CLASSES = [
    "Angioectasia",
    "Bleeding",
    "Erosion",
    "Erythema",
    "Foreign Body",
    "Lymphangiectasia",
    "Normal",
    "Polyp",
    "Ulcer",
    "Worms",
]

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def write_text(path: Path, *lines: str, encoding: str = "utf-8") -> Path:
    """Write lines, and return the path."""
    path.write_bytes("".join(f"{line}\n" for line in lines).encode(encoding))
    return path


def make_files(folder: Path, *names: str) -> Path:
    """Make empty files below a folder, and return the folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def one_hot(path: str, *classes: str, dataset: str = "KVASIR") -> list[str]:
    """Return a row of a table of Capsule Vision 2024."""
    return [path, dataset, *("1" if name in classes else "0" for name in CLASSES)]


def write_workbook(
    path: Path,
    rows: Sequence[Sequence[str]],
    *,
    shared: bool = True,
    parts: Mapping[str, bytes] | None = None,
) -> Path:
    """Write an .xlsx workbook of one sheet; digits become numbers.

    `shared` puts texts into the shared strings, as spreadsheet programs do; else they stand in the
    cells, which then have no references. `parts` replaces parts of the archive.
    """
    texts: list[str] = []
    lines: list[str] = []
    for number, row in enumerate(rows, start=1):
        cells: list[str] = []
        for place, value in enumerate(row):
            where = f' r="{chr(ord("A") + place)}{number}"' if shared else ""
            if value.replace(".", "", 1).isdigit():
                cells.append(f"<c{where}><v>{value}</v></c>")
            elif shared:
                texts.append(f"<si><t>{escape(value)}</t></si>")
                cells.append(f'<c{where} t="s"><v>{len(texts) - 1}</v></c>')
            else:
                cells.append(f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>')
        lines.append(f"<row>{''.join(cells)}</row>")
    content = {
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="rId7"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">'
        '<Relationship Id="rId1" Target="styles.xml"/>'
        '<Relationship Id="rId7" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{"".join(texts)}</sst>',
        "xl/worksheets/sheet1.xml": '<?xml version="1.0" encoding="UTF-8"?>'
        f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ({k: v.encode() for k, v in content.items()} | dict(parts or {})).items():
            archive.writestr(name, data)
    return path
