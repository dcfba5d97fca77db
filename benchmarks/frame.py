"""`analyze` on one frame, against one 61-tap filter of OpenCV, and where the time goes."""

import csv
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image
from tests.support.polyp_frames import polyp_frame

import capsieve
from benchmarks.timing import medians
from capsieve.paper.disc import disc
from capsieve.paper.extension import extend
from capsieve.paper.geometry import Components
from capsieve.paper.gray import channel_of
from capsieve.paper.midpass import midpass, smooth_inside
from capsieve.paper.segmentation import threshold
from capsieve.paper.texture import texture_energy
from capsieve.paper.vignetting import correct_vignetting

CAPSULE = Path(__file__).parents[2] / "shared" / "data" / "capsule"
FRAMES = 12
ROUNDS = 60
WIDTH = 256


def main() -> None:
    cv2.setNumThreads(1)
    passing, rejected, source = find_frames()
    table: dict[str, list[float]] = {}
    for frame, other in zip(passing, rejected, strict=True):
        runs = {
            "one 61-tap filter (OpenCV)": one_filter(),
            "analyze, passes pre-selection": lambda frame=frame: capsieve.analyze(frame),
            "analyze, rejected by texture": lambda other=other: capsieve.analyze(other),
            **stages(frame),
        }
        for name, time in medians(runs, rounds=ROUNDS).items():
            table.setdefault(name, []).append(time)
    print(f"{len(passing)} + {len(rejected)} {source}, {ROUNDS} rounds each, medians\n")
    print_table({name: float(np.median(times)) for name, times in table.items()})


def find_frames() -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]], str]:
    """Return frames that pass pre-selection, frames that do not, and what they are."""
    passing: list[NDArray[np.uint8]] = []
    rejected: list[NDArray[np.uint8]] = []
    for frame in real_frames() if CAPSULE.is_dir() else synthetic_frames():
        decided_by_texture = capsieve.analyze(frame).reason.startswith("texture")
        (rejected if decided_by_texture else passing).append(frame)
        if min(len(passing), len(rejected)) >= FRAMES:
            break
    count = min(len(passing), len(rejected), FRAMES)
    kind = "real" if CAPSULE.is_dir() else "synthetic"
    return passing[:count], rejected[:count], f"{kind} frames of {WIDTH} x {WIDTH}"


def real_frames() -> Iterator[NDArray[np.uint8]]:
    """Yield real frames from all over the collection, at the working width."""
    with (CAPSULE / "frames.csv").open() as table:
        files = [row["file"] for row in csv.DictReader(table)]
    for file in files[::97]:
        with Image.open(CAPSULE / file) as image:
            sized = image.convert("RGB").resize((WIDTH, WIDTH), Image.Resampling.BICUBIC)
        yield np.asarray(sized)


def synthetic_frames() -> Iterator[NDArray[np.uint8]]:
    """Yield synthetic frames: as they are, and nearly without texture."""
    for seed in range(3 * FRAMES):
        frame = polyp_frame(seed=seed, size=WIDTH)
        yield frame
        yield np.asarray(cv2.GaussianBlur(frame, (0, 0), 12), np.uint8)


def one_filter():
    half = 30
    taps = np.exp(-(np.arange(-half, half + 1) ** 2) / (2.0 * half**2))
    taps = (taps / taps.sum()).astype(np.float32)
    frame = np.random.default_rng(0).uniform(0, 255, (WIDTH, WIDTH)).astype(np.float32)
    out = np.empty_like(frame)
    return lambda: cv2.sepFilter2D(
        frame, cv2.CV_32F, taps, taps, dst=out, borderType=cv2.BORDER_REFLECT
    )


def stages(frame: NDArray[np.uint8]):
    """Return each step of the detector on its own, on the data that the step before left."""
    parameters = capsieve.Parameters()
    derived = parameters.derived
    circle = disc(WIDTH, WIDTH, derived.mask_radius)
    gray = channel_of(frame)
    corrected, _ = correct_vignetting(gray, circle)
    extended = extend(corrected, circle)
    sigmas = (parameters.midpass_fine, parameters.midpass_coarse)
    out, fine, coarse = (np.empty_like(gray) for _ in range(3))

    def smooth_twice():
        for sigma, smoothed in zip(sigmas, (fine, coarse), strict=True):
            smooth_inside(extended, circle, sigma=sigma, out=smoothed)
        return midpass(fine, coarse, circle, out=out)

    u, highest = smooth_twice()
    u = u.copy()
    theta = threshold(highest)

    def find_features():
        return Components(u, theta, radius_search=derived.radius_search).features(
            size_low=derived.size_low,
            size_high=derived.size_high,
            eccentricity_max=parameters.eccentricity_max,
        )

    return {
        "  gray": lambda: channel_of(frame, out=out),
        "  vignetting": lambda: correct_vignetting(gray, circle, out=out),
        "  extension": lambda: extend(extended, circle, out=extended),
        "  texture": lambda: texture_energy(extended, circle, out=out),
        "  mid-pass": smooth_twice,
        "  features and balls": find_features,
    }


def print_table(times: dict[str, float]) -> None:
    filter_name, whole_name = list(times)[:2]
    print(f"{'':<32}{'microseconds':>14}{'filters':>10}{'share':>8}")
    for name, time in times.items():
        share = f"{time / times[whole_name]:8.0%}" if name.startswith("  ") else ""
        print(f"{name:<32}{time:14.0f}{time / times[filter_name]:10.2f}{share}")
    parts = sum(time for name, time in times.items() if name.startswith("  "))
    rest = times[whole_name] - parts
    print(f"{'  the rest':<32}{rest:14.0f}{'':10}{rest / times[whole_name]:8.0%}")
