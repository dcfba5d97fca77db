"""All about where the detector points, for an evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capsieve.errors import FileError
from capsieve.statistics.bootstrap import ROUNDS, SEED
from capsieve.statistics.curves import FrocCurve
from capsieve.statistics.judged import Judged
from capsieve.statistics.labels.label_set import LabelProblem
from capsieve.statistics.metric import Metric
from capsieve.statistics.regions.froc import froc
from capsieve.statistics.regions.hits import hit_metrics, hit_table
from capsieve.statistics.regions.marks import read_marks
from capsieve.statistics.regions.placing import place_regions
from capsieve.statistics.regions.pointing import point_at
from capsieve.statistics.regions.problem_list import merge_problems
from capsieve.statistics.regions.region import RegionSet
from capsieve.statistics.table import Table

__all__ = ["Localisation", "localise"]


@dataclass(frozen=True, slots=True, eq=False)
class Localisation:
    """What an evaluation says of places.

    Attributes
    ----------
    metrics, table
        Hit rates, and the table by polyp.
    froc
        None where no outline can be used.
    problems
        Of reading, placing and opening the outlines.
    """

    metrics: tuple[Metric, ...]
    table: Table
    froc: FrocCurve | None
    problems: tuple[LabelProblem, ...]


def localise(
    regions: RegionSet,
    judged: Judged,
    *,
    folders: Mapping[str, Path],
    threshold: float,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Localisation:
    """Judge where the detector points.

    Parameters
    ----------
    regions
        From :func:`~capsieve.statistics.regions.reading.read_regions`.
    judged
        The frames.
    folders
        For each exam the folder with its features.parquet.
    threshold
        Of the operating point.
    rounds, seed
        Of the bootstrap.
    """
    placed = place_regions(regions, judged)
    pointed = point_at(judged, placed, read_marks(judged, folders))
    problems = merge_problems(placed.problems, pointed.problems)
    if not len(pointed.frame):
        why = f": {problems[0].what}" if problems else ""
        raise FileError(
            f"no outline in {regions.path} can be used on a frame that is labelled polyp{why}; "
            "check its names, or leave the outlines out"
        )
    return Localisation(
        metrics=hit_metrics(judged, pointed, threshold=threshold, rounds=rounds, seed=seed),
        table=hit_table(judged, pointed, threshold=threshold),
        froc=froc(judged, pointed),
        problems=problems,
    )
