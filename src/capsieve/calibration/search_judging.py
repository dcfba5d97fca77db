"""The honest figure: frames judged with settings and thresholds in which they had no say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from capsieve.calibration.search_curves import out_of_fold_curves, standing
from capsieve.calibration.search_objective import Truth
from capsieve.parameters import Parameters
from capsieve.statistics.bootstrap import (
    ROUNDS,
    SEED,
    ratio_interval,
    resampled_interval,
    resampled_ratio,
)
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.intervals import share_metric
from capsieve.statistics.judged import NORMAL, POLYP
from capsieve.statistics.metric import Metric
from capsieve.statistics.operating_point import smallest_threshold

__all__ = ["Judgement", "Subjects", "judge", "with_threshold"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Subjects:
    """The frames that are searched and judged.

    Attributes
    ----------
    truth
        What they show.
    parts, part
        Names of the parts of the split, and a code per frame; -1 for frames in none.
    group
        What is drawn again as a whole.
    group_kind
        What the groups are, for people.
    unit
        "polyp" or "run".
    """

    truth: Truth
    parts: tuple[str, ...]
    part: NDArray[np.int16]
    group: NDArray[np.int32]
    group_kind: str
    unit: str

    def judged_parts(self) -> list[int]:
        """Return the parts that are judged by the others: all but one that is named train."""
        held = set(np.unique(self.part[self.part >= 0]).tolist())
        return [code for code, name in enumerate(self.parts) if name != "train" and code in held]

    def others(self, part: int) -> Flags:
        """Return the frames of all parts but one."""
        return (self.part >= 0) & (self.part != part)


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The searched setting and the base on the same folds.

    Attributes
    ----------
    searched, base, differences
        Sensitivity per frame, specificity, sensitivity per polyp; of searched less base.
    ratio
        Searched sensitivity per frame by that of the base; None where that is 0.
    curves
        Sensitivity per frame at the target specificity of the out-of-fold curves: searched, base,
        difference. Both at the same specificity, which thresholds of other parts only come near;
        the threshold on the curve is chosen on the judged frames, alike for both.
    curve_ratio
        The first of them by the second; None where that is 0.
    flagged, base_flagged
        Per frame.
    """

    searched: tuple[Metric, ...]
    base: tuple[Metric, ...]
    differences: tuple[Metric, ...]
    ratio: float | None
    curves: tuple[Metric, ...]
    curve_ratio: float | None
    flagged: Flags
    base_flagged: Flags


def with_threshold(
    parameters: Parameters,
    score: NDArray[np.float64],
    truth: NDArray[np.int8],
    *,
    target_specificity: float,
) -> Parameters:
    """Return a setting with the smallest R_P that reaches the target on these frames."""
    chosen = smallest_threshold(
        score[truth == NORMAL], target_specificity=target_specificity, step=1
    )
    return replace(parameters, radius_threshold=int(chosen))


def judge(
    subjects: Subjects,
    chosen: Mapping[int, tuple[Parameters, NDArray[np.float64]]],
    base: Mapping[int, tuple[Parameters, NDArray[np.float64]]],
    *,
    target_specificity: float,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Judgement:
    """Judge every part with the setting and the threshold that the other parts chose for it.

    Parameters
    ----------
    subjects
        The frames.
    chosen, base
        By part: a setting with its R_P, and the scores of all frames under it.
    target_specificity
        At which the curves are read.
    rounds, seed
        Of the bootstrap. Both are drawn alike, round by round.
    """
    inside = np.isin(subjects.part, list(chosen))
    flags = _flagged(subjects, chosen), _flagged(subjects, base)
    scored = np.ones(len(inside), np.bool_)
    for settings in (chosen, base):
        for part, (_, score) in settings.items():
            scored &= ~((subjects.part == part) & np.isnan(score))
    truth, polyp = subjects.truth.truth, subjects.truth.polyp
    _, group = np.unique(subjects.group, return_inverse=True)
    named = inside & (truth == POLYP) & (polyp >= 0)
    codes, first, place = np.unique(polyp[named], return_index=True, return_inverse=True)
    found = [np.bincount(place, flag[named], minlength=len(codes)) > 0 for flag in flags]
    frames, normals = inside & (truth == POLYP), inside & (truth == NORMAL) & scored
    unit = subjects.unit
    shares = (
        ("frames", "Sensitivity per frame", "polyp frames that are flagged",
         group[frames], flags[0][frames], flags[1][frames]),
        ("specificity", "Specificity", "normal frames that are not flagged",
         group[normals], ~flags[0][normals], ~flags[1][normals]),
        ("polyps", f"Sensitivity per {unit}", f"{unit}s of which a frame is flagged",
         group[named][first], found[0], found[1]),
    )  # fmt: skip
    groups = int(group.max(initial=-1)) + 1
    made = [
        _metrics(*share, groups=groups, kind=subjects.group_kind, rounds=rounds, seed=seed)
        for share in shares
    ]
    searched, printed, differences = zip(*made, strict=True)
    hits = [int(np.count_nonzero(flag[frames])) for flag in flags]
    curves = out_of_fold_curves(
        [
            standing(subjects.part, truth, {part: score for part, (_, score) in settings.items()})
            for settings in (chosen, base)
        ],
        (frames, normals),
        group,
        kind=subjects.group_kind,
        target=target_specificity,
        rounds=rounds,
        seed=seed,
    )
    one, two = curves[0].value, curves[1].value
    return Judgement(
        searched=searched,
        base=printed,
        differences=differences,
        ratio=hits[0] / hits[1] if hits[1] else None,
        curves=curves,
        curve_ratio=one / two if one is not None and two else None,
        flagged=flags[0],
        base_flagged=flags[1],
    )


def _flagged(
    subjects: Subjects, settings: Mapping[int, tuple[Parameters, NDArray[np.float64]]]
) -> Flags:
    flagged = np.zeros(len(subjects.part), np.bool_)
    for part, (parameters, score) in settings.items():
        here = subjects.part == part
        flagged[here] = flagged_at(score[here], parameters.radius_threshold)
    return flagged


def _metrics(
    key: str,
    name: str,
    what: str,
    group: NDArray[np.int64],
    one: Flags,
    two: Flags,
    *,
    groups: int,
    kind: str,
    rounds: int,
    seed: int,
) -> Sequence[Metric]:
    """Return a share of the searched setting, of the base, and their difference."""
    every = np.bincount(group, minlength=groups)
    hits = [np.bincount(group[flag], minlength=groups) for flag in (one, two)]
    metrics = [
        share_metric(
            f"{who}.{key}",
            f"{name}, {words}",
            f"The share of {what}, with settings and thresholds of the other parts.",
            numerator=int(count.sum()),
            denominator=int(every.sum()),
            resampled=[ratio_interval(count, every, kind=kind, rounds=rounds, seed=seed)],
            independent="treats all as independent, which those of one patient are not",
            empty=f"there are no {what.partition(' that ')[0].partition(' of which ')[0]}",
        )
        for who, words, count in (("searched", "searched", hits[0]), ("base", "base", hits[1]))
    ]
    samples = resampled_ratio(hits[0] - hits[1], every, rounds=rounds, seed=seed)
    units = int(np.count_nonzero(every))
    total = int(every.sum())
    gained, lost = int(np.count_nonzero(one & ~two)), int(np.count_nonzero(two & ~one))
    difference = Metric(
        f"difference.{key}",
        f"Difference in {name[:1].lower()}{name[1:]}",
        (int(hits[0].sum()) - int(hits[1].sum())) / total if total else None,
        f"The difference of the shares of {what}, searched less base, on the same folds.",
        intervals=(resampled_interval(samples, kind=kind, units=units),),
        note=f"{gained:,} gained, {lost:,} lost, of {total:,}." if total else "No value: none.",
    )
    return (*metrics, difference)
