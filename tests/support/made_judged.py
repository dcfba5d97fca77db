"""Judged frames with the paper's counts: patients of its Table III, polyps of its Table II."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED, Judged

NORMAL_FRAMES = (422, 1008, 4666, 8567, 4075)
FALSE_ALARMS = (34, 55, 671, 767, 310)
POLYP_FRAMES = (18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15)
POLYP_FOUND = (1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1)
FOUND_FRAMES = 109
PATIENT_OF_POLYP = (0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4)
REASONS = ("polyp", "texture-low", "texture-high", "no-feature", "radius-low")
OTHERS = {"bubbles": 40, "fold": 60, "bleeding": 20}


def made_judged(*, unit: str = "polyp") -> Judged:
    """Return frames with the paper's counts, and 120 frames that show other findings."""
    rng = np.random.default_rng(7)
    parts: list[dict[str, Any]] = []
    left = FOUND_FRAMES - sum(POLYP_FOUND)
    for polyp, (frames, found) in enumerate(zip(POLYP_FRAMES, POLYP_FOUND, strict=True)):
        more = min(left, frames - 1, round(frames * 0.62)) if found else 0
        left -= more
        flags = np.zeros(frames, bool)
        flags[: found + more] = True
        rng.shuffle(flags)
        parts.append(_frames(rng, PATIENT_OF_POLYP[polyp], flags, POLYP, polyp=polyp))
    assert left == 0
    for patient, (frames, alarms) in enumerate(zip(NORMAL_FRAMES, FALSE_ALARMS, strict=True)):
        flags = np.zeros(frames, bool)
        flags[:alarms] = True
        rng.shuffle(flags)
        parts.append(_frames(rng, patient, flags, NORMAL))
    for finding, (_word, frames) in enumerate(OTHERS.items()):
        flags = rng.random(frames) < 0.2 + 0.1 * finding
        parts.append(_frames(rng, finding, flags, OTHER, finding=finding))
    parts.append(_frames(rng, 0, np.zeros(7, bool), UNLABELLED))
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.argsort(columns["exam"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    starts = np.searchsorted(columns["exam"], np.arange(5))
    frame = np.arange(order.size) - starts[columns["exam"]]
    names = tuple(f"patient {number + 1}" for number in range(5))
    return Judged(
        exams=tuple(f"exam-{number + 1}" for number in range(5)),
        head=np.zeros(order.size, np.int16),
        frame=frame,
        file=None,
        time=frame / 4.0,
        rows=np.full(order.size, 512, np.int32),
        cols=np.full(order.size, 512, np.int32),
        reasons=REASONS,
        polyps=tuple(f"polyp {number + 1}" for number in range(16)),
        patients=names,
        patient=columns["exam"].astype(np.int32),
        groups=names,
        group=columns["exam"].astype(np.int32),
        group_kind="patient",
        findings=tuple(OTHERS),
        parts=("train", "test"),
        part=np.where(columns["exam"] == 3, 0, 1).astype(np.int16),
        unit=unit,
        **columns,
    )


def _frames(
    rng: np.random.Generator,
    patient: int,
    flags: NDArray[np.bool_],
    truth: int,
    *,
    polyp: int = -1,
    finding: int = -1,
) -> dict[str, NDArray[Any]]:
    size = flags.size
    reason = rng.choice([1, 2, 3, 4], size, p=[0.2, 0.3, 0.15, 0.35]).astype(np.int16)
    if truth == POLYP:
        reason = rng.choice([2, 3, 4], size, p=[0.15, 0.15, 0.7]).astype(np.int16)
    reason[flags] = 0
    texture = np.where(reason == 1, rng.uniform(1.2, 2.99, size), rng.uniform(3, 8, size))
    texture = np.where(reason == 2, 8.01 + rng.exponential(4.0, size), texture)
    high = 60 if truth == POLYP else 48
    radius = np.where(flags, rng.integers(37, high, size), rng.integers(15, 37, size))
    radius = np.where((reason == 0) | (reason == 4), radius, 0)
    ball = radius > 0
    place = np.where(ball, rng.uniform(200, 310, size), np.nan)
    return {
        "exam": np.full(size, patient, np.int32),
        "score": radius.astype(np.float64),
        "flagged": flags,
        "reason": reason,
        "texture_max": texture,
        "radius_max": radius.astype(np.float64),
        "row": place,
        "col": np.where(ball, rng.uniform(200, 310, size), np.nan),
        "radius": np.where(ball, 1.6 * radius, np.nan),
        "truth": np.full(size, truth, np.int8),
        "polyp": np.full(size, polyp, np.int32),
        "finding": np.full(size, finding, np.int32),
    }
