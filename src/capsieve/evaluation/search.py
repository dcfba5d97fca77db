"""Parameter search: quasi-random settings scored once, compared on held-out folds.

All frames are scored with all settings first; the matrix of scores is the only costly part. Each
fold then takes the setting and R_P that the other folds choose: the setting with the highest
sensitivity per frame, with the smallest R_P that reaches the target specificity. The printed
parameters of the paper are always setting 0 and win ties.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.atomic_write import check_replaceable, write_json
from capsieve.errors import LeakError, ParameterError
from capsieve.evaluation.labelled_run import ExamPaths, LabelledRun, score_labelled_frames
from capsieve.evaluation.settings import SearchSettings
from capsieve.frame_table import NORMAL, POLYP, Floats, LabelledFrames, Mask, flagged_at
from capsieve.labels import SplitOptions, plan_splits, read_labels, read_splits
from capsieve.parameters import Parameters
from capsieve.report import page, tables, text
from capsieve.result_table import Column, Table
from capsieve.statistics.frames import BLOCKS_ARE_NOT_EXAMS
from capsieve.statistics.operating_point import cross_fit, has_folds, smallest_threshold
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import RATES, rate_metrics, rates
from capsieve.statistics.results import Metric
from capsieve.store.choice import Choice, hashes_file, write_choice
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from capsieve.screening.settings import Listener


SEARCH_SCHEMA = 1
"""Version of search.json."""


# The first five change the frame up to the mid-pass filter: few values, so settings share them.
# The rest of the texture step, and the width, which is the unit of the others, stay as printed.
_VALUES: dict[str, tuple[Any, ...]] = {
    "channel": ("gray", "red", "lab-a"),  # the paper names red and Lab a as channels to study
    "vignetting": (True, False),  # newer capsules correct the fall-off of light themselves
    "mask_radius": (0.42, 0.45, 0.48),
    "midpass_coarse": (18.0, 22.0, 26.0, 30.0, 36.0, 42.0, 50.0, 60.0),
    "midpass_fine": (3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0),
    "texture_low": (0.0, 2.0, 3.0, 4.0, 5.0, 6.0),
    "texture_high": (8.0, 10.0, 13.0, 18.0, 30.0, 1e6),  # the last one rejects no frame
}
# From low to high, evenly spread on a logarithmic scale.
_RANGES: dict[str, tuple[float, float]] = {
    "threshold_low": (0.03, 0.16),
    "threshold_high": (1.1, 4.0),  # times threshold_low
    "size_low": (100, 1000),  # pixels at a width of 256
    "size_high": (1600, 9000),
    "eccentricity_max": (2.0, 14.0),
}
_SHARED = 5
_CONTRASTS = ("texture_low", "texture_high", "threshold_low", "threshold_high")
_LAB_CONTRAST = 8.0  # contrast and texture of Lab a are about an eighth of those of grey


class Chosen(NamedTuple):
    """A setting and its R_P."""

    setting: int
    radius_threshold: int


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Results of a search.

    The metrics are those of held-out folds: of the search; of the printed parameters with an R_P
    that the other folds chose (refitted); and of the printed parameters with the printed R_P.
    """

    options: SearchSettings
    labels: str
    settings: tuple[Parameters, ...]  # the printed parameters first
    run: LabelledRun
    folds: Mapping[str, Chosen]  # what the other folds chose for each
    searched: tuple[Metric, ...]
    refitted: tuple[Metric, ...]
    printed: tuple[Metric, ...]
    best: Chosen  # on all frames
    parameters: Parameters


def draw_settings(count: int, *, seed: int = 0) -> tuple[Parameters, ...]:
    """Return the printed parameters, and further settings from a scrambled Sobol sequence.

    They are sorted by the fields of the first steps, which are then computed once for many.
    """
    from scipy.stats import qmc

    sobol = qmc.Sobol(len(_VALUES) + len(_RANGES), rng=seed)
    points = sobol.random_base2(math.ceil(math.log2(count)))[: count - 1].tolist()
    drawn = [_drawn(point) for point in points]
    drawn.sort(key=lambda values: [str(value) for value in values.values()][:_SHARED])
    return Parameters(), *(Parameters(**values) for values in drawn)


def _drawn(point: list[float]) -> dict[str, Any]:
    """Return the parameters at a point of the unit cube."""
    coordinates = iter(point)
    values = {name: among[int(next(coordinates) * len(among))] for name, among in _VALUES.items()}
    values |= {
        name: low * (high / low) ** next(coordinates) for name, (low, high) in _RANGES.items()
    }
    values["threshold_high"] *= values["threshold_low"]
    if values["channel"] == "lab-a":
        values |= {name: values[name] / _LAB_CONTRAST for name in _CONTRASTS}
    values |= {name: float(f"{values[name]:.4g}") for name in (*_CONTRASTS, "eccentricity_max")}
    return values | {name: round(values[name]) for name in ("size_low", "size_high")}


def search(
    inputs: ExamPaths,
    labels: PathLike,
    out: PathLike,
    *,
    settings: SearchSettings | None = None,
    progress: "Listener | None" = None,
) -> Search:
    """Search parameters of the paper's detector for exams like these.

    In the folder `out` are then search.json, settings.csv, best.toml and the scores. An interrupted
    search continues; a finished one is not scored again. Too few groups, or a split without folds,
    are a ParameterError.
    """
    settings = settings or SearchSettings()
    label_set = read_labels(labels, label_format=settings.label_format)
    if settings.splits is not None:
        splits = read_splits(settings.splits)
    else:
        planned = SplitOptions(folds=settings.folds, seed=settings.seed)
        splits = plan_splits(label_set, planned).splits
    tried = draw_settings(settings.settings, seed=settings.seed)
    out = Path(out)
    files = [out / name for name in ("search.json", "settings.csv", "best.toml")]
    check_replaceable(*files, hashes_file(files[-1]), record=files[0])
    run = score_labelled_frames(
        inputs,
        label_set,
        tried,
        out,
        settings=settings,
        splits=splits,
        check=_check_folds,
        progress=progress,
    )
    if settings.splits is None:  # these problems are among those of the labels
        own = tuple(each for each in run.problems if not each.what.startswith("split: "))
        run = replace(run, problems=own)
    frames = run.frames
    inside = frames.part.code >= 0
    options = EvaluationOptions(specificity=settings.specificity, seed=settings.seed)

    def of_folds(part: LabelledFrames) -> Mask:
        """Return the rows in the matrix of all frames of some folds."""
        return np.isin(frames.part.code, part.part.code)

    def best(part: LabelledFrames, columns: int = len(tried)) -> Chosen:
        """Return the setting with the highest sensitivity at the target; the first of equals."""
        scores = run.scores[of_folds(part), :columns]
        thresholds = _thresholds(scores[part.normal_frames], options.target)
        hits = (scores[part.polyp_frames] >= thresholds).sum(axis=0)
        setting = int(np.argmax(hits))
        return Chosen(setting, int(thresholds[setting]))

    def flag(part: LabelledFrames, chosen: Chosen) -> Mask:
        scores = run.scores[of_folds(part), chosen.setting]
        return flagged_at(scores, chosen.radius_threshold)

    def metrics(flagged: Mask) -> tuple[Metric, ...]:
        rates_found = rate_metrics(
            frames.take(inside), flagged[inside], options, subset="cross-fitted"
        )
        return tuple(metric for metric in rates_found if metric.key in RATES)

    fitted = cross_fit(frames, best, flag)
    chosen = best(frames.take(inside))
    outcome = Search(
        options=settings,
        labels=str(labels),
        settings=tried,
        run=run,
        folds=fitted.values,
        searched=metrics(fitted.flagged),
        refitted=metrics(cross_fit(frames, lambda part: best(part, 1), flag).flagged),
        printed=metrics(flag(frames, Chosen(0, tried[0].radius_threshold))),
        best=chosen,
        parameters=replace(tried[chosen.setting], radius_threshold=chosen.radius_threshold),
    )
    page.write(tables.csv(settings_table(outcome)), out / "settings.csv")
    choice = Choice(
        chosen=f"setting {chosen.setting} of {len(tried)} with R_P = {chosen.radius_threshold}",
        scores=True,
        hashes=frozenset(text for text in run.pixel_hash[inside].tolist() if text),
    )
    write_choice(out / "best.toml", choice, _best_text(outcome))
    write_json(search_content(outcome), out / "search.json")
    return replace(outcome, parameters=Parameters.load(out / "best.toml"))  # which know their file


def _thresholds(normal: NDArray[np.float32], target: float) -> Floats:
    """Return R_P of each setting: the smallest that reaches the target on normal frames."""
    thresholds = [smallest_threshold(column, specificity=target, step=1.0) for column in normal.T]
    return np.array(thresholds)


def _check_folds(frames: LabelledFrames) -> None:
    """Refuse frames whose folds cannot choose and test."""
    names, part = frames.part.names, frames.part.code
    if not has_folds(frames):
        raise ParameterError(
            "splits", "the split has no folds; make some with capsieve splits --folds 5"
        )
    inside = part >= 0
    divided = np.unique(np.stack([frames.group.code[inside], part[inside]]), axis=1)[0]
    groups, times = np.unique(divided, return_counts=True)
    if (times > 1).any():
        name = frames.group.names[groups[times > 1][0]]
        raise LeakError(
            f"{frames.group_kind} {name!r} is in several folds, so held-out frames are not "
            "independent; split by whole groups with capsieve splits"
        )
    for code, name in enumerate(names):
        truth = frames.truth[part == code]
        if not ((truth == POLYP).any() and (truth == NORMAL).any()):
            raise ParameterError(
                "folds",
                f"fold {name!r} has no polyp frame or no normal frame; ask for fewer folds, or "
                f"give labels of more than {len(groups)} groups ({frames.group_kind})",
            )


def settings_table(outcome: Search) -> Table:
    """Return all settings with R_P and the rates that they have on all frames."""
    frames, scores = outcome.run.frames, outcome.run.scores
    target = EvaluationOptions(specificity=outcome.options.specificity).target
    thresholds = _thresholds(scores[frames.normal_frames], target)
    used = [chosen.setting for chosen in outcome.folds.values()]
    rows: list[tuple[Any, ...]] = []
    for number, (setting, threshold) in enumerate(zip(outcome.settings, thresholds, strict=True)):
        values = replace(setting, radius_threshold=int(threshold)).to_dict().values()
        reached = rates(frames, flagged_at(scores[:, number], threshold))
        shown = (reached[key].value for key in RATES)
        rows.append((number, *values, *shown, used.count(number)))
    names = ["setting", *outcome.parameters.to_dict(), *RATES, "folds"]
    return Table("settings", "Settings", tuple(Column(n, n) for n in names), tuple(rows))


def comparison_table(outcome: Search) -> Table:
    """Return the metrics on held-out folds: of the search, and of the printed parameters."""
    kinds = {
        "Search": outcome.searched,
        "Printed parameters, R_P chosen alike": outcome.refitted,
        f"Printed parameters, R_P = {outcome.settings[0].radius_threshold}": outcome.printed,
    }
    columns = [Column("parameters", "Parameters")]
    for metric in outcome.searched:
        columns.append(Column(metric.key, metric.name, "share"))
        columns.append(Column(f"{metric.key}.interval", "95 % interval"))
    rows = [
        (name, *(cell for m in metrics for cell in (m.value, text.interval(m.interval, m.unit))))
        for name, metrics in kinds.items()
    ]
    frames = outcome.run.frames
    caption = (
        f"{int(frames.polyp_frames.sum()):,} polyp frames and {int(frames.normal_frames.sum()):,} "
        f"normal frames in {len(outcome.folds)} folds of whole {frames.group_kind}s. Each fold is "
        "flagged with what the other folds chose, for a specificity of at least "
        f"{outcome.options.specificity:g} %."
    )
    caption = " ".join([caption, *_cautions(outcome)])
    return Table("search", "Held-out folds", tuple(columns), tuple(rows), caption)


def _cautions(outcome: Search) -> list[str]:
    return [BLOCKS_ARE_NOT_EXAMS] if "block" in outcome.run.frames.group_kind else []


def search_content(outcome: Search) -> dict[str, Any]:
    """Return the content of search.json as plain values."""
    options = outcome.options
    return {
        "schema": SEARCH_SCHEMA,
        "capsieve": __version__,
        "labels": outcome.labels,
        "settings": {
            "settings": options.settings,
            "specificity": options.specificity,
            "splits": None if options.splits is None else str(options.splits),
            "normals": options.normals,
            "seed": options.seed,
        },
        **outcome.run.content(),
        "cautions": _cautions(outcome),
        "folds": {name: chosen._asdict() for name, chosen in outcome.folds.items()},
        "searched": [asdict(metric) for metric in outcome.searched],
        "printed_with_chosen_radius": [asdict(metric) for metric in outcome.refitted],
        "printed": [asdict(metric) for metric in outcome.printed],
        "best": outcome.best._asdict() | {"parameters": outcome.parameters.to_dict()},
    }


def _best_text(outcome: Search) -> str:
    """Return the chosen parameters as TOML, with the metrics to expect in comments."""
    comments = [
        f"Chosen by capsieve search among {len(outcome.settings)} settings (number "
        f"{outcome.best.setting}; 0 has the printed parameters).",
        "On held-out folds, the search and the printed parameters with R_P chosen alike:",
    ]
    for searched, printed in zip(outcome.searched, outcome.refitted, strict=True):
        comments.append(f"  {searched.name}: {text.metric(searched)}, {text.metric(printed)}")
    comments += [*_cautions(outcome), "Research software, not a medical device."]
    return "".join(f"# {line}\n" for line in comments) + "\n" + outcome.parameters.to_toml()
