"""Masks as PNG files in folders: the name says which frame each one belongs to."""

import re
from pathlib import Path

from capsieve.sources.base import natural_key
from capsieve.sources.image_source import is_image_name
from capsieve.statistics.regions.region import MaskFile, Region, RegionSet

__all__ = ["parse_number", "read_mask_folder", "recognises_mask_folder"]

_MASKS = "masks"
_NUMBER = re.compile(r"^(\d+)(?:-head-(\d))?$")


def recognises_mask_folder(path: Path) -> bool:
    """Whether this is a folder with PNG files."""
    return path.is_dir() and bool(_files(path))


def read_mask_folder(path: Path) -> RegionSet:
    """Read which masks there are; none is opened.

    A mask belongs to the image of its name, whatever the ending. Of ``EXAM/masks/000123.png`` the
    exam is EXAM, and where the exam is a video the frame is the number 123. Where a folder called
    masks is found, only what lies in such folders is a mask. All that is not black is one polyp.

    Parameters
    ----------
    path
        A folder; folders below it are looked into.
    """
    regions = []
    for file in _files(path):
        parts = file.relative_to(path).with_suffix("").parts
        name = "/".join(part for part in parts[:-1] if part != _MASKS)
        exam = file.parent.parent.name if file.parent.name == _MASKS else None
        frame, head = parse_number(file.stem) if exam else (None, None)
        stem = f"{name}/{file.stem}" if name else file.stem
        where = str(file.relative_to(path))
        shape = MaskFile(str(file))
        regions.append(
            Region(exam if frame is not None else None, head, frame, stem, shape, where=where)
        )
    return RegionSet(tuple(regions), (), "masks", str(path))


def parse_number(stem: str) -> tuple[int, int | None] | tuple[None, None]:
    """Return frame and head of a name such as 000123 or 000123-head-1."""
    match = _NUMBER.match(stem)
    if match is None:
        return None, None
    return int(match[1]), None if match[2] is None else int(match[2])


def _files(path: Path) -> list[Path]:
    found = [
        file
        for file in path.rglob("*")
        if file.suffix.lower() == ".png" and is_image_name(file.relative_to(path).as_posix())
    ]
    in_masks = [file for file in found if _MASKS in file.relative_to(path.parent).parts[:-1]]
    return sorted(in_masks or found, key=lambda file: natural_key(str(file)))
