from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from capsieve import Explanation, Feature, FrameResult, Parameters, Placement

Blob = tuple[float, float, float, float]
"""Row, col, half-height and half-width of an upright elliptic feature."""


def a_placement(rows: int = 256, cols: int = 256) -> Placement:
    return Placement(
        rows=rows, cols=cols, row_scale=2.0, col_scale=2.0, row_offset=0.5, col_offset=0.5
    )


def a_feature(**changes: Any) -> Feature:
    values: dict[str, Any] = {
        "number": 1,
        "size": 1000,
        "eccentricity": 1.5,
        "row": 100.0,
        "col": 120.0,
        "ball_row": 101.0,
        "ball_col": 121.0,
        "radius": 54,
        "rejected": "",
        "moment_rr": 65000.0,
        "moment_rc": 0.0,
        "moment_cc": 97500.0,
    }
    return Feature(**(values | changes))


def a_result(**changes: Any) -> FrameResult:
    values: dict[str, Any] = {
        "label": "polyp",
        "reason": "polyp",
        "score": 54.0,
        "texture_max": 4.5,
        "radius_max": 54,
        "features": (a_feature(),),
        "placement": a_placement(),
        "midpass_max": 0.25,
        "segmentation_threshold": 0.125,
    }
    return FrameResult(**(values | changes))


def an_explanation(
    *,
    blobs: Sequence[Blob] = ((100, 120, 18, 18),),
    rows: int = 256,
    cols: int = 256,
    level: int = 120,
    texture_max: float = 4.5,
) -> Explanation:
    """Arrays and features that fit each other, without the detector."""
    parameters = Parameters()
    y, x = np.mgrid[:rows, :cols]
    mask = np.hypot(y - rows / 2, x - cols / 2) <= 0.45 * cols
    labels = np.zeros((rows, cols), np.int32)
    for number, (row, col, high, wide) in enumerate(blobs, start=1):
        labels[((y - row) / high) ** 2 + ((x - col) / wide) ** 2 <= 1] = number
    features = tuple(_measured(labels, number, parameters) for number in np.unique(labels)[1:])
    gray = np.where(mask, np.float32(level), np.float32(0))
    energy = np.where(mask, texture_max * np.exp(-np.hypot(y - 90, x - 150) / 80), 0.0)
    midpass = np.where(labels > 0, 0.25, 0.0).astype(np.float32)
    best = max((feature.radius for feature in features), default=0)
    reason = (
        "texture-low"
        if texture_max < parameters.texture_low
        else "texture-high"
        if texture_max > parameters.texture_high
        else "polyp"
        if best
        else "no-feature"
    )
    return Explanation(
        label="polyp" if reason == "polyp" else "normal",
        reason=reason,
        score=float(best if reason == "polyp" else 0),
        texture_max=texture_max,
        radius_max=best if reason == "polyp" else 0,
        features=features,
        placement=a_placement(rows, cols),
        midpass_max=float(midpass.max()),
        segmentation_threshold=0.125,
        frame=np.repeat(gray.astype(np.uint8)[:, :, None], 3, axis=2),
        gray=gray,
        corrected=gray,
        extended=gray,
        texture=np.where(mask, np.sin(x / 3.0), 0.0).astype(np.float32) * min(level, 10),
        energy=energy.astype(np.float32),
        midpass=midpass,
        segmentation=labels > 0,
        labels=labels,
        mask=mask,
    )


def _measured(labels: np.ndarray, number: int, parameters: Parameters) -> Feature:
    rows, cols = np.nonzero(labels == number)
    row, col = rows.mean(), cols.mean()
    rr, cc = ((rows - row) ** 2).sum(), ((cols - col) ** 2).sum()
    rc = ((rows - row) * (cols - col)).sum()
    small, large = np.linalg.eigvalsh([[rr, rc], [rc, cc]])
    eccentricity = float(large / small) if small > 0 else float("inf")
    bounds = parameters.derived
    rejected = (
        "size-low"
        if rows.size < bounds.size_low
        else "size-high"
        if rows.size > bounds.size_high
        else "eccentricity"
        if eccentricity > parameters.eccentricity_max
        else ""
    )
    return a_feature(
        number=int(number),
        size=int(rows.size),
        eccentricity=eccentricity,
        row=float(row),
        col=float(col),
        ball_row=float(row),
        ball_col=float(col),
        radius=0 if rejected else 54,
        rejected=rejected,
        moment_rr=float(rr),
        moment_rc=float(rc),
        moment_cc=float(cc),
    )


@pytest.fixture
def make_feature() -> Callable[..., Feature]:
    return a_feature


@pytest.fixture
def make_result() -> Callable[..., FrameResult]:
    return a_result


@pytest.fixture(scope="session")
def make_explanation() -> Callable[..., Explanation]:
    return an_explanation
