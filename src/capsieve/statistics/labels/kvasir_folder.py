"""Kvasir-Capsule as a folder: labelled_images/FINDING/VIDEO_FRAME.jpg."""

import os
from collections.abc import Iterator
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.labels.folders import images_in, subfolders
from capsieve.statistics.labels.kvasir import FINDINGS
from capsieve.statistics.labels.kvasir_found import kvasir_labels
from capsieve.statistics.labels.label_set import LabelSet

__all__ = ["LOOKS", "NAME", "read", "recognises"]

NAME = "kvasir-folder"
LOOKS = "a folder labelled_images/FINDING/VIDEO_FRAME.jpg of Kvasir-Capsule"


def recognises(path: Path) -> bool:
    """Whether it is the folder of labelled images, or the one above it."""
    top = _top(path)
    return any(
        name.lower() in FINDINGS and next(iter(images_in(top / name)), None) is not None
        for name in subfolders(top)
    )


def read(path: Path) -> LabelSet:
    """Read the folder.

    Raises
    ------
    FileError
        It holds no pictures in folders.
    """
    rows = list(_rows(_top(path)))
    if not rows:
        raise FileError(f"{path} holds no pictures in folders named after findings")
    return kvasir_labels(rows, path=os.fspath(path))


def _top(path: Path) -> Path:
    inside = path / "labelled_images"
    return inside if inside.is_dir() else path


def _rows(top: Path) -> Iterator[tuple[str, str, str]]:
    for finding in subfolders(top):
        for name in images_in(top / finding):
            yield f"{finding}/{name}", f"{finding}/{name}", finding
