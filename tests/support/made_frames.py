"""Labelled frames without images, with groups, sources and polyps as real ones have them."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.frame_table import NORMAL, OTHER, POLYP, Coded
from capsieve.learned.features import NAMES
from capsieve.training.data import FrameSet
from support.labelled_frames import labelled_frames


def made_frames(*, groups: int = 10, per_group: int = 40, folds: int = 5) -> FrameSet:
    """Return two sources: "round" with polyps in every group, "square" (two groups) without any.

    Of each group's frames in "round", a quarter shows its two polyps, a quarter other findings. The
    first polyp of a group has one frame, the second all others.
    """
    total = groups * per_group
    group = np.repeat(np.arange(groups, dtype=np.int32), per_group)
    place = np.tile(np.arange(per_group), groups)
    square = group >= groups - 2
    quarter = per_group // 4
    truth = np.full(total, NORMAL, np.int8)
    truth[(place < quarter) & ~square] = POLYP
    truth[(place >= quarter) & (place < 2 * quarter) & ~square] = OTHER
    names = tuple(f"exam-{index}" for index in range(groups))
    labelled = labelled_frames(
        np.full(total, np.nan),
        truth,
        exam=Coded(names, group),
        frame=place,
        patient=Coded(names, group),
        polyp=Coded(
            tuple(f"polyp-{index}" for index in range(2 * groups)),
            np.where(truth == POLYP, 2 * group + (place > 0), -1).astype(np.int32),
        ),
        source=Coded(("round", "square"), square.astype(np.int32)),
        finding=Coded(
            ("Ulcer", "polyp"),
            np.where(truth == OTHER, 0, np.where(truth == POLYP, 1, -1)).astype(np.int32),
        ),
        part=Coded(
            tuple(str(number + 1) for number in range(folds)), (group % folds).astype(np.int32)
        ),
    )
    return FrameSet(
        labelled=labelled,
        folders=tuple(map(Path, names)),
        path=np.full(total, None),
        pixel_hash=np.array([f"{number:032x}" for number in range(total)], object),
        phash=np.random.default_rng(0).integers(0, 256, (total, 2, 32), np.uint8),
        diameter=np.full(total, 200.0),
        leak=np.full(total, "", object),
        labels_hash="ab" * 32,
    )


def made_values(frames: FrameSet, *, strength: float = 1.5, seed: int = 0) -> NDArray[np.float32]:
    """Return features: the first two are higher in polyp frames, and in frames of "square".

    A model that learned from "square" would be misled. The third differs between groups, the fourth
    is 0 in most frames, the fifth is constant, the sixth is large and random.
    """
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(len(frames), len(NAMES)))
    values[:, :2] += strength * ((frames.truth == POLYP) | (frames.source == 1))[:, None]
    values[:, 2] += rng.normal(size=len(frames.labelled.group.names))[frames.labelled.group.code]
    values[:, 3] *= rng.random(len(frames)) < 0.1
    values[:, 4] = 7.0
    values[:, 5] = 1e4 * np.exp(values[:, 5])
    return values.astype(np.float32)


def silent(what: str, done: int, total: int) -> None:
    """Report no progress."""
