"""Train the informative-frame classifier anew.

    .venv/bin/python tools/train_informative.py FRAMES.csv --source kvasir-capsule

FRAMES.csv is a table of real frames with the columns file, source, video and label; files lie
beside it. Only frames labelled "normal" of one source are taken, the same number of each exam.
Each is spoiled in two ways at two strengths (src/capsieve/learned/informative/spoiling.py). The
phantom renders frames with bubbles, liquid and stool, and the same frames without. The weights go
to src/capsieve/learned/informative/weights.json, with what was measured on exams left out.
"""

import argparse
import csv
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

import capsieve
from capsieve.aperture.field import FieldOfView
from capsieve.learned.informative.classifier import Classifier, frame_values
from capsieve.learned.informative.fitting import fit_classifier
from capsieve.learned.informative.spoiling import WAYS, spoil
from capsieve.paper.staged import Stages
from capsieve.phantom import plan_exam, render_frame

TARGET = Path(__file__).parents[1] / "src/capsieve/learned/informative/weights.json"
CHOSEN = (
    "sharpness.band-16",
    "sharpness.band-32",
    "sharpness.laplacian",
    "sharpness.detail",
    "spots.bubbles",
    "spots.bright",
    "exposure.burnt",
    "exposure.black",
)
PASSING = 0.95
PER_EXAM = 30
PHANTOM_EXAMS, PHANTOM_FRAMES = 8, 60
FOLDS = 5
SEED = 0


@dataclass(frozen=True)
class Measured:
    """Values of frames: chains from the frame as it was to what is least to be seen.

    Attributes
    ----------
    chains
        Per chain its frames' values, the best first, the last badly spoiled.
    exams, ways
        Per chain.
    """

    chains: list[np.ndarray]
    exams: list[str]
    ways: list[str]


def values_of(pixels: np.ndarray, field: FieldOfView | None) -> list[float]:
    """Return what the classifier may look at."""
    with Stages(pixels, field) as stages:
        return frame_values(stages)


def measure_real(table: Path, source: str, rng: np.random.Generator) -> Measured:
    """Measure real frames and what became of them."""
    exams: dict[str, list[str]] = defaultdict(list)
    with table.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["source"] == source and row["label"] == "normal":
                exams[row["video"]].append(row["file"])
    found = Measured([], [], [])
    ways = list(WAYS)
    turn = 0
    for exam, names in sorted(exams.items()):
        chosen = [names[k] for k in np.linspace(0, len(names) - 1, PER_EXAM).astype(int)]
        frames = [_read(table.parent / name) for name in dict.fromkeys(chosen)]
        field = capsieve.field_of_view(frames)
        for frame in frames:
            clean = values_of(frame, field)
            for _ in range(2):
                way = ways[turn % len(ways)]
                turn += 1
                strengths = (rng.uniform(0.0, 0.4), rng.uniform(0.6, 1.0))
                spoiled = [
                    values_of(spoil(frame, way, strength, rng), field) for strength in strengths
                ]
                found.chains.append(np.array([clean, *spoiled]))
                found.exams.append(f"{source} {exam}")
                found.ways.append(way)
    return found


def measure_phantom() -> Measured:
    """Measure synthetic frames that something covers, and the same without it."""
    found = Measured([], [], [])
    for exam in range(PHANTOM_EXAMS):
        plan = plan_exam(
            1000 + exam, frames=PHANTOM_FRAMES, polyps=0, size=256, bubbles=2, liquid=2, stool=2
        )
        bare = replace(plan, bubbles=0.0, liquid=0.0, stool=0.0)
        for number in range(PHANTOM_FRAMES):
            frame = render_frame(plan, number)
            covered = [way for way in frame.truth.spoiled if way != "wall"]
            if covered:
                pair = [render_frame(bare, number).pixels, frame.pixels]
                field = capsieve.field_of_view(pair)
                found.chains.append(np.array([values_of(pixels, field) for pixels in pair]))
                found.exams.append(f"phantom {exam}")
                found.ways.append("phantom " + "+".join(covered))
    return found


def _read(path: Path) -> np.ndarray:
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise SystemExit(f"cannot read {path}")
    return np.ascontiguousarray(pixels[:, :, ::-1])


def fit(parts: list[Measured], keep: set[str], training: dict[str, str]) -> Classifier:
    """Fit on the exams in `keep`; each part weighs the same."""
    better, worse, weights, clean, spoiled = [], [], [], [], []
    for part in parts:
        chains = [
            chain for chain, exam in zip(part.chains, part.exams, strict=True) if exam in keep
        ]
        pairs = [(a, b) for c in chains for k, a in enumerate(c) for b in c[k + 1 :]]
        better += [a for a, _ in pairs]
        worse += [b for _, b in pairs]
        weights += [1.0 / len(pairs)] * len(pairs)
        clean += [chain[0] for chain in chains]
        spoiled += [chain[-1] for chain in chains]
    rows = (np.array(each) for each in (better, worse, weights, clean, spoiled))
    better, worse, weights, clean, spoiled = rows
    return fit_classifier(
        better,
        worse,
        weights,
        clean=clean,
        spoiled=spoiled,
        names=CHOSEN,
        passing=PASSING,
        training=training,
    )


def left_out(parts: list[Measured]) -> dict[str, str]:
    """Return what classifiers do on exams that they were not trained on."""
    exams = sorted({exam for part in parts for exam in part.exams})
    order: dict[str, list[bool]] = defaultdict(list)
    passed: dict[str, list[bool]] = defaultdict(list)
    for fold in range(FOLDS):
        judged = set(exams[fold::FOLDS])
        classifier = fit(parts, set(exams) - judged, {})
        for part in parts:
            for chain, exam, way in zip(part.chains, part.exams, part.ways, strict=True):
                if exam in judged:
                    chances = [classifier.chance(list(values)) for values in chain]
                    order[way].append(chances[0] > chances[-1])
                    passed[f"clean, {exam.split()[0]}"].append(chances[0] >= classifier.threshold)
                    passed[way].append(chances[-1] >= classifier.threshold)
    ordered = {
        f"{way}: pairs in order": f"{np.mean(hits):.3f} of {len(hits)}"
        for way, hits in sorted(order.items())
    }
    return ordered | {
        f"{way}: passes": f"{np.mean(hits):.3f} of {len(hits)}"
        for way, hits in sorted(passed.items())
    }


def main() -> None:
    """Measure, judge on exams left out, fit on all, write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("frames", type=Path, help="table of real frames (CSV)")
    parser.add_argument("--source", default="kvasir-capsule", help="which frames of the table")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    real = measure_real(options.frames, options.source, np.random.default_rng(SEED))
    write([real, measure_phantom()], options.source)


def write(parts: list[Measured], source: str) -> None:
    """Judge, fit and write."""
    real, phantom = parts
    training = {
        "command": f"tools/train_informative.py FRAMES.csv --source {source}",
        "real frames": f"normal frames of {len(set(real.exams))} exams of {source}, at most "
        f"{PER_EXAM} of each: {len(real.chains)} chains of a frame and two strengths of a spoiler",
        "attribution": "Kvasir-Capsule (Smedsrud et al., Sci Data 2021), as published in the "
        "Capsule Vision 2024 challenge's data, CC BY 4.0",
        "phantom": f"{len(phantom.chains)} frames of {PHANTOM_EXAMS} synthetic exams that bubbles, "
        "liquid or stool cover by a fifth or more, each with the same frame without them",
        "labels": "none by people: of each pair it is known which frame shows more",
        "threshold": f"{PASSING:.0%} of the frames that were not spoiled pass",
        **{f"exams left out: {name}": number for name, number in left_out(parts).items()},
    }
    exams = {exam for part in parts for exam in part.exams}
    classifier = fit(parts, exams, training)
    TARGET.write_text(classifier.to_json(), encoding="utf-8")
    print(TARGET.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main()
