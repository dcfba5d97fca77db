"""What the frozen lower blocks give for versions of every frame: computed once, kept in a file.

It depends neither on the fold nor on its seed, so all folds of a training share it. A run that was
killed leaves what it had finished, and the next one goes on from there.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.learned.network.architecture import layers_of, lower_blocks
from capsieve.learned.network.graph import lower_graph
from capsieve.learned.network.running import Runner, as_input
from capsieve.learned.network.weights import Weights, digest
from capsieve.learned.training.augmentation import augment
from capsieve.learned.training.cnn_batches import foreign_frames
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.trainer import Tell
from capsieve.statistics.judged import NORMAL, OTHER, POLYP

__all__ = ["CachePlan", "LowerFeatures", "fill_cache", "plan_cache"]

_CHUNK = 64  # versions that are computed and written at a time
_BATCH = 16  # versions in one run of the network
_FORMAT = 1  # raise it when versions or features come out differently for the same settings


@dataclass(frozen=True, slots=True, eq=False)
class CachePlan:
    """Which versions of which frames are kept.

    Attributes
    ----------
    key
        Digest of all that the features depend on.
    versions
        Of each frame; 0 for one that no batch draws.
    first
        Where the versions of each frame begin.
    """

    key: str
    versions: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Versions of all frames."""
        return int(self.versions.sum())


@dataclass(frozen=True, slots=True, eq=False)
class LowerFeatures:
    """Features of all versions: total x C x H x W numbers of half precision, in a file."""

    plan: CachePlan
    stored: NDArray[np.float16]

    def draw(self, rows: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float32]:
        """Return the features of a version of each frame, drawn at random."""
        at = self.plan.first[rows] + rng.integers(self.plan.versions[rows])
        return np.stack([self.stored[place] for place in at]).astype(np.float32)


def plan_cache(examples: Examples, settings: NetworkSettings, weights: Weights) -> CachePlan:
    """Return which versions are needed, over all frames: folds differ in the rows they draw."""
    assert examples.crops is not None
    everything = np.arange(len(examples))
    foreign = foreign_frames(examples, everything)
    versions = np.zeros(len(examples), np.int64)
    versions[examples.truth == NORMAL] = settings.normal_versions
    versions[examples.truth == OTHER] = settings.other_versions
    versions[foreign] = settings.foreign_versions if settings.foreign else 0
    versions[examples.truth == POLYP] = settings.polyp_versions
    used = {
        f"{layer.name}.{kind}": weights[f"{layer.name}.{kind}"]
        for layer in layers_of(lower_blocks(settings.frozen))
        for kind in ("weight", "gamma", "beta", "mean", "deviation")
    }
    content = {
        "format": _FORMAT,
        "size": settings.size,
        "frozen": settings.frozen,
        "augmentation": asdict(settings.augmentation),
        "seed": settings.augmentation_seed,
        "weights": digest(used),
        "frames": digest({"versions": versions, "crops": examples.crops}),
    }
    key = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    return CachePlan(key, versions, np.cumsum(versions) - versions)


def fill_cache(
    plan: CachePlan,
    examples: Examples,
    settings: NetworkSettings,
    weights: Weights,
    *,
    folder: Path,
    tell: Tell,
) -> LowerFeatures:
    """Compute what is not yet in the folder.

    Raises
    ------
    FileError
        The folder cannot be written, or what it holds cannot be read.
    """
    path = folder / f"lower-{plan.key[:16]}.npy"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(path.with_suffix(".lock")), path.open("ab+") as file:
            _append(file, plan, examples, settings, weights, tell)
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"cannot keep features in {path}: {error}") from error
    return LowerFeatures(plan, stored)


def _append(
    file: Any,
    plan: CachePlan,
    examples: Examples,
    settings: NetworkSettings,
    weights: Weights,
    tell: Tell,
) -> None:
    """Bring the file to its whole length.

    Plain writes and not a memory map: on a full disk a write fails with a sentence, a map by a
    signal that kills the process.
    """
    crops = examples.crops
    assert crops is not None
    run = Runner(lower_graph(weights, settings.frozen), threads=settings.threads)
    shape = run(as_input(crops[:1]))[0].shape[1:]
    row_bytes = int(np.prod(shape)) * np.dtype(np.float16).itemsize
    header = _header((plan.total, *shape))
    length = os.fstat(file.fileno()).st_size
    if length < len(header):
        file.truncate(0)
        file.write(header)
        length = len(header)
    done = min((length - len(header)) // row_bytes, plan.total)
    if length != len(header) + done * row_bytes:  # a row that was being written
        file.truncate(len(header) + done * row_bytes)
    row = np.repeat(np.arange(len(examples)), plan.versions)
    tell("features of frames", done, plan.total)
    with _one_thread():
        for start in range(done, plan.total, _CHUNK):
            stop = min(start + _CHUNK, plan.total)
            versions = np.stack(
                [_version(crops, row, plan, at, settings) for at in range(start, stop)]
            )
            for begin in range(0, len(versions), _BATCH):
                features = run(as_input(versions[begin : begin + _BATCH]))[0]
                file.write(features.astype(np.float16).tobytes())
            file.flush()
            os.fsync(file.fileno())
            tell("features of frames", stop, plan.total)


def _version(
    crops: NDArray[np.uint8],
    row: NDArray[np.int64],
    plan: CachePlan,
    at: int,
    settings: NetworkSettings,
) -> NDArray[np.uint8]:
    """Return one version: a function of its number alone, wherever a run goes on from."""
    frame = int(row[at])
    number = at - int(plan.first[frame])
    rng = np.random.default_rng([settings.augmentation_seed, frame, number])
    return augment(crops[frame], rng, ranges=settings.augmentation)


def _header(shape: tuple[int, ...]) -> bytes:
    """Return the beginning of a .npy file."""
    beginning = BytesIO()
    content = {"descr": "<f2", "fortran_order": False, "shape": tuple(int(n) for n in shape)}
    np.lib.format.write_array_header_1_0(beginning, content)
    return beginning.getvalue()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process fills the same file: folds may be trained side by side."""
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)  # ends with the process, however that ends
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep OpenCV to one thread: on small images more of them only wait for each other."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
