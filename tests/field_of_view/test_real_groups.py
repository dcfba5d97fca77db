"""Frames of real capsules against the circles that a person drew."""

import csv
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from capsieve import find_field_of_view

HERE = Path(__file__).resolve()
DRAWN = HERE.parents[1] / "data" / "field_of_view.csv"
FRAMES = HERE.parents[3] / "shared" / "data" / "capsule"

needs_frames = pytest.mark.skipif(
    not (FRAMES / "frames.csv").is_file(),
    reason="the real frames are not here (../shared/data/capsule)",
)


def drawn(source: str) -> list[dict[str, str]]:
    with DRAWN.open(newline="") as handle:
        return [row for row in csv.DictReader(handle) if row["source"] == source]


@cache
def table() -> list[dict[str, str]]:
    with (FRAMES / "frames.csv").open(newline="") as handle:
        return list(csv.DictReader(handle))


def files_of(group: dict[str, str]) -> list[str]:
    """The group's files: one source, one exam, by frame number, from the first to the last."""
    rows = table()
    first = next(row for row in rows if row["file"] == group["first_file"])
    rows = [r for r in rows if (r["source"], r["video"]) == (first["source"], first["video"])]
    files = [row["file"] for row in sorted(rows, key=lambda row: int(row["frame"]))]
    return files[files.index(group["first_file"]) : files.index(group["last_file"]) + 1]


def load(files: list[str]) -> list[np.ndarray]:
    pictures = [cv2.imread(str(FRAMES / file), cv2.IMREAD_COLOR) for file in files]
    return [picture[..., ::-1] for picture in pictures if picture is not None]


@pytest.mark.parametrize("source", ["kvasir-capsule", "see-ai"])
def test_twenty_groups_were_drawn(source: str) -> None:
    assert len(drawn(source)) == 20


@needs_frames
@pytest.mark.parametrize("source", ["kvasir-capsule", "see-ai"])
def test_real_groups_agree_with_a_person(source: str) -> None:
    good, named, misses = 0, 0, []
    for group in drawn(source):
        frames = load(files_of(group))
        assert len(frames) == 30
        seen = find_field_of_view(frames)
        centre = np.hypot(seen.row - float(group["row"]), seen.col - float(group["col"]))
        radius = abs(seen.radius - float(group["radius"]))
        misses.append((centre, radius, seen.confidence))
        good += centre <= 2 and radius <= 2
        named += seen.shape == group["shape"]
    worst = np.max(misses, axis=0)
    print(f"{source}: {good}/20 within 2 px, worst centre {worst[0]:.2f}, radius {worst[1]:.2f}")
    print(f"{source}: {named}/20 shapes, lowest confidence {np.min(misses, axis=0)[2]:.2f}")
    assert good >= 19
    assert named >= 19


@needs_frames
@pytest.mark.parametrize("source", ["kvasir-capsule", "see-ai"])
def test_three_real_frames_are_enough(source: str) -> None:
    good = 0
    for group in drawn(source)[::4]:
        seen = find_field_of_view(load(files_of(group)[::15][:3]))
        centre = np.hypot(seen.row - float(group["row"]), seen.col - float(group["col"]))
        good += centre <= 2 and abs(seen.radius - float(group["radius"])) <= 2
    assert good == 5
