"""One door for all layouts of outlines."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from capsieve.errors import FileError, ParameterError
from capsieve.statistics.regions.coco import read_coco, recognises_coco
from capsieve.statistics.regions.kvasir_boxes import read_kvasir_boxes, recognises_kvasir_boxes
from capsieve.statistics.regions.mask_folder import read_mask_folder, recognises_mask_folder
from capsieve.statistics.regions.mask_table import read_mask_table, recognises_mask_table
from capsieve.statistics.regions.region import RegionSet
from capsieve.statistics.regions.yolo import read_yolo, recognises_yolo

__all__ = ["REGION_LAYOUTS", "read_regions"]


class _Layout(NamedTuple):
    recognises: Callable[[Path], bool]
    read: Callable[[Path], RegionSet]


# What has names of its own is asked first. The last three share a rank: a folder that could be
# two of them is not guessed at.
_CERTAIN = {
    "mask-table": _Layout(recognises_mask_table, read_mask_table),
    "kvasir-capsule": _Layout(recognises_kvasir_boxes, read_kvasir_boxes),
}
_BY_ENDING = {
    "coco": _Layout(recognises_coco, read_coco),
    "yolo": _Layout(recognises_yolo, read_yolo),
    "masks": _Layout(recognises_mask_folder, read_mask_folder),
}
_LAYOUTS = _CERTAIN | _BY_ENDING

REGION_LAYOUTS = tuple(_LAYOUTS)
"""The names of the layouts."""


def read_regions(path: str | os.PathLike[str], *, layout: str | None = None) -> RegionSet:
    """Read where polyps lie on frames.

    Parameters
    ----------
    path
        A file or a folder.
    layout
        One of :data:`REGION_LAYOUTS`; None to recognise it.

    Raises
    ------
    FileError
        The path is absent, unreadable, in no known layout, or may be in two.
    """
    path = Path(path)
    if layout is not None and layout not in _LAYOUTS:
        raise ParameterError("layout", f"is one of {', '.join(_LAYOUTS)}, not {layout!r}")
    if not path.exists():
        raise FileError(f"cannot read {path}: there is no such file or folder; check the name")
    try:
        name = layout or _recognised(path)
        return _LAYOUTS[name].read(path)
    except OSError as error:
        raise FileError(f"cannot read {path}: {error.strerror or error}") from error


def _recognised(path: Path) -> str:
    for name, kind in _CERTAIN.items():
        if kind.recognises(path):
            return name
    possible = [name for name, kind in _BY_ENDING.items() if kind.recognises(path)]
    if not possible:
        raise FileError(
            f"{path} is in no known layout of outlines; give COCO's JSON file, a folder of YOLO's "
            "text files or of PNG masks, a CSV file with file and mask, the metadata.csv of "
            "Kvasir-Capsule, or a phantom study"
        )
    if len(possible) > 1:
        raise FileError(
            f"{path} may be in the layout {' or '.join(possible)}; say which one, or give the "
            "folder with nothing else in it"
        )
    return possible[0]
