"""The very detector that screened an exam, and no other: its evidence must be that of the flags."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capsieve.detector import Detector
from capsieve.detectors import load_detector, same_detector
from capsieve.errors import FileError
from capsieve.parameters import Parameters
from capsieve.store.record import Record

__all__ = ["screening_detector"]

_HASH = 12  # characters of it in messages


def screening_detector(folder: Path, record: Record) -> Detector:
    """Return the detector that screened an exam, with the parameters of that screening.

    A model file is searched by its name in the working directory of the review app and in the
    folders around the results, and recognised by its hash.

    Parameters
    ----------
    folder, record
        The exam's.

    Raises
    ------
    FileError
        It is not there, or another one has taken its place.
    MissingExtraError
        What it runs with is not installed.
    """
    screened, exam = record["detector"], record["exam"]
    name: str | Path = str(screened.get("name", "paper"))
    if "model" in screened and str(name).endswith(".onnx"):
        name = _model(folder, str(name), exam)
    detector = load_detector(name, parameters=Parameters.from_dict(record["parameters"]))
    if not same_detector(screened, detector.identity):
        raise FileError(
            f"the exam {exam} was screened with {_brief(screened)}, and what is here by that name "
            f"is {_brief(detector.identity)}: its evidence would not be that of the flags; put the "
            "other one back, or screen the exam again"
        )
    return detector


def _model(folder: Path, name: str, exam: str) -> Path:
    """Find the file of a model; records have its name without a folder."""
    around = [Path(), *folder.absolute().parents[:3]]
    found = next((place / name for place in around if (place / name).is_file()), None)
    if found is None:
        raise FileError(
            f"the exam {exam} was screened with the model {name}, which is not here; put it beside "
            "the results to see why frames were flagged"
        )
    return found


def _brief(identity: Mapping[str, Any]) -> str:
    """Name a detector; a model with the beginning of its hash."""
    name = identity.get("name", "paper")
    known = identity.get("model")
    return f"{name}" if known is None else f"{name} (SHA-256 {str(known)[:_HASH]}...)"
