"""Where a training keeps its work, so that the same command goes on after a stop."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from capsieve._version import __version__
from capsieve.engine.training_frames import FOLDS_FILE, TrainingFrames
from capsieve.errors import FileError, OccupiedError, ParameterError
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.trainer import Trainer
from capsieve.store.lock import locked

__all__ = ["TrainingWork", "check_model_path", "open_work"]

_PACKAGES = ("numpy", "scikit-learn", "torch")


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
                "from; name another folder with --work, or start over with --fresh"
            )


@contextmanager
def open_work(model: Path, work: Path | None, *, fresh: bool) -> Iterator[TrainingWork]:
    """Make the folders of a training, and keep other runs out of them.

    Parameters
    ----------
    model
        The model file; MODEL.work stands beside it.
    work
        A folder to share with other trainings; MODEL.work where it is not given.
    fresh
        Remove what is there.

    Raises
    ------
    OccupiedError
        Another run works there.
    FileError
        The folders cannot be written to.
    """
    own = model.with_name(f"{model.name}.work").absolute()
    shared = own if work is None else work.absolute()
    try:
        for folder in (own, shared):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {error.filename}: {error.strerror}") from error
    with locked(shared):
        found = TrainingWork(own, shared)
        if fresh:
            _remove(found)
        yield found


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
    plain = {
        "capsieve": __version__,
        "packages": {name: _version(name) for name in _PACKAGES},
        "trainer": repr(trainer),
        "seed": seed,
        "values": examples.value_names,
        "names": names,
        "frames": frames.sha1,
        "crops": None if examples.crops is None else examples.crops.shape,
    }
    digest = sha256(json.dumps(plain, sort_keys=True).encode())
    arrays = (examples.truth, examples.group, examples.source, examples.polyp, examples.finding)
    for array in (*arrays, examples.values, frames.part):
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
