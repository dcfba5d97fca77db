"""metadata.csv of Kvasir-Capsule: a finding per line, and its box where it has one."""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.labels.delimited import EXAMPLES, Header, read_header
from capsieve.statistics.labels.kvasir import picture_name, video_and_frame
from capsieve.statistics.labels.kvasir_found import kvasir_labels
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet

__all__ = ["LOOKS", "NAME", "read", "recognises"]

NAME = "kvasir-metadata"
LOOKS = "metadata.csv of Kvasir-Capsule"

_COLUMNS = ("filename", "video_id", "frame_number", "finding_class")
_LARGEST = 200_000_000  # bytes; the published file has five million


def recognises(path: Path) -> bool:
    """Whether it has the columns of metadata.csv."""
    header = read_header(path)
    return header is not None and set(_COLUMNS) <= set(header.columns)


def read(path: Path) -> LabelSet:
    """Read the file; boxes are not labels, and are left out.

    Lines without a box have one cell less than the first line in the published file, so cells that
    are missing at the end of a line are taken for empty.

    Raises
    ------
    FileError
        It does not have these columns, holds nothing, is too large or not UTF-8.
    """
    header = read_header(path)
    if header is None or not set(_COLUMNS) <= set(header.columns):
        raise FileError(f"{path} does not have the columns {', '.join(_COLUMNS)}")
    if path.stat().st_size > _LARGEST:
        raise FileError(f"{path} is larger than {_LARGEST // 10**6} MB, which metadata.csv is not")
    rows: list[tuple[str, str, str]] = []
    contrary: list[str] = []
    try:
        for line, cells in _cells(path, header):
            name, video, frame, finding = cells
            if _agrees(name, video, frame):
                rows.append((f"line {line}", name, finding))
            else:
                contrary.append(f"line {line}: {name!r}, video {video!r}, frame {frame!r}")
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileError(f"cannot read {path}: {error}") from error
    if not rows and not contrary:
        raise FileError(f"{path} holds no labels: nothing follows its first line")
    problems = []
    if contrary:
        what = "the picture's name tells of another video or frame than the columns"
        problems.append(LabelProblem(what, len(contrary), tuple(contrary[:EXAMPLES])))
    return kvasir_labels(rows, path=os.fspath(path), problems=problems)


def _cells(path: Path, header: Header) -> Iterator[tuple[int, list[str]]]:
    places = [header.columns.index(name) for name in _COLUMNS]
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=header.delimiter)
        before = 0
        for record in reader:
            line, before = before + 1, reader.line_num
            if record and before > header.lines:
                cells = [record[place].strip() if place < len(record) else "" for place in places]
                yield line, [picture_name(cells[0]), *cells[1:]]


def _agrees(name: str, video: str, frame: str) -> bool:
    told = video_and_frame(name)
    return told is None or (video.lower(), frame) == (told[0], str(told[1]))
