"""Kvasir-Capsule: the folder labelled_images, metadata.csv and split files.

References
----------
P. H. Smedsrud et al., "Kvasir-Capsule, a video capsule endoscopy dataset", Scientific Data 8, 142,
2021; the list of findings is that of its repository.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

import pyarrow as pa

from capsieve.errors import FileError
from capsieve.labels.columns import text_column
from capsieve.labels.label_set import LabelProblem, LabelSet, Problems
from capsieve.labels.settle import settle
from capsieve.labels.tables import RawTable
from capsieve.names import natural_key

METADATA = ("filename", "video_id", "frame_number", "finding_class")
"""Columns of metadata.csv that are read here; boxes are read with the outlines."""

_SPLIT = ("filename", "label")
_NAME = re.compile(r"([0-9a-f]{16})_([0-9]{1,18})\.(?:jpe?g|png)", re.IGNORECASE)
_WARNINGS = (
    "Kvasir-Capsule does not distinguish polyps: there are no results per polyp",
    "each video counts as one patient; seven videos are in both official folds, which have no "
    "polyps, so split by patient instead",
)


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


# Landmarks and a reduced view are not polyps and not plain normal mucosa either: other.
_FINDINGS = meanings(
    [
        *("Ampulla of Vater", "Angiectasia", "Blood - fresh", "Blood - hematin", "Erosion"),
        *("Erythema", "Foreign body", "Ileocecal valve", "Lymphangiectasia"),
        *("Normal clean mucosa", "Polyp", "Pylorus", "Reduced mucosal view", "Ulcer"),
    ],
    polyp="Polyp",
    normal="Normal clean mucosa",
)
# The official split files have other names for five findings.
_SPLIT_FINDINGS = _FINDINGS | {
    "blood": _FINDINGS["blood - fresh"],  # hematin was too rare for the splits
    "erythematous": _FINDINGS["erythema"],
    "foreign bodies": _FINDINGS["foreign body"],
    "ileo-cecal valve": _FINDINGS["ileocecal valve"],
    "normal": _FINDINGS["normal clean mucosa"],
}


def video_and_frame(file: str) -> tuple[str, int] | None:
    """Return the video and the frame number of Polyp/04a78ef00c5245e0_887.jpg; None without."""
    match = _NAME.fullmatch(PureWindowsPath(file).name)
    return (match[1].lower(), int(match[2])) if match else None


def is_kvasir_folder(path: Path) -> bool:
    """Return whether this is the folder of labelled images, or the one above it."""
    top = _top(path)
    return any(name.lower() in _FINDINGS and images_in(top / name) for name in subfolders(top))


def read_folder(path: Path) -> LabelSet:
    """Read labelled_images/FINDING/VIDEO_FRAME.jpg."""
    top = _top(path)
    rows = [
        (f"{finding}/{name}", f"{finding}/{name}", finding)
        for finding in subfolders(top)
        for name in images_in(top / finding)
    ]
    return _labels(rows, _FINDINGS, path=os.fspath(path))


def is_kvasir_table(raw: RawTable) -> bool:
    """Return whether this is metadata.csv or a split file.

    A split file has no other named columns than filename and label, names VIDEO_FRAME.jpg, and no
    label "other", which is a word of capsieve's own labels.
    """
    columns = {name for name in raw.columns if not re.fullmatch(r"column \d+", name)}
    if set(METADATA) <= columns:
        return True
    if columns != set(_SPLIT):
        return False
    names, labels = (_cells(raw, name) for name in _SPLIT)
    shown = [name for name in names if name]
    fits = bool(shown) and all(video_and_frame(name) is not None for name in shown)
    return fits and "other" not in {label.lower() for label in labels}


def read_table_labels(raw: RawTable) -> LabelSet:
    """Read metadata.csv or a split file.

    Lines without a box have one cell less than the header in the published metadata.csv, so short
    lines are completed by empty cells. A line whose columns contradict the name of its image is not
    used.
    """
    if not set(METADATA) <= set(raw.columns):
        names, findings = (_cells(raw, name) for name in _SPLIT)
        split = zip(raw.name_rows(range(len(names))), names, findings, strict=True)
        return _labels(split, _SPLIT_FINDINGS, path=raw.path, problems=raw.problems)
    raw = raw.padded()
    problems = Problems()
    rows: list[tuple[str, str, str]] = []
    cells = [_cells(raw, name) for name in METADATA]
    lines = raw.name_rows(range(len(raw.table)))
    for where, name, video, frame, finding in zip(lines, *cells, strict=True):
        shown = video_and_frame(name)
        if shown is None or (video.lower(), frame) == (shown[0], str(shown[1])):
            rows.append((where, name, finding))
        else:
            problems.add(
                "the name of the image shows another video or frame than the columns",
                f"{where}: {name!r}, video {video!r}, frame {frame!r}",
            )
    known = (*raw.problems, *problems)
    return _labels(rows, _FINDINGS, path=raw.path, problems=known)


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
            what = "the finding is not one of the published ones"
            noted.add(what, f"{picture.where}: finding {finding!r}")
        else:
            label, word = known[finding.lower()]
            frames.setdefault(picture.same, []).append((word, label, picture))
    rows: list[tuple[str, str, Picture]] = []
    for some in frames.values():
        is_polyp = {label for _, label, _ in some} == {"polyp", "other"}
        file = some[0][2].file
        for word, label, picture in sorted(some, key=lambda one: one[0]):
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
        name_rows=lambda places: [rows[place][2].where for place in places],
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


def _labels(
    rows: Iterable[tuple[str, str, str]],
    known: Mapping[str, tuple[str, str]],
    *,
    path: str,
    problems: Sequence[LabelProblem] = (),
) -> LabelSet:
    """Return labels from rows (where, file, finding); images of one name are one frame."""
    noted = Problems()
    pictures: list[Picture] = []
    for where, file, finding in rows:
        shown = video_and_frame(file)
        if not file:
            noted.add("the row names no image", f"{where}: finding {finding!r}")
            continue
        if shown is None:
            what = "the name is not VIDEO_FRAME.jpg, so its exam and patient are not known"
            noted.add(what, f"{where}: {file!r}", used=True)
        same = file if shown is None else PureWindowsPath(file).name.lower()
        pictures.append(Picture(where, file, finding, same, *(shown or (None, None))))
    return picture_labels(
        pictures,
        known,
        problems=(*problems, *noted),
        warnings=_WARNINGS,
        label_format="Kvasir-Capsule",
        path=path,
    )


def _top(path: Path) -> Path:
    inside = path / "labelled_images"
    return inside if inside.is_dir() else path


def _cells(raw: RawTable, column: str) -> list[str]:
    return text_column(raw.table[column], name=column).fill_null("").to_pylist()
