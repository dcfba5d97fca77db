"""Choose an operating point: the threshold, or the share to read, that reaches a target."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from capsieve._version import __version__
from capsieve.atomic_write import check_replaceable, write_json
from capsieve.detectors import rule_parameter
from capsieve.errors import FileError, ParameterError, file_errors
from capsieve.evaluation.leaks import LEAKS_FILE
from capsieve.evaluation.results import (
    LabelledResults,
    radius_warnings,
    read_results,
)
from capsieve.evaluation.scores import Scores
from capsieve.evaluation.settings import CalibrationOptions
from capsieve.evaluation.target import Scale, choose, reason, stability, unreachable
from capsieve.frame_table import FlagRule, LabelledFrames, Mask, flagged_at
from capsieve.labels import LabelProblem
from capsieve.parameters import Parameters
from capsieve.report import text
from capsieve.result_table import Column, Table
from capsieve.statistics.frames import reading_units, whole_exams
from capsieve.statistics.operating_point import TEST, TRAIN, cross_fit, has_folds, short_threshold
from capsieve.statistics.options import EvaluationOptions
from capsieve.statistics.rates import rate_metrics
from capsieve.statistics.reading_effort import effort_metrics, reading_share
from capsieve.statistics.results import Interval, Metric
from capsieve.store.choice import Choice, hashes_file, write_choice
from capsieve.store.record import RECORD
from capsieve.user_files import PathLike

CALIBRATION_SCHEMA = 2
"""Version of calibration.json."""

PARAMETERS_FILE = "calibrated.toml"

_CROSS_FITTED = "cross-fitted"
_LEAST_SHARE = 1e-5  # one frame of an exam with up to 100,000


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A chosen operating point.

    Attributes
    ----------
    results, labels
        Paths of the results and of the labels.
    options, label_format
        The given options, and the format of the labels.
    rule, name
        The chosen rule, a threshold or a share; and "R_P", "score threshold" or "share to read".
    reason, stability
        The rule of the choice and the calibration frames, as text; and the interval of the value
        over bootstrap samples of these frames.
    folds
        Value that the other folds chose, by fold.
    metrics
        Metrics of each subset: "all" or "train" (the calibration frames), the other parts, and
        "cross-fitted" (each fold with the value that the others chose).
    optimistic
        Subsets that are evaluated with a value that they chose themselves.
    detector, parameters
        Name and parameters for ``capsieve screen``; the parameters have R_P if it was chosen, and
        are None for scores of other programs.
    choice
        What is chosen, with the frame hashes of the calibration frames; None for scores of
        other programs.
    problems, warnings, leaks
        Of the labels and the choice, and leaks that were allowed; as texts.
    """

    results: str
    labels: str
    options: CalibrationOptions
    label_format: str
    rule: FlagRule
    name: str
    reason: str
    stability: Interval
    folds: Mapping[str, float]
    metrics: tuple[Metric, ...]
    optimistic: tuple[str, ...]
    detector: str
    parameters: Parameters | None
    choice: Choice | None
    problems: tuple[LabelProblem, ...]
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]

    @property
    def value(self) -> float:
        """The chosen threshold or share."""
        return self.rule.value

    def metric(self, key: str, subset: str = "all") -> Metric:
        """Return a metric; KeyError if there is none, with those that exist."""
        by_key = {(each.key, each.subset): each for each in self.metrics}
        if (key, subset) not in by_key:
            known = ", ".join(f"{name} ({part})" for name, part in by_key)
            raise KeyError(f"no metric {key!r} of the subset {subset!r}; there are {known}")
        return by_key[key, subset]


def calibrate(
    results: Scores,
    labels: Any,
    out: PathLike | None = None,
    *,
    options: CalibrationOptions = CalibrationOptions(),  # noqa: B008 it is immutable
    **changes: Any,
) -> Calibration:
    """Choose the threshold, or the share to read, that reaches a target.

    Parameters
    ----------
    results, labels
        As for :func:`capsieve.evaluate`.
    out
        Folder for calibration.json and, for results of ``capsieve screen``, calibrated.toml and
        the hashes of the calibration frames; by default nothing is written.
    options
        The target, what to choose, how labels are read and frames divided, and the bootstrap. Of
        `splits`, the part "train" chooses and the others test; of folds, all choose together, and
        each is tested with the value that the others choose. The files name leaks that are
        allowed.
    **changes
        Fields of `options`, such as ``sensitivity=80``.

    Raises
    ------
    FileError
        Scores or labels cannot be read or do not fit each other.
    LeakError
        Training and test share patients or images, or the model was trained on the frames.
    ParameterError
        An option is wrong, or nothing reaches the target.
    """
    options = replace(options, **changes)
    if out is not None and any((*Path(out).glob(RECORD), *Path(out).glob(f"*/{RECORD}"))):
        raise FileError(f"{out} contains results of capsieve screen; give another folder")
    leaks_file = None if out is None else Path(out) / LEAKS_FILE
    read = read_results(results, labels, options, leaks_file=leaks_file)
    lists = read.scored.rules and all(each.is_list for each in read.scored.rules)
    rule = options.rule or ("share" if lists else "threshold")
    frames = read.frames
    scored, scale = _scale(read, frames, rule)
    chooses, subset = _choosing(frames)
    calibration_frames = scored.take(chooses)
    threshold = choose(calibration_frames, options, scale)
    own = read.scored.parameters.get("radius_threshold") if rule == "threshold" else None
    of_radii = radius_warnings(read, own)
    if threshold is None:
        raise ParameterError(
            options.kind, ". ".join([unreachable(calibration_frames, options, scale), *of_radii])
        )

    def short(value: float) -> float:
        return value if scale.step is not None else short_threshold(value, scored.score)

    threshold, interval = short(threshold), stability(calibration_frames, options, scale)
    if interval.low is not None and interval.high is not None:  # comparable with the value
        low, high = (scale.sign * short(scale.sign * b) for b in (interval.low, interval.high))
        interval = replace(interval, low=low, high=high)
    flagged = flagged_at(scored.score, threshold)
    subsets = {subset: (chooses, flagged)}
    if subset == TRAIN:
        for code in np.unique(frames.part.code[frames.labelled & (frames.part.code >= 0)]):
            subsets.setdefault(frames.part.names[code], (frames.part.code == code, flagged))
    folds: dict[str, float] = {}
    warnings = [*read.warnings, *of_radii, *_warnings(frames, calibration_frames, threshold, scale)]
    if has_folds(frames):
        fit = cross_fit(scored, lambda others: choose(others, options, scale))
        if fit.failed:
            warnings.append(
                f"Nothing reaches the target on the folds other than {', '.join(fit.failed)}, so "
                "there are no metrics with values that other folds chose."
            )
        else:
            folds = {name: scale.sign * chosen for name, chosen in fit.values.items()}
            subsets[_CROSS_FITTED] = (chooses, fit.flagged)
    if len(subsets) == 1:
        warnings.append(
            "All metrics are of the calibration frames, so they are optimistic; --splits or "
            "--train-patient gives metrics of other frames."
        )
    value = scale.sign * threshold
    chosen = FlagRule(rule, float(value))
    parameters = Parameters.from_dict(read.scored.parameters) if read.scored.folders else None
    if parameters is not None and scale.step is not None:
        parameters = replace(parameters, radius_threshold=int(threshold))
    calibration = Calibration(
        results=read.scored.name,
        labels=read.labels.path,
        options=options,
        label_format=read.labels.label_format,
        rule=chosen,
        name=scale.name,
        reason=reason(
            calibration_frames, options, scale, " of the training part" if subset == TRAIN else ""
        ),
        stability=interval,
        folds=folds,
        metrics=tuple(
            metric
            for name, (mask, flags) in subsets.items()
            for metric in _metrics(frames, mask, flags, options, name)
        ),
        optimistic=(subset,),
        detector=str(read.scored.detector.get("name", "")),
        parameters=parameters,
        choice=_choice(read, chooses, scale, chosen) if read.scored.folders else None,
        problems=(*read.labels.problems, *read.matched.problems),
        warnings=tuple(dict.fromkeys(warnings)),
        leaks=read.leaks,
    )
    if out is not None:
        _write(calibration, Path(out))
        if calibration.parameters is not None:  # they know their file, for capsieve.screen
            calibration = replace(
                calibration, parameters=Parameters.load(Path(out) / PARAMETERS_FILE)
            )
    return calibration


def _scale(
    read: LabelledResults, frames: LabelledFrames, rule: str
) -> tuple[LabelledFrames, Scale]:
    """Return frames whose scores are on the scale of the choice, and that scale."""
    if rule == "share":
        if (reading_units(frames).code < 0).any():
            raise ParameterError(
                "rule",
                "cannot choose a share to read: the labels name neither exam nor patient of some "
                "frames; add a column exam or patient, or choose a threshold",
            )
        score = np.where(frames.scored, -reading_share(frames).clip(_LEAST_SHARE), np.nan)
        return replace(frames, score=score), Scale("share to read", None, -_LEAST_SHARE, -1)
    if rule_parameter(read.scored.detector):
        most = Parameters.from_dict(read.scored.parameters).derived.radius_search
        return frames, Scale("R_P", 1.0, float(most))
    return frames, Scale("score threshold", None)


def _choice(read: LabelledResults, chooses: Mask, scale: Scale, rule: FlagRule) -> Choice:
    """Return the value with the hashes of the frames that it, or the parameters, were chosen on."""
    frames, earlier = read.frames, read.scored.choice
    if earlier is not None and not earlier.scores:  # another value for the same scores
        earlier = None
    rows = np.flatnonzero(chooses & (frames.polyp_frames | frames.normal_frames))
    assert read.scored.pixel_hash is not None  # of results of capsieve screen
    hashes = set(read.scored.pixel_hash.take(pa.array(rows)).drop_null().to_pylist())
    shown = f"{100 * rule.value:.6g} %" if rule.is_list else f"{rule.value:.12g}"
    chosen = f"{scale.name} = {shown}"
    return Choice(
        chosen=chosen if earlier is None else f"{chosen} (after {earlier.chosen})",
        hashes=frozenset(hashes) | (frozenset() if earlier is None else earlier.hashes),
        scores=earlier is not None,
        detector=str(read.scored.detector.get("name", "")),
        model=str(read.scored.detector.get("model", "")),
        rule=None if scale.step is not None else rule,  # R_P is in the parameters
    )


def _choosing(frames: LabelledFrames) -> tuple[Mask, str]:
    """Return the frames that choose, and their name: the part "train", all parts, or all."""
    names, part = frames.part.names, frames.part.code
    if TEST in names and TRAIN not in names:
        raise ParameterError(
            "splits", "the split has a part test and no part train to choose on; name one train"
        )
    mask = part == names.index(TRAIN) if TRAIN in names else (part >= 0) | (not names)
    if not (frames.labelled & mask).any():
        raise ParameterError(
            "splits", "no labelled frame of the part that chooses is in the scores"
        )
    return mask, TRAIN if TRAIN in names else "all"


def _metrics(
    frames: LabelledFrames,
    mask: Mask,
    flagged: Mask,
    options: CalibrationOptions,
    subset: str,
) -> list[Metric]:
    statistics = EvaluationOptions(bootstrap_samples=options.bootstrap_samples, seed=options.seed)
    part, flags = frames.take(mask), flagged[mask]
    metrics = [
        *rate_metrics(part, flags, statistics, subset=subset),
        *effort_metrics(part, flags, statistics, subset=subset),
    ]
    if whole_exams(frames, mask):
        return metrics
    return [metric for metric in metrics if metric.unit == "share"]  # nothing per exam


def _warnings(
    frames: LabelledFrames, calibration_frames: LabelledFrames, threshold: float, scale: Scale
) -> Iterator[str]:
    lost = int(np.count_nonzero(frames.labelled & (frames.part.code < 0)))
    if frames.part.names and lost:
        yield f"Labelled frames in no part of the split, not used: {lost:,}."
    flagged = flagged_at(calibration_frames.score, threshold)
    name = f"{scale.name} = {scale.sign * threshold:g}"
    if not flagged.any():
        yield f"{name} flags none of the calibration frames."
    elif flagged[calibration_frames.score > -np.inf].all():
        yield f"{name} flags every frame that has a score."


def calibration_table(calibration: Calibration) -> Table:
    """Return the metrics as rows, and the frames that they are about as columns."""
    by_key = {(metric.key, metric.subset): metric for metric in calibration.metrics}
    names = {metric.key: metric.name for metric in calibration.metrics}
    rows: dict[str, list[str | None]] = {key: [] for key in names}
    columns = [Column("metric", "Metric")]
    for subset in dict.fromkeys(metric.subset for metric in calibration.metrics):
        name = {"all": "all frames", _CROSS_FITTED: "each fold by the others"}.get(subset, subset)
        name += " (optimistic)" if subset in calibration.optimistic else ""
        columns.append(Column(subset, name[:1].upper() + name[1:]))
        columns.append(Column(f"{subset}.interval", "95 % interval"))
        for key, cells in rows.items():
            metric = by_key.get((key, subset))
            if metric is None:
                cells += [None, None]
                continue
            counts = text.counts(metric) if metric.unit == "share" else ""
            cells.append(text.metric(metric) + (f" ({counts})" if counts else ""))
            bounded = metric.interval is not None and metric.interval.low is not None
            cells.append(text.interval(metric.interval, metric.unit) if bounded else None)
    lines = tuple((names[key], *cells) for key, cells in rows.items())
    return Table("calibration", "Metrics", tuple(columns), lines, calibration.reason)


def calibration_content(calibration: Calibration) -> dict[str, Any]:
    """Return the content of calibration.json as plain values."""
    plain = asdict(replace(calibration, choice=None))
    if calibration.options.splits is not None:
        plain["options"]["splits"] = str(calibration.options.splits)
    if calibration.choice is not None:
        choice = calibration.choice
        plain["choice"] = {"frames": len(choice.hashes), "sha256": choice.sha256}
    return {
        "schema": CALIBRATION_SCHEMA,
        "capsieve": __version__,
        "target": {"kind": calibration.options.kind, "value": calibration.options.target},
        "screen_option": calibration.rule.option,
        **plain,
        "rule": calibration.rule.kind,
        "value": calibration.rule.value,
    }


def _write(calibration: Calibration, out: Path) -> None:
    """Write calibration.json and, last, calibrated.toml with the hashes next to it."""
    with file_errors("create", out):
        out.mkdir(parents=True, exist_ok=True)
        parameters = out / PARAMETERS_FILE
        check_replaceable(parameters, hashes_file(parameters), out / "calibration.json")
        (out / PARAMETERS_FILE).unlink(missing_ok=True)  # of an earlier calibration
    write_json(calibration_content(calibration), out / "calibration.json")
    if calibration.parameters is None or calibration.choice is None:
        return
    tested = [m for m in calibration.metrics if m.subset not in calibration.optimistic]
    whose = "other frames" if tested else "the calibration frames (optimistic)"
    lines = [
        f"Chosen by capsieve calibrate: {calibration.name} = {calibration.value:.12g}.",
        calibration.reason,
        f"Results: {calibration.results}",
        f"Labels: {calibration.labels}",
        f"Metrics on {whose}:",
        *(f"  {m.name} ({m.subset}): {text.metric(m)}" for m in tested or calibration.metrics),
        *(f"Leak, allowed: {leak}" for leak in calibration.leaks),
        "Research software, not a medical device.",
    ]
    # A path may contain a line break; a comment ends with its line.
    comments = "".join(f"# {text.plain(line)}\n" for line in lines)
    write_choice(
        out / PARAMETERS_FILE, calibration.choice, f"{comments}\n{calibration.parameters.to_toml()}"
    )
