"""How real the frames of the phantom are: ``python -m benchmarks.realism --real FOLDER``.

FOLDER has a table ``frames.csv`` with the columns file, source and label. Every measure is compared
with each source of real frames by the Kolmogorov-Smirnov distance of their distributions on normal
frames: 0 if they agree, 1 if they do not overlap. No real frame is written anywhere.

R_max is compared on the frames that have a ball (R_max > 0). Frames are scored whole, without a
search for the field of view, by the detector of the paper.
"""

import argparse
import csv
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp

import capsieve
from capsieve.detectors import load_detector
from capsieve.phantom import ExamPlan, plan_study, render_frame
from capsieve.screening.segment import score_frames
from capsieve.sources.base import SourceFrame

MEASURES = ("brightness", "red share", "blue share", "sharpness", "T_max", "R_max")
PAPER = {"polyp": 90.0, "normal": 47.84}
"""Per cent of the frames of a class that pass pre-selection in the paper."""

Table = dict[str, NDArray[np.float64]]


def main() -> None:
    options = parser().parse_args()
    plans = [exam.plan for exam in plan_study("demo", seed=options.seed).exams]
    jobs = [(plan, number) for plan in plans for number in range(plan.frames)]
    with ProcessPoolExecutor(options.workers, get_context("spawn"), limit_threads) as pool:
        chosen = jobs[options.every // 2 :: options.every]
        rendered = table(pool.map(measure_rendered, chosen, chunksize=8))
        real = {
            source: table(pool.map(measure_file, files, chunksize=8))
            for source, files in real_files(options.real, options.frames).items()
        }
    polyp = rendered["polyp"] > 0
    normal = {name: values[~polyp] for name, values in rendered.items()}
    print_distances(normal, real)
    print_quantiles({"phantom": normal, **real})
    print_texture(rendered, polyp)


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compare the phantom with real frames.")
    parser.add_argument("--real", type=Path, required=True, help="folder of real frames")
    parser.add_argument("--frames", type=int, default=1000, help="real frames of each source")
    parser.add_argument("--seed", type=int, default=0, help="seed of the demo study")
    parser.add_argument("--every", type=int, default=1, help="measure every n-th rendered frame")
    parser.add_argument("--workers", type=int, default=None)
    return parser


def limit_threads() -> None:
    cv2.setNumThreads(1)


def real_files(folder: Path, count: int) -> dict[str, list[Path]]:
    """Return up to `count` normal frames of each source, evenly spaced in the table."""
    with (folder / "frames.csv").open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] == "normal"]
    files: dict[str, list[Path]] = {}
    for row in rows:
        files.setdefault(row["source"], []).append(folder / row["file"])
    return {source: spaced(paths, count) for source, paths in sorted(files.items())}


def spaced(paths: list[Path], count: int) -> list[Path]:
    chosen = np.linspace(0, len(paths) - 1, min(count, len(paths))).round().astype(int)
    return [paths[index] for index in chosen]


def table(rows: Iterable[Mapping[str, float]]) -> Table:
    found = list(rows)
    return {name: np.array([row[name] for row in found], np.float64) for name in found[0]}


def measure_file(path: Path) -> dict[str, float]:
    """Return the measures of a real frame."""
    return measure(cv2.imread(str(path), cv2.IMREAD_COLOR_RGB))


def measure_rendered(job: tuple[ExamPlan, int]) -> dict[str, float]:
    """Render a frame; return its measures, and the mean of T on the polyps and on the wall."""
    frame = render_frame(*job)
    row = measure(frame.pixels)
    row["polyp"] = frame.truth.label == "polyp"
    found = capsieve.explain(frame.pixels)
    energy, place = found.energy, found.placement
    last = len(frame.polyp_map) - 1
    rows = np.rint(place.row_offset + place.row_scale * np.arange(energy.shape[0])).clip(0, last)
    cols = np.rint(place.col_offset + place.col_scale * np.arange(energy.shape[1])).clip(0, last)
    shown = found.mask & (frame.polyp_map[np.ix_(rows.astype(int), cols.astype(int))] > 0)
    wall = found.mask & ~shown
    row["T inside"] = energy[shown].mean() if shown.any() else np.nan
    row["T outside"] = energy[wall].mean() if wall.any() else np.nan
    row["T_max inside"] = shown.ravel()[energy.argmax()]
    return row


def measure(pixels: NDArray[np.uint8]) -> dict[str, float]:
    """Return :data:`MEASURES` of a frame, as screening stores them."""
    [row] = score_frames(load_detector("paper"), [SourceFrame(pixels)], [None])
    total = row["red"] + row["green"] + row["blue"]
    return {
        "brightness": total / 3,
        "red share": row["red"] / total,
        "blue share": row["blue"] / total,
        "sharpness": row["sharpness"],
        "T_max": row["texture_max"],
        "R_max": row["radius_max"] or np.nan,
    }


def print_distances(normal: Table, real: Mapping[str, Table]) -> None:
    pairs = {f"to {source}": (normal, other) for source, other in real.items()}
    pairs |= {f"{a} to {b}": (real[a], real[b]) for a, b in combinations(real, 2)}
    print(f"{'distance on normal frames':<26}" + "".join(f"{pair:>27}" for pair in pairs))
    for name in MEASURES:
        distances = (distance(one[name], other[name]) for one, other in pairs.values())
        print(f"{name:<26}" + "".join(f"{distance:27.2f}" for distance in distances))


def distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples; values that are NaN do not count."""
    first, second = (values[~np.isnan(values)] for values in (first, second))
    return float(ks_2samp(first, second).statistic)


def print_quantiles(tables: Mapping[str, Table]) -> None:
    print(f"\n{'10, 50, 90 % quantile':<26}" + "".join(f"{source:>27}" for source in tables))
    for name in MEASURES:
        columns = (np.nanquantile(table[name], (0.1, 0.5, 0.9)) for table in tables.values())
        words = ("  ".join(f"{value:.4g}" for value in column) for column in columns)
        print(f"{name:<26}" + "".join(f"{word:>27}" for word in words))


def print_texture(rendered: Table, polyp: NDArray[np.bool_]) -> None:
    low, high = capsieve.Parameters().texture_low, capsieve.Parameters().texture_high
    passed = (rendered["T_max"] >= low) & (rendered["T_max"] <= high)
    inside, outside = (rendered[f"T {part}"][polyp] for part in ("inside", "outside"))
    print(f"\npolyp frames: mean of T on polyps {np.nanmean(inside):.2f}, on the wall "
          f"{np.nanmean(outside):.2f}; higher on the polyp in {np.mean(inside > outside):.0%}; "
          f"T_max on the polyp in {np.mean(rendered['T_max inside'][polyp]):.0%}")  # fmt: skip
    for name, frames in (("polyp", polyp), ("normal", ~polyp)):
        print(f"{name} frames that pass pre-selection: {passed[frames].mean():.1%} (paper "
              f"{PAPER[name]} %)")  # fmt: skip


if __name__ == "__main__":
    main()
