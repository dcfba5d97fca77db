"""The first sheet of an .xlsx workbook as texts: small, strict and bounded.

A workbook is a ZIP archive of XML files (ECMA-376). Only what a plain table needs is read: no
formulas, no styles, no dates. What is larger than any table of labels is refused unread.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from posixpath import join, normpath
from xml.etree import ElementTree

from capsieve.errors import FileError

__all__ = ["is_workbook", "read_first_sheet"]

_LARGEST_PART = 300_000_000  # bytes, unpacked
_MOST_ROWS = 1_048_576  # the format's own bounds
_MOST_COLUMNS = 16_384
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_WORKBOOK = "xl/workbook.xml"
_LINKS = "xl/_rels/workbook.xml.rels"
_STRINGS = "xl/sharedStrings.xml"
_REFERENCE = re.compile(r"([A-Z]{1,3})[1-9][0-9]*")
_ENCODING = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']*)")

Row = tuple[int, list[str]]
"""Its number in the sheet, from 1, and its cells; "" where there is nothing."""


def is_workbook(path: Path) -> bool:
    """Whether it is a ZIP archive with a workbook inside."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _WORKBOOK in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_first_sheet(path: Path) -> list[Row]:
    """Return the rows of the first sheet that are not empty.

    Raises
    ------
    FileError
        It is no workbook, broken, encrypted, or larger than any table of labels.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            strings = _shared_strings(archive, path)
            data = _part(archive, _first_sheet(archive, path), path)
        rows = list(_rows(data, strings, path))
    except zipfile.BadZipFile as error:
        raise FileError(f"cannot read {path}: it is no .xlsx workbook, or a damaged one") from error
    except (ElementTree.ParseError, zlib.error, EOFError, NotImplementedError) as error:
        raise FileError(f"cannot read {path}: the workbook is damaged ({error})") from error
    except RuntimeError as error:  # what zipfile says of passwords
        raise FileError(f"cannot read {path}: {error}; save it without a password") from error
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error
    return rows


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> bytes:
    """Return a part's XML; the size that the archive claims is not believed."""
    try:
        with archive.open(name) as file:
            data = file.read(_LARGEST_PART + 1)
    except KeyError as error:
        raise FileError(f"cannot read {path}: the workbook lacks {name}") from error
    if len(data) > _LARGEST_PART:
        raise FileError(f"{path} is larger than any table of labels: {name} unpacks to too much")
    # Entities could unpack to anything; no workbook has them. Without another encoding they
    # cannot hide from this look at the bytes.
    encoding = _ENCODING.match(data.removeprefix(b"\xef\xbb\xbf"))
    strange = encoding is not None and encoding[1].lower() not in (b"utf-8", b"us-ascii")
    if strange or b"\0" in data or b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise FileError(f"cannot read {path}: {name} is not the plain XML of a workbook")
    return data


def _first_sheet(archive: zipfile.ZipFile, path: Path) -> str:
    """Return the name of the part that holds the first sheet."""
    book = ElementTree.fromstring(_part(archive, _WORKBOOK, path))
    sheet = book.find(f"{_MAIN}sheets/{_MAIN}sheet")
    links = ElementTree.fromstring(_part(archive, _LINKS, path))
    wanted = None if sheet is None else sheet.get(_RELATION)
    for link in links:
        if wanted is not None and link.get("Id") == wanted:
            # Targets are relative to xl/, or begin with a stroke.
            return normpath(join("xl", link.get("Target", ""))).lstrip("/")
    raise FileError(f"cannot read {path}: the workbook has no first sheet")


def _shared_strings(archive: zipfile.ZipFile, path: Path) -> list[str]:
    if _STRINGS not in archive.namelist():
        return []
    strings: list[str] = []
    for _, element in ElementTree.iterparse(io.BytesIO(_part(archive, _STRINGS, path))):
        if element.tag == f"{_MAIN}si":
            strings.append(_text(element))
            element.clear()
    return strings


def _text(element: ElementTree.Element) -> str:
    """Return a string's text, plain or in runs; how it is pronounced is no part of it."""
    pieces = [*element.findall(f"{_MAIN}t"), *element.findall(f"{_MAIN}r/{_MAIN}t")]
    return "".join(piece.text or "" for piece in pieces)


def _rows(data: bytes, strings: list[str], path: Path) -> Iterator[Row]:
    number = 0
    for _, element in ElementTree.iterparse(io.BytesIO(data)):
        if element.tag != f"{_MAIN}row":
            continue
        given = element.get("r", "")
        number = int(given) if given.isdecimal() and len(given) < 8 else number + 1
        if number > _MOST_ROWS:
            raise FileError(f"{path} has more rows than a sheet can have")
        cells = _cells(element, strings, path)
        if any(cells):
            yield number, cells
        element.clear()


def _cells(row: ElementTree.Element, strings: list[str], path: Path) -> list[str]:
    cells: list[str] = []
    for cell in row.findall(f"{_MAIN}c"):
        place = _column(cell.get("r"), len(cells))
        if not len(cells) <= place < _MOST_COLUMNS:
            raise FileError(f"cannot read {path}: cell {cell.get('r')!r} is out of order")
        cells.extend([""] * (place - len(cells)))
        cells.append(_value(cell, strings, path))
    return cells


def _column(reference: str | None, following: int) -> int:
    """Return a cell's column from 0; without a reference it follows the one before."""
    match = _REFERENCE.fullmatch(reference or "")
    if match is None:
        return following if reference is None else -1
    place = 0
    for letter in match[1]:
        place = 26 * place + ord(letter) - ord("A") + 1
    return place - 1


def _value(cell: ElementTree.Element, strings: list[str], path: Path) -> str:
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        inline = cell.find(f"{_MAIN}is")
        return "" if inline is None else _text(inline)
    value = cell.findtext(f"{_MAIN}v") or ""
    if kind != "s":
        return value
    if not (value.isdecimal() and len(value) < 9 and int(value) < len(strings)):
        raise FileError(f"cannot read {path}: the workbook is damaged (cell {cell.get('r')!r})")
    return strings[int(value)]
