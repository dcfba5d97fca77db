"""Exams that are screened without a detector: their tables say what was decoded, no more."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import NDArray

from capsieve.frames import pixel_hash
from capsieve.sources.source import Place, SourceFrame, Survey, open_source
from support.results import exam_record, frame_counts, write_table


@dataclass(frozen=True)
class Exam:
    """An exam's folder, and what reading its heads from end to end gave."""

    folder: Path
    frames: dict[int, list[SourceFrame]]

    def pixels(self, head: int = 0) -> list[NDArray[Any] | None]:
        return [frame.pixels for frame in self.frames[head]]


MakeExam = Callable[[Path, Sequence[Place]], Exam]


def row(head: int, number: int, frame: SourceFrame) -> dict[str, Any]:
    told = {"head": head, "frame": number, "pts": frame.pts, "time_s": frame.time}
    told |= {"file": frame.file, "problem": frame.problem or None}
    if frame.pixels is None:
        return told | {"status": "undecodable"}
    return told | {"status": "decoded", "sha1": pixel_hash(frame.pixels)}


def write_exam(folder: Path, rows: list[dict[str, Any]], sources: list[dict[str, Any]]) -> None:
    """Write the table of frames and the record of an exam."""
    folder.mkdir(parents=True)
    write_table(folder, "frames", rows)
    table = (folder / "frames.parquet").read_bytes()
    record = exam_record(folder.name, [frame_counts(len(rows))])
    record |= {"sources": sources, "tables": {"frames.parquet": hashlib.sha256(table).hexdigest()}}
    (folder / "exam.json").write_text(json.dumps(record), encoding="utf-8")


def source_of(place: Place, survey: Survey) -> dict[str, Any]:
    """Return what the record says of a source."""
    told = {"kind": place.kind, "path": place.path, "head": place.head, "stream": place.stream}
    told |= {"relative": "../nowhere", "names": place.names, "sha256": survey.sha256}
    return told | {"bytes": survey.size}


@pytest.fixture
def make_exam() -> MakeExam:
    """Return what writes the folder of an exam from the places of its heads."""

    def make(folder: Path, places: Sequence[Place]) -> Exam:
        rows: list[dict[str, Any]] = []
        sources: list[dict[str, Any]] = []
        frames: dict[int, list[SourceFrame]] = {}
        for place in places:
            source = open_source(place)
            survey = source.survey()
            read = [frame for segment in survey.segments for frame in source.frames(segment)]
            frames[place.head] = read
            rows += [row(place.head, number, frame) for number, frame in enumerate(read)]
            sources.append(source_of(place, survey))
        write_exam(folder, rows, sources)
        return Exam(folder, frames)

    return make


@pytest.fixture
def make_looped_exam() -> Callable[[Path, Path, Path], int]:
    """Return what writes the folder of an exam whose video shows a clip over and over.

    Only the clip is decoded.
    """

    def make(folder: Path, path: Path, clip: Path) -> int:
        short = open_source(Place("video", str(clip)))
        once = [f for segment in short.survey().segments for f in short.frames(segment)]
        place = Place("video", str(path))
        source = open_source(place)
        survey = source.survey()
        expected = [f for segment in survey.segments for f in source.expected(segment)]
        rows = [row(0, n, replace(f, pixels=None)) for n, f in enumerate(expected)]
        digests = [row(0, 0, frame)["sha1"] for frame in once]
        for number, each in enumerate(rows):
            each |= {"status": "decoded", "sha1": digests[number % len(digests)]}
        write_exam(folder, rows, [source_of(place, survey)])
        return len(rows)

    return make
