"""Capsule Vision 2024: Dataset/{training,validation}/CLASS/SOURCE/NAME.jpg.

The training and validation data of the challenge contain images of Kvasir-Capsule, SEE-AI, KID and
AIIMS.

References
----------
P. Handa et al., "Training and Validation Dataset of Capsule Vision 2024 Challenge", Figshare, 2024,
doi:10.6084/m9.figshare.26403469.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from capsieve.labels.data_sets import (
    Picture,
    images_in,
    meanings,
    picture_labels,
    subfolders,
    video_and_frame,
)
from capsieve.labels.label_set import LabelSet, Problems
from capsieve.labels.tables import RawTable

_PARTS = ("training", "validation")
_SOURCES = ("KID", "KVASIR", "SEE-AI", "AIIMS")
_CLASSES = meanings(
    [
        *("Angioectasia", "Bleeding", "Erosion", "Erythema", "Foreign Body", "Lymphangiectasia"),
        *("Normal", "Polyp", "Ulcer", "Worms"),
    ],
    polyp="Polyp",
    normal="Normal",
)
_SEE_AI = re.compile(r"image([0-9]{1,18})\.(?:jpe?g|png)", re.IGNORECASE)
_WARNINGS = (
    "the validation part of Capsule Vision 2024 shares exams with its training part: split by "
    "patient and by blocks instead",
    "only images of Kvasir show their exam; the running number of SEE-AI is not a timeline",
    "Capsule Vision 2024 does not distinguish polyps: there are no results per polyp",
)


class CapsuleVision:
    """Capsule Vision 2024 as downloaded."""

    name = "capsule-vision"
    description = "the folder Dataset of Capsule Vision 2024, one of its parts, or a class"

    def recognises(self, source: Path | RawTable) -> bool:
        """Return whether this is the data set's folder, one of its parts, or a class of one."""
        return isinstance(source, Path) and bool(_class_folders(source.resolve()))

    def read(self, source: Path | RawTable) -> LabelSet:
        """Read a folder; files are named from the part on: training/Polyp/SEE-AI/image00018.jpg.

        The same image of Kvasir or SEE-AI in several folders is one frame. Names of KID and AIIMS
        are not known to be unique, so each of their files is a frame.
        """
        assert isinstance(source, Path)
        problems = Problems()
        pictures: list[Picture] = []
        parts: dict[str, set[str]] = {}
        for part, finding, origin, name in _files(_class_folders(source.resolve())):
            file = "/".join(filter(None, (part, finding, origin, name)))
            if origin not in _SOURCES:
                message = "the path is not PART/CLASS/SOURCE/NAME.jpg with a source of "
                message += ", ".join(_SOURCES)
                problems.add(message, file)
                continue
            picture = _picture(file, finding, origin, name)
            pictures.append(picture)
            parts.setdefault(picture.same, set()).add(part)
        both = [same for same, names in parts.items() if len(names) > 1]
        problems.add("the frame is in the training and in the validation part", *both, used=True)
        return picture_labels(
            pictures,
            _CLASSES,
            problems=tuple(problems),
            warnings=_WARNINGS,
            label_format="Capsule Vision 2024",
            path=os.fspath(source),
        )


def _picture(file: str, finding: str, source: str, name: str) -> Picture:
    """Return what a path shows for certain."""
    same = f"{source}/{name.lower()}"
    if source == "KVASIR" and (shown := video_and_frame(name)) is not None:
        return Picture(file, file, finding, same, *shown, source=source)
    if source == "SEE-AI" and (number := _SEE_AI.fullmatch(name)) is not None:
        return Picture(file, file, finding, same, None, int(number[1]), source)
    return Picture(file, file, finding, file, source=source)


def _class_folders(path: Path) -> list[Path]:
    """Return the folders of all classes, known or not; [] if it is another folder."""
    for parts in ([path / name for name in _PARTS], [path]):
        classes = [[part / name for name in subfolders(part)] for part in parts]
        known = [folder for part in classes if any(map(_is_class, part)) for folder in part]
        if known:
            return known
    return [path] if _is_class(path) else []


def _is_class(folder: Path) -> bool:
    return folder.name.lower() in _CLASSES and any(name in _SOURCES for name in subfolders(folder))


def _files(folders: list[Path]) -> Iterator[tuple[str, str, str, str]]:
    """Yield part, class, source and name of all images; the source is "" beside the sources."""
    for folder in folders:
        for source in ("", *subfolders(folder)):
            for name in images_in(folder / source):
                yield folder.parent.name, folder.name, source, name
