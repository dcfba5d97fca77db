"""Capsule Vision 2024 as a folder: Dataset/{training,validation}/CLASS/SOURCE/NAME.jpg."""

import os
from collections.abc import Iterator
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.labels.capsule_vision import CLASSES, SOURCES, capsule_vision_labels
from capsieve.statistics.labels.folders import images_in, subfolders
from capsieve.statistics.labels.label_set import LabelSet

__all__ = ["LOOKS", "NAME", "read", "recognises"]

NAME = "capsule-vision-folder"
LOOKS = "the folder Dataset of Capsule Vision 2024, one of its parts, or a class of one"

_PARTS = ("training", "validation")
_SMALL_CLASSES = {name.lower() for name in CLASSES}


def recognises(path: Path) -> bool:
    """Whether it is the data set's folder, one of its parts, or a class of one."""
    return bool(_classes(path.resolve()))


def read(path: Path) -> LabelSet:
    """Read the folder; files are named from the part on, as in the data set's own tables.

    Raises
    ------
    FileError
        It holds no pictures in such folders.
    """
    pictures = list(_pictures(_classes(path.resolve())))
    if not pictures:
        raise FileError(f"{path} holds no pictures in folders CLASS/SOURCE of Capsule Vision 2024")
    return capsule_vision_labels(pictures, path=os.fspath(path))


def _classes(path: Path) -> list[Path]:
    """Return the folders of all classes, known or not; none where it is another folder."""
    parts = [path / name for name in _PARTS if _holds_classes(path / name)]
    if parts:
        return [part / name for part in parts for name in subfolders(part)]
    if _holds_classes(path):
        return [path / name for name in subfolders(path)]
    return [path] if _is_class(path) else []


def _holds_classes(part: Path) -> bool:
    return any(_is_class(part / name) for name in subfolders(part))


def _is_class(folder: Path) -> bool:
    return folder.name.lower() in _SMALL_CLASSES and any(
        name in SOURCES for name in subfolders(folder)
    )


def _pictures(classes: list[Path]) -> Iterator[tuple[str, str, str]]:
    for folder in classes:
        # Pictures beside the sources' folders are named, too: nothing is left out silently.
        for source in ("", *subfolders(folder)):
            inside = f"{source}/" if source else ""
            for name in images_in(folder / source):
                file = f"{folder.parent.name}/{folder.name}/{inside}{name}"
                yield file, file, folder.name
