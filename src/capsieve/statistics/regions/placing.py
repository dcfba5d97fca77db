"""Which frame each outline belongs to, and which outlines can be used."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.sources.image_source import is_image_name
from capsieve.statistics.judged import POLYP, Judged
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.matching.keys import Why, find_frames
from capsieve.statistics.matching.screened import Screened
from capsieve.statistics.regions.problem_list import ProblemList, merge_problems
from capsieve.statistics.regions.region import MaskFile, Region, RegionSet

__all__ = ["PlacedRegions", "place_regions"]

_NOT_FOUND = {
    Why.NO_EXAM: "the exam was not screened",
    Why.NO_FRAME: "the exam has no such frame",
    Why.NO_FILE: "no frame has this file name",
    Why.AMBIGUOUS: "the file name fits several frames, or several files fit the frame",
    Why.TWO_HEADS: "the exam has two heads, and the outline names none",
    Why.NO_NUMBER: "the outline names a file, and the exams are videos",
    Why.SURPASSED: "another file fits the frame better",
}


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRegions:
    """Outlines on frames that are labelled polyp.

    Attributes
    ----------
    regions
        Those that were placed, sorted by frame.
    frame
        For each one its place among the judged frames.
    problems
        Of reading and placing.
    layout, path
        As of :class:`~capsieve.statistics.regions.region.RegionSet`.
    """

    regions: tuple[Region, ...]
    frame: NDArray[np.int64]
    problems: tuple[LabelProblem, ...]
    layout: str
    path: str


def place_regions(regions: RegionSet, judged: Judged) -> PlacedRegions:
    """Find the frame of every outline, by the rule by which labels find theirs.

    A name without an image's ending fits the image of that stem. Outlines on frames that are not
    labelled polyp are counted and not used; masks among them are not opened.

    Parameters
    ----------
    regions
        From :func:`~capsieve.statistics.regions.reading.read_regions`.
    judged
        The frames.
    """
    frame, why = _find(regions, judged)
    problems = ProblemList()
    placed: list[tuple[int, Region]] = []
    seen: set[tuple[int, object, str | None]] = set()
    for region, place, reason in zip(regions.regions, frame.tolist(), why.tolist(), strict=True):
        name = region.where or region.file or f"{region.exam}, frame {region.frame}"
        if place < 0:
            problems.add(_NOT_FOUND[Why(reason)], name)
        elif judged.truth[place] != POLYP:
            mask = isinstance(region.shape, MaskFile)
            what = "the mask, which was not opened," if mask else "the outline"
            problems.add(f"{what} belongs to a frame that is not labelled polyp", name)
        elif (key := (place, region.shape, region.polyp)) in seen:
            problems.add("the same outline stands there twice", name, used=True)
        else:
            seen.add(key)
            placed.append((place, region))
    placed.sort(key=lambda pair: pair[0])
    return PlacedRegions(
        regions=tuple(region for _, region in placed),
        frame=np.array([place for place, _ in placed], np.int64),
        problems=merge_problems(regions.problems, problems.result()),
        layout=regions.layout,
        path=regions.path,
    )


def _find(regions: RegionSet, judged: Judged) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Place regions with whole file names among whole names, and stems among stems."""
    files = pa.array([None] * len(judged) if judged.file is None else judged.file, pa.string())
    stems = pc.replace_substring_regex(files, pattern=r"\.[^./]*$", replacement="")  # pyright: ignore[reportAttributeAccessIssue]
    frame = np.full(len(regions.regions), -1, np.int64)
    why = np.full(len(regions.regions), Why.NO_FILE, np.int8)
    by_stem = np.array([not is_image_name(_last(region)) for region in regions.regions], bool)
    for chosen, names in ((np.flatnonzero(~by_stem), files), (np.flatnonzero(by_stem), stems)):
        if len(chosen) and len(judged):
            some = [regions.regions[place] for place in chosen]
            places = find_frames(_screened(judged, names), _keys(some), what=regions.path)
            frame[chosen], why[chosen] = places.row, places.why
    return frame, why


def _last(region: Region) -> str:
    """The file's name without folders; "" where there is none."""
    return (region.file or "").replace("\\", "/").rpartition("/")[2]


def _screened(judged: Judged, files: pa.Array) -> Screened:
    """The judged frames as what placing looks at."""
    count = len(judged.exams)
    has_files = np.zeros(count, bool)
    if files.null_count < len(files):
        has_files[judged.exam[np.asarray(files.is_valid())]] = True
    pairs = np.unique(judged.exam.astype(np.int64) * 2**16 + judged.head)
    heads = tuple(tuple((pairs[pairs >> 16 == exam] % 2**16).tolist()) for exam in range(count))
    return Screened(
        folders=(),
        exams=judged.exams,
        exam=judged.exam,
        heads=heads,
        columns={"head": judged.head, "frame": judged.frame},
        reasons=judged.reasons,
        reason=judged.reason,
        flagged=judged.flagged,
        decoded=~np.isnan(judged.score),
        file=files,
        has_files=has_files,
    )


def _keys(regions: list[Region]) -> pa.Table:
    return pa.table(
        {
            "exam": pa.array([region.exam for region in regions], pa.string()),
            "head": pa.array([region.head for region in regions], pa.int16()),
            "frame": pa.array([region.frame for region in regions], pa.int64()),
            "file": pa.array(
                [region.file and region.file.replace("\\", "/") for region in regions], pa.string()
            ),
        }
    )
