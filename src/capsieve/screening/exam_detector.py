"""The detector that screened an exam: only its evidence is that of the stored flags."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from capsieve.detector import Detector
from capsieve.detectors import load_detector, same_detector
from capsieve.errors import FileError
from capsieve.parameters import Parameters
from capsieve.store.exam import Exam

_HASH = 12  # characters of a hash in messages


def exam_detector(exam: Exam, *, parameters: Parameters | None = None) -> Detector:
    """Return the detector that screened an exam.

    A model file is searched where it was when the exam was screened, by its name in the working
    directory and in the folders around the results, and identified by its hash.

    Parameters
    ----------
    exam
        A screened exam.
    parameters
        By default those of the screening.

    Raises
    ------
    FileError
        The detector is missing, or there is another one of the same name.
    MissingExtraError
        A package that it needs is not installed.
    """
    screened, parameters = exam.record["detector"], parameters or exam.parameters
    name = str(screened.get("name", "paper"))
    detector: Detector | None = None
    for path in (
        _model_files(exam, name) if "model" in screened and name.endswith(".onnx") else [name]
    ):
        detector = load_detector(path, parameters=parameters)
        if same_detector(screened, detector.identity):
            return detector
    start = f"the exam {exam.record['exam']} was screened with"
    advice = "put the model file next to the results, or use capsieve explain --detector FILE.onnx"
    if detector is None:
        raise FileError(f"{start} the model {name}, which is missing; {advice}")
    raise FileError(
        f"{start} {detector_name(screened)}, and {detector_name(detector.identity)} is another "
        f"detector; {advice}"
    )


def detector_name(identity: Mapping[str, Any]) -> str:
    """Return the name of a detector; of a model with the start of its hash."""
    name, model = identity.get("name", "paper"), identity.get("model")
    return str(name) if model is None else f"{name} (SHA-256 {str(model)[:_HASH]}...)"


def _model_files(exam: Exam, name: str) -> Iterator[Path]:
    """The existing files that may be the model; a record has its name without a folder."""
    stored = exam.record["run"].get("model")
    paths = [folder / name for folder in (Path(), *exam.folder.absolute().parents[:3])]
    paths = [Path(stored), *paths] if isinstance(stored, str) else paths
    return (path for path in dict.fromkeys(paths) if path.is_file())
