"""Exams of real sources without a detector: the tables say what was decoded, without scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from capsieve.frames import pixel_hash
from capsieve.sources.base import Place, SourceFrame, Survey, open_source
from support.results import write_results

__all__ = ["ScreenedSource", "write_screened_source"]


@dataclass(frozen=True)
class ScreenedSource:
    """The folder of an exam, and the frames of its heads from one sequential reading."""

    folder: Path
    frames: dict[int, list[SourceFrame]]

    def pixels(self, head: int = 0) -> list[NDArray[Any] | None]:
        return [frame.pixels for frame in self.frames[head]]


def write_screened_source(
    folder: Path,
    places: Sequence[Place],
    *,
    thumbnails: Mapping[tuple[int, int], bytes] | None = None,
) -> ScreenedSource:
    """Decode sources and write the results of an exam.

    Parameters
    ----------
    folder
        Its name is the name of the exam.
    places
        The source of each head.
    thumbnails
        Content of thumbnails.parquet by head and frame.
    """
    frames: dict[int, list[SourceFrame]] = {}
    sources: list[dict[str, Any]] = []
    packets: list[dict[str, Any]] = []
    for place in places:
        source = open_source(place)
        survey = source.survey()
        frames[place.head] = [f for part in survey.segments for f in source.frames(part)]
        sources.append(_source(place, survey, source.stamp()))
        if survey.packets is not None:
            rows = survey.packets.to_arrow().to_pylist()
            packets += [{"head": place.head} | row for row in rows]
    each = [(head, n, frame) for head, some in frames.items() for n, frame in enumerate(some)]
    decoded = [frame.pixels is not None for _, _, frame in each]
    write_results(
        folder,
        head=[head for head, _, _ in each],
        frame=[number for _, number, _ in each],
        file=[frame.file for _, _, frame in each],
        packet=[frame.packet for _, _, frame in each],
        time_s=[frame.time for _, _, frame in each],
        pixel_hash=[None if f.pixels is None else pixel_hash(f.pixels) for _, _, f in each],
        status=["decoded" if known else "undecodable" for known in decoded],
        problem=[frame.problem or None for _, _, frame in each],
        packets=packets,
        thumbnails=[
            {"head": head, "frame": frame, "thumbnail": content}
            for (head, frame), content in (thumbnails or {}).items()
        ],
        record={"sources": sources, "fields_of_view": []},
    )
    return ScreenedSource(folder, frames)


def _source(place: Place, survey: Survey, stamp: str) -> dict[str, Any]:
    return {
        "head": place.head,
        "kind": place.kind,
        "path": place.path,
        "relative": "../nowhere",
        "stream": place.stream,
        "names": place.names,
        "sha256": survey.sha256,
        "stamp": stamp,
        "bytes": survey.size,
        "declared": survey.declared,
        "description": dict(survey.description),
    }
