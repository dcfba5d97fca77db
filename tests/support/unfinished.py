"""Work files in the folder of an exam that is not screened to its end."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capsieve.store.schema import SCHEMA

__all__ = ["is_complete", "is_unfinished", "is_writing", "segments", "write_unfinished"]

_FOLDER = ".unfinished"


def is_unfinished(exam: Path) -> bool:
    return (exam / _FOLDER).exists()


def segments(exam: Path) -> int:
    """Return the number of segments that are stored."""
    return len(_files(exam, "head-*.checked"))


def is_writing(exam: Path) -> bool:
    """Return whether a file is being written."""
    return bool(_files(exam, ".*.part*"))


def _files(exam: Path, pattern: str) -> list[Path]:
    try:
        return list((exam / _FOLDER).glob(pattern))
    except FileNotFoundError:  # the run removed the folder in this moment
        return []


def is_complete(exam: Path) -> bool:
    """Return whether all segments are stored and the results are being written."""
    return any((exam / name).exists() for name in (".results-staged", ".results-ready"))


def write_unfinished(exam: Path, identity: Mapping[str, Any] | None = None) -> None:
    """Write the work files of a run that was killed before its first segment."""
    (exam / _FOLDER).mkdir(parents=True)
    if identity is not None:
        content = {"schema": SCHEMA, "plan": dict(identity)}
        (exam / _FOLDER / "plan.json").write_text(json.dumps(content), encoding="utf-8")
