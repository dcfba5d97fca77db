"""What the published data sets share: images in folders of findings, one row per frame."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

import pyarrow as pa

from capsieve.errors import FileError
from capsieve.labels.label_set import LabelProblem, LabelSet, Problems
from capsieve.labels.settle import settle
from capsieve.names import natural_key

_NAME = re.compile(r"([0-9a-f]{16})_([0-9]{1,18})\.(?:jpe?g|png)", re.IGNORECASE)


class Picture(NamedTuple):
    """One finding on one image file, as the source has it."""

    where: str  # how a person finds the row: "line 12", or the file itself
    file: str
    finding: str  # "" if there is none
    same: str  # equal for files of the same frame in all folders
    exam: str | None = None  # also the patient
    frame: int | None = None
    source: str | None = None


def meanings(findings: Iterable[str], *, polyp: str, normal: str) -> dict[str, tuple[str, str]]:
    """Return for each finding, in small letters, its label and its published spelling."""
    words = {polyp: "polyp", normal: "normal"}
    return {name.lower(): (words.get(name, "other"), name) for name in findings}


def video_and_frame(file: str) -> tuple[str, int] | None:
    """Return the video and the frame number of Polyp/04a78ef00c5245e0_887.jpg; None without."""
    match = _NAME.fullmatch(PureWindowsPath(file).name)
    return (match[1].lower(), int(match[2])) if match else None


def picture_labels(
    pictures: Sequence[Picture],
    known: Mapping[str, tuple[str, str]],
    *,
    problems: Sequence[LabelProblem] = (),
    **about: Any,
) -> LabelSet:
    """Return labels of images with findings, by :func:`meanings`: one row per frame.

    A frame with several findings, in several rows or folders, has them all, and is a polyp frame if
    one of them is a polyp. Normal beside another finding is a contradiction: such frames are not
    used. Findings are compared without regard to case.
    """
    noted = Problems()
    frames: dict[str, list[tuple[str, str, Picture]]] = {}
    for picture in pictures:
        finding = picture.finding.strip()
        if not finding:
            noted.add("the label is empty", f"{picture.where}: {picture.file}")
        elif finding.lower() not in known:
            message = "the finding is not one of the published ones"
            noted.add(message, f"{picture.where}: finding {finding!r}")
        else:
            label, word = known[finding.lower()]
            frames.setdefault(picture.same, []).append((word, label, picture))
    rows: list[tuple[str, str, Picture]] = []
    for findings in frames.values():
        is_polyp = {label for _, label, _ in findings} == {"polyp", "other"}
        file = findings[0][2].file
        for word, label, picture in sorted(findings, key=lambda finding: finding[0]):
            rows.append((word, "polyp" if is_polyp else label, picture._replace(file=file)))
    columns = {
        name: [getattr(picture, name) for _, _, picture in rows]
        for name in ("exam", "frame", "file", "source")
    }
    columns |= {
        "patient": columns["exam"],
        "label": [label for _, label, _ in rows],
        "finding": [word for word, _, _ in rows],
        "reader": [about["label_format"]] * len(rows),  # contradictions are slips of one source
    }
    return settle(
        {name: pa.array(values) for name, values in columns.items()},
        name_rows=lambda numbers: [rows[number][2].where for number in numbers],
        problems=(*problems, *noted),
        unique_names=True,
        **about,
    )


def subfolders(folder: Path) -> list[str]:
    """Return the names of the folders in a folder without hidden ones; [] if there is none."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []
    return sorted((name for name in names if not name.startswith(".")), key=natural_key)


def images_in(folder: Path) -> list[str]:
    """Return the names of the images directly in a folder; [] if it cannot be listed."""
    from capsieve.sources.image_source import list_images  # here, because it imports decoders

    try:
        return list_images(folder)
    except FileError:
        return []
