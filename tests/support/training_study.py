"""A small study to train on: patients whose frames show a polyp now and then."""

import csv
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

__all__ = ["FRAMES", "PATIENTS", "SHOWN", "study_frame", "write_study", "write_study_labels"]

PATIENTS = 8
FRAMES = 20
SHOWN = 6
SIZE = 96


def study_frame(number: int, *, polyp: bool) -> NDArray[np.uint8]:
    """Return a wall that no other frame has, with a bright dome on it where a polyp is shown."""
    rng = np.random.default_rng(number)
    coarse = rng.uniform(60, 150, (9, 9)).astype(np.float32)
    wall = cv2.resize(coarse, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    wall = wall + rng.normal(0, 4, wall.shape)
    if polyp:
        row, col = rng.uniform(35, SIZE - 35, 2)
        rows, cols = np.mgrid[0:SIZE, 0:SIZE]
        far = ((rows - row) ** 2 + (cols - col) ** 2) / rng.uniform(14, 18) ** 2
        wall = wall + 90 * np.sqrt(np.clip(1 - far, 0, 1))
    colour = np.array([1.0, 0.7, 0.5]) + rng.normal(0, 0.03, 3)
    return np.clip(wall[..., None] * colour, 0, 255).astype(np.uint8)


def write_study(folder: Path, *, patients: int = PATIENTS) -> Path:
    """Write a folder of images for each patient; of 20 frames six show a polyp."""
    for patient in range(patients):
        exam = folder / f"exam{patient}"
        exam.mkdir(parents=True)
        for number in range(FRAMES):
            pixels = study_frame(number + FRAMES * patient, polyp=number < SHOWN)
            Image.fromarray(pixels).save(exam / f"frame{number}.png")
    return folder


def write_study_labels(
    path: Path, *, patients: int = PATIENTS, named: bool = True, classes: str = "polyp normal"
) -> Path:
    """Write the labels; `named` says whether they name the patients."""
    polyp, normal = classes.split()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "label", "polyp", "patient"])
        for patient in range(patients):
            for number in range(FRAMES):
                shown = number < SHOWN
                writer.writerow(
                    [
                        f"exam{patient}",
                        f"frame{number}.png",
                        polyp if shown else normal,
                        f"p{patient}-{number // 3}" if shown and polyp == "polyp" else "",
                        f"patient{patient}" if named else "",
                    ]
                )
    return path
