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

from capsieve.labels.columns import text_column
from capsieve.labels.data_sets import (
    Picture,
    images_in,
    meanings,
    picture_labels,
    subfolders,
    video_and_frame,
)
from capsieve.labels.label_set import LabelProblem, LabelSet, Problems
from capsieve.labels.tables import RawTable

METADATA = ("filename", "video_id", "frame_number", "finding_class")
"""Columns of metadata.csv that are read here; boxes are read with the outlines."""

_SPLIT = ("filename", "label")
_WARNINGS = (
    "Kvasir-Capsule does not distinguish polyps: there are no results per polyp",
    "each video counts as one patient; seven videos are in both official folds, which have no "
    "polyps, so split by patient instead",
)


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


class Kvasir:
    """Kvasir-Capsule as downloaded."""

    name = "kvasir"
    description = "Kvasir-Capsule: the folder labelled_images, metadata.csv or a split file"

    def recognises(self, source: Path | RawTable) -> bool:
        """Return whether this is the folder of images or the one above it, or one of the tables."""
        if isinstance(source, RawTable):
            return _is_table(source)
        top = _top(source)
        return any(name.lower() in _FINDINGS and images_in(top / name) for name in subfolders(top))

    def read(self, source: Path | RawTable) -> LabelSet:
        """Read labelled_images/FINDING/VIDEO_FRAME.jpg, metadata.csv or a split file."""
        if isinstance(source, RawTable):
            return _read_table(source)
        top = _top(source)
        rows = [
            (f"{finding}/{name}", f"{finding}/{name}", finding)
            for finding in subfolders(top)
            for name in images_in(top / finding)
        ]
        return _labels(rows, _FINDINGS, path=os.fspath(source))


def _is_table(raw: RawTable) -> bool:
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


def _read_table(raw: RawTable) -> LabelSet:
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
            message = "the name is not VIDEO_FRAME.jpg, so its exam and patient are not known"
            noted.add(message, f"{where}: {file!r}", used=True)
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
