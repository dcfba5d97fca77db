"""The truth of an exam as tables: frames, polyps on frames, polyps, labels."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capsieve.atomic_write import atomic_write
from capsieve.phantom.study import StudyExam
from capsieve.phantom.truth import FrameTruth

__all__ = ["TABLES_SCHEMA", "frame_row", "label_row", "polyp_rows", "sighting_rows", "table"]

TABLES_SCHEMA = 1
"""Version of the columns of all tables; study.json carries it."""

_AXES = "xyz"


def frame_row(truth: FrameTruth) -> dict[str, Any]:
    """Return where the camera was and what spoils the frame."""
    row: dict[str, Any] = {
        "head": truth.head,
        "frame": truth.number,
        "time_s": truth.time_s,
        "label": truth.label,
        "position_mm": truth.position_mm,
        "motion": truth.motion,
        "lumen": truth.lumen,
        "contraction": truth.contraction,
        "spoiled": " ".join(truth.spoiled),
    }
    row |= {f"{axis}_mm": value for axis, value in zip(_AXES, truth.position, strict=True)}
    for i, line in enumerate(truth.rotation):
        row |= {f"r{i}{j}": value for j, value in enumerate(line)}
    return row


def sighting_rows(truth: FrameTruth) -> list[dict[str, Any]]:
    """Return every polyp that the frame shows, however little of it."""
    return [
        {
            "head": truth.head,
            "frame": truth.number,
            "polyp": polyp.id,
            "pixels": polyp.pixels,
            "share": polyp.share,
            "row0": polyp.box[0],
            "col0": polyp.box[1],
            "row1": polyp.box[2],
            "col1": polyp.box[3],
            "distance_mm": polyp.distance_mm,
            "counts": int(polyp.counts),
        }
        for polyp in truth.polyps
    ]


def label_row(exam: StudyExam, truth: FrameTruth, file: str) -> dict[str, Any]:
    """Return the label; where two polyps count, the one with more pixels is named.

    The finding is what spoils or fills the frame, whatever its label, as in frames.csv.
    """
    counting = [polyp for polyp in truth.polyps if polyp.counts]
    named = max(counting, key=lambda polyp: polyp.pixels, default=None)
    return {
        "exam": exam.name,
        "head": truth.head,
        "frame": truth.number,
        "file": file,
        "label": truth.label,
        "polyp": f"{exam.name}/{named.id}" if named else "",
        "patient": exam.patient,
        "finding": "; ".join(truth.spoiled),
    }


def polyp_rows(exam: StudyExam, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return every polyp of the colon, and in how many frames of any head it is the one named."""
    rows = []
    for polyp in exam.plan.polyps:
        name = f"{exam.name}/{polyp.id}"
        rows.append(
            {
                "exam": exam.name,
                "patient": exam.patient,
                "polyp": name,
                "kind": polyp.kind,
                "size_mm": round(polyp.size_mm, 2),
                "position_mm": round(polyp.position_mm, 1),
                "bearing_deg": round(math.degrees(polyp.bearing) % 360.0, 1),
                "redness": round(polyp.redness, 3),
                "roughness": round(polyp.roughness, 3),
                "frames": counts.get(name, 0),
            }
        )
    return rows


@contextmanager
def table(
    path: Path, columns: Sequence[str]
) -> Iterator[Callable[[Iterable[dict[str, Any]]], None]]:
    """Yield a function that adds rows to a CSV file, which appears whole or not at all.

    Rows go to the disk as they come: a table of a long exam takes no more memory than a short one.
    """
    with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        yield writer.writerows
