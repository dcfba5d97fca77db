"""Labels: what frames truly show, in the layouts that people have on disk.

One module per layout, each with a `NAME`, what it `LOOKS` like, `recognises(path)` and
`read(path)`. :func:`read_labels` asks them in turn.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from capsieve.errors import FileError, ParameterError
from capsieve.statistics.labels import (
    capsule_frames,
    capsule_vision_folder,
    capsule_vision_sheet,
    kvasir_folder,
    kvasir_metadata,
    kvasir_split,
    own_format,
)
from capsieve.statistics.labels.delimited import read_header
from capsieve.statistics.labels.label_set import LABELS, WORDS, LabelProblem, LabelSet
from capsieve.statistics.labels.write import write_labels

__all__ = [
    "LABELS",
    "LAYOUTS",
    "LabelProblem",
    "LabelSet",
    "WORDS",
    "read_labels",
    "write_labels",
]

# From the most particular to the most general: the first that fits is taken.
_LAYOUTS = (
    capsule_frames,
    kvasir_metadata,
    kvasir_split,
    own_format,
    capsule_vision_folder,
    kvasir_folder,
    capsule_vision_sheet,
)

_BEGINNING = 65_536
_TABLES = ("labels.csv", "labels.parquet", "frames.csv", "metadata.csv")

LAYOUTS = {layout.NAME: layout.LOOKS for layout in _LAYOUTS}
"""The names of all layouts, for `layout`, and what each looks like."""


def read_labels(path: str | os.PathLike[str], *, layout: str | None = None) -> LabelSet:
    """Read labels, in whichever of the known layouts they are.

    Parameters
    ----------
    path
        A file or a folder.
    layout
        One of :data:`LAYOUTS`, where it is not to be found out.

    Returns
    -------
    LabelSet
        The rows that can be used, and all that was not clear.

    Raises
    ------
    FileError
        There is no such file, no layout fits, it cannot be read, an exam, a frame or a polyp has
        two patients, or two readers differ on a frame.
    ParameterError
        There is no layout of this name.
    """
    path = Path(path)
    if layout is not None and layout not in LAYOUTS:
        raise ParameterError("layout", f"there is no {layout!r}; choose from {', '.join(LAYOUTS)}")
    if not path.exists():
        raise FileError(f"there are no labels at {path}: no such file or folder")
    for one in _LAYOUTS:
        if layout == one.NAME or (layout is None and one.recognises(path)):
            return one.read(path)
    # What most people need comes first.
    known = sorted(LAYOUTS, key=lambda name: name != own_format.NAME)
    raise FileError(
        f"cannot read labels from {path}: {_looks(path)}; give "
        + "; or ".join(LAYOUTS[name] for name in known)
    )


def _looks(path: Path) -> str:
    """Say what the thing is, for somebody who expected it to be read."""
    if path.is_dir():
        inside = [name for name in _TABLES if (path / name).is_file()]
        return f"give the file {inside[0]} in it" if inside else "it is a folder of another kind"
    if not path.is_file():
        return "it is neither a file nor a folder"
    if path.suffix.lower() == ".xlsx":
        return "it is no table of Capsule Vision 2024, or a damaged one"
    with path.open("rb") as file:
        beginning = file.read(_BEGINNING)
    if not beginning.strip():
        return "it is empty"
    if own_format.is_parquet(path):
        columns = own_format.parquet_columns(path)
        if columns is None:
            return "it is a damaged Parquet file"
        return f"it has no columns of labels but {_some(columns)}"
    header = read_header(path)
    if header is None:
        return "it is no text in UTF-8 (save it as CSV in UTF-8), and no Parquet table"
    return f"its first line names no columns of labels but {_some(header.columns)}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name[:40]) for name in names[:6])
    return f"{shown}, ..." if len(names) > 6 else shown
