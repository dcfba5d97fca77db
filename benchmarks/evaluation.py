"""The evaluation of a large study: 2 million frames of 40 exams, 2,000 bootstrap rounds."""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # for the made-up results
from made_results import write_results

EXAMS = 40
FRAMES = 50_000  # of each
POLYPS = 8
READING = (
    "from pathlib import Path; from capsieve.statistics.labels import read_labels;"
    "from capsieve.statistics.matching import match;"
    "from capsieve.store.reader import exam_folders;"
    "match(exam_folders(Path('results')), read_labels('labels.csv'))"
)
EVALUATE = ("-m", "capsieve", "evaluate", "results", "--labels", "labels.csv")
SPLITS = ("-m", "capsieve", "splits", "labels.csv", "-o", "splits.csv")


def main() -> None:
    print(f"{EXAMS} exams of {FRAMES:,} frames; ratio: to reading and matching the tables alone\n")
    print(f"{'':<52}{'seconds':>8}{'ratio':>8}{'peak memory':>14}")
    for kind in ("whole radii", "continuous scores"):
        with tempfile.TemporaryDirectory() as folder:
            write_study(Path(folder), continuous=kind == "continuous scores")
            runs = {
                "read and match": ("-c", READING),
                "evaluate, no pictures": (*EVALUATE, "--no-galleries", "-o", "evaluation"),
                "the same with a split and its leaks": (
                    *(*EVALUATE, "--no-galleries", "--splits", "splits.csv", "-o", "split"),
                ),
            }
            timed(SPLITS, folder)
            alone = None
            for name, arguments in runs.items():
                seconds, peak = timed(arguments, folder)
                alone = alone or seconds
                label = f"{kind}: {name}"
                print(f"{label:<54}{seconds:6.1f}{seconds / alone:8.1f}{peak:11.2f} GB")


def timed(arguments: tuple[str, ...], folder: str) -> tuple[float, float]:
    """Run Python in a folder; return its seconds and its largest memory so far in GB."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)
    seconds = time.perf_counter() - started
    # Of the largest child so far: the runs come in the order of what they take.
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6


def write_study(folder: Path, *, continuous: bool) -> None:
    """Write results and labels: patients of different difficulty, eight polyps each."""
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
        score = 1 / (1 + np.exp(-level)) if continuous else np.where(level > 0, radius, 0.0)
        write_results(
            folder / "results" / name,
            score=score,
            time=np.arange(FRAMES) / 4,
            threshold=0.8 if continuous else 37,
            columns={"look": [rng.bytes(32) for _ in range(FRAMES)]},
            detector={"name": "learned" if continuous else "paper"},
        )
        rows = {"exam": [name] * FRAMES, "frame": np.arange(FRAMES), "polyp": polyp.astype(str)}
        rows |= {"label": np.where(truth, "polyp", "normal"), "patient": [f"p{exam}"] * FRAMES}
        tables.append(pa.table(rows))
    pc.write_csv(pa.concat_tables(tables), folder / "labels.csv")


if __name__ == "__main__":
    main()
