"""Evaluation of a large study: 100,000 frames of 40 exams, 2,000 bootstrap samples."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.results import write_results

EXAMS, FRAMES, POLYPS = 40, 2_500, 8
READ = "import sys, pyarrow.parquet as pq; [pq.read_table(path) for path in sys.argv[1:]]"
EVALUATE = ("-m", "capsieve", "evaluate", "results", "--labels", "labels.csv", "--no-galleries")


def main() -> None:
    print(f"{EXAMS} exams of {FRAMES:,} frames; ratio: to reading the tables with pyarrow\n")
    print(f"{'':<52}{'seconds':>8}{'ratio':>8}{'peak memory':>14}")
    for kind in ("whole radii", "continuous scores"):
        with tempfile.TemporaryDirectory() as folder:
            write_study(Path(folder), continuous=kind == "continuous scores")
            tables = map(str, Path(folder).glob("results/*/frames.parquet"))
            timed(("-m", "capsieve", "splits", "labels.csv", "-o", "splits.csv"), folder)
            read, _ = timed(("-c", READ, *tables), folder)
            for name, options in {"": (), ", with splits": ("--splits", "splits.csv")}.items():
                # The first run also compiles the comparison of hashes.
                timed((*EVALUATE, *options, "-o", "evaluation"), folder)
                seconds, peak = timed((*EVALUATE, *options, "-o", "evaluation"), folder)
                print(f"{kind + name:<52}{seconds:8.1f}{seconds / read:8.1f}{peak:11.2f} GB")


def timed(arguments: tuple[str, ...], folder: str) -> tuple[float, float]:
    """Run Python in a folder; return its seconds and the peak memory of all runs so far in GB."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)
    seconds = time.perf_counter() - started
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6


def write_study(folder: Path, *, continuous: bool) -> None:
    """Write results and labels of exams that differ in difficulty."""
    rng = np.random.default_rng(1)
    tables = []
    for exam in range(EXAMS):
        name = f"exam-{exam:02d}"
        polyp = np.full(FRAMES, "", object)
        for number in range(POLYPS):
            first = rng.integers(0, FRAMES - 60)
            polyp[first : first + rng.integers(3, 60)] = str(number)
        truth = polyp != ""
        level = rng.normal(size=FRAMES) + truth + rng.normal(0, 0.3)
        radius = np.clip(np.round(34 + 8 * np.abs(level)), 34, 85)
        write_results(
            folder / "results" / name,
            score=1 / (1 + np.exp(-level)) if continuous else np.where(level > 0, radius, 0.0),
            time_s=np.arange(FRAMES) / 4,
            threshold=0.8 if continuous else 37,
            phash=[rng.bytes(32) for _ in range(FRAMES)],
            record={"detector": {"name": "learned" if continuous else "paper"}},
        )
        rows = {"exam": [name] * FRAMES, "frame": np.arange(FRAMES), "polyp": polyp.astype(str)}
        rows |= {"label": np.where(truth, "polyp", "normal"), "patient": [f"p{exam}"] * FRAMES}
        tables.append(pa.table(rows))
    pc.write_csv(pa.concat_tables(tables), folder / "labels.csv")
