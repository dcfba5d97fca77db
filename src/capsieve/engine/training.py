"""Training: from exams and labels to a model file with its card.

Frames are screened for their features, matched with labels, and parted into folds of whole
patients, blocks or exams. Each fold is scored by models that learned from the others: these scores
calibrate the model, choose its threshold and tell how good it is. A last fit on everything is what
is written.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.training_calibration import Calibration, calibrate_logits
from capsieve.engine.training_card import CardTexts, make_card, make_spec
from capsieve.engine.training_crops import gather_crops
from capsieve.engine.training_figures import out_of_fold_figures
from capsieve.engine.training_folds import Fits
from capsieve.engine.training_frames import (
    TrainingFrames,
    check_labels,
    plan_folds,
    read_training_frames,
)
from capsieve.engine.training_models import crop_size, trainer_of
from capsieve.engine.training_outcome import TrainingOutcome
from capsieve.engine.training_results import write_out_of_fold
from capsieve.engine.training_work import TrainingWork, check_model_path, open_work
from capsieve.errors import ParameterError
from capsieve.learned.training.checks import check_examples
from capsieve.learned.training.features_detector import FeaturesDetector
from capsieve.learned.training.trainer import Tell
from capsieve.screening.executors import choose_executor
from capsieve.screening.screen import screen
from capsieve.screening.settings import FieldChoice, Listener
from capsieve.sources.discovery import find_exams
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.judged import NORMAL
from capsieve.statistics.labels import read_labels
from capsieve.statistics.labels.label_set import LabelSet
from capsieve.statistics.operating_point import smallest_threshold

__all__ = ["train"]

PathLike = str | os.PathLike[str]


def train(
    inputs: PathLike | Sequence[PathLike],
    labels: PathLike,
    out: PathLike,
    *,
    model: str = "svm",
    layout: str | None = None,
    splits: PathLike | None = None,
    folds: int = 5,
    seed: int = 0,
    target_specificity: float = 0.9,
    nested: bool | None = None,
    one_source: bool = False,
    allow_leaks: bool = False,
    rounds: int = 2000,
    field_of_view: FieldChoice = "auto",
    workers: int | None = None,
    full_names: bool = False,
    work: PathLike | None = None,
    overwrite: bool = False,
    card: CardTexts | None = None,
    progress: Listener | None = None,
    tell: Tell | None = None,
) -> TrainingOutcome:
    """Train a model on labelled frames, judge it out of fold, and write it.

    The same call goes on where an earlier one was stopped. The same frames, labels, folds and seed
    give the same model.

    Parameters
    ----------
    inputs, field_of_view, workers, full_names
        See :func:`capsieve.screen`.
    labels, layout
        See :func:`capsieve.statistics.labels.read_labels`.
    out
        The model file, NAME.onnx; its work stands beside it in NAME.onnx.work.
    model
        One of :data:`~capsieve.engine.training_models.MODELS`.
    splits
        Folds, a file of ``capsieve splits --folds``. Without it `folds` folds of whole patients,
        blocks or exams are planned.
    seed
        Of the folds that are planned here, of the fits and of the bootstrap.
    target_specificity
        That the model's threshold must reach out of fold, a share of 1.
    nested
        Fit once more without each pair of folds, so that the calibration of a fold has not seen it
        either. By default if that is quick (the model reads features) and enough is left without
        two folds to learn from.
    one_source
        All frames are of one device, whatever folders they lie in.
    allow_leaks
        Go on although folds share patients or pictures. The outcome says so.
    rounds
        Of the bootstrap.
    work
        Folder for what trainings on the same frames share; by default NAME.onnx.work.
    overwrite
        Remove the work of earlier calls first.
    card
        What the card says of the data.
    progress, tell
        Called while frames are screened, and while models are fitted.

    Raises
    ------
    FileError
        Inputs, labels or files that cannot be used, a training set that is too small.
    LeakError
        The folds share patients or pictures.
    ParameterError
        A setting that makes no sense, labels of one class.
    MissingExtraError
        A package that training needs is not installed.
    """
    out = Path(out)
    wanted = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not 0 < target_specificity < 1:
        raise ParameterError(
            "specificity", f"must be above 0 and below 1, not {target_specificity:g}"
        )
    trainer = trainer_of(model)
    check_model_path(out)
    told = read_labels(labels, layout=layout)
    exams = find_exams([os.fspath(item) for item in wanted], full_names=full_names)
    check_labels(told, exams=len(exams), planned=splits is None)
    say: Tell = tell or _silent
    with open_work(out, None if work is None else Path(work), overwrite=overwrite) as place:
        warnings: tuple[str, ...] = ()
        if splits is None:
            warnings = plan_folds(told, place.folds, folds=folds, seed=seed)
        _screen(
            wanted,
            place,
            names=[exam.name for exam in exams],
            field_of_view=field_of_view,
            workers=workers,
            full_names=full_names,
            progress=progress,
        )
        frames = read_training_frames(
            place.screened,
            told,
            place.folds if splits is None else Path(splits),
            value_names=FeaturesDetector().value_names,
            one_source=one_source,
            allow_leaks=allow_leaks,
        )
        examples = frames.examples
        (card or CardTexts()).check(examples.sources)
        size = crop_size(trainer)
        if size is not None:
            with choose_executor(workers=workers) as executor:
                crops = gather_crops(
                    wanted,
                    frames,
                    place.crops,
                    executor,
                    size=size,
                    full_names=full_names,
                    tell=say,
                )
            examples = replace(examples, crops=crops)
        fits = Fits(
            trainer=trainer,
            examples=examples,
            part=frames.part,
            seed=seed,
            folder=place.fits(trainer, examples, frames, seed),
            tell=say,
        )
        deep = nested if nested is not None else size is None and _can_nest(frames)
        return _concluded(
            fits,
            calibrate_logits(fits.out_of_fold(nested=deep), examples, frames.part),
            frames,
            told,
            place,
            out,
            model=model,
            image_size=size,
            seed=seed,
            target_specificity=target_specificity,
            rounds=rounds,
            texts=card or CardTexts(),
            warnings=warnings,
            say=say,
        )


def _screen(
    inputs: Sequence[PathLike],
    place: TrainingWork,
    *,
    names: Sequence[str],
    field_of_view: FieldChoice,
    workers: int | None,
    full_names: bool,
    progress: Listener | None,
) -> None:
    screened = screen(
        inputs,
        place.screened,
        detector=FeaturesDetector(),
        field_of_view=field_of_view,
        workers=workers,
        full_names=full_names,
        progress=progress,
    )
    for exam in screened:
        if exam.error is not None:
            raise exam.error
    place.check_exams(names)


def _can_nest(frames: TrainingFrames) -> bool:
    """Tell whether every model without two folds has enough to learn from."""
    folds = range(int(frames.part.max()) + 1)
    if len(folds) < 3:
        return False
    try:
        for high in folds:
            for low in range(high):
                check_examples(frames.examples, ~np.isin(frames.part, (low, high)))
    except ParameterError:
        return False
    return True


def _concluded(
    fits: Fits,
    calibration: Calibration,
    frames: TrainingFrames,
    labels: LabelSet,
    place: TrainingWork,
    out: Path,
    *,
    model: str,
    image_size: int | None,
    seed: int,
    target_specificity: float,
    rounds: int,
    texts: CardTexts,
    warnings: tuple[str, ...],
    say: Tell,
) -> TrainingOutcome:
    """Choose the threshold, judge, fit on everything and write all files."""
    from capsieve.learned.model_file import write_model
    from capsieve.learned.training.assemble import assemble

    threshold = _threshold(frames, calibration.probability, target_specificity)
    fold_count = int(frames.part.max()) + 1
    identity = {
        "name": model,
        "out of fold": True,
        "score": "probability",
        "fits": fits.folder.name,
        "nested": calibration.nested,
        "trained model": out.name,
    }
    say("judging", 0, 1)
    figures = out_of_fold_figures(
        frames,
        calibration.probability,
        threshold=threshold,
        target_specificity=target_specificity,
        rounds=rounds,
        seed=seed,
        detector=identity,
    )
    say("judging", 1, 1)
    part = fits.on_everything().graph(f"{model}_")
    graph = assemble(
        part,
        calibration.slope,
        calibration.intercept,
        image_size=image_size,
        value_count=len(frames.examples.value_names),
        half=image_size is not None,
    )
    spec = make_spec(
        threshold=threshold,
        image_size=image_size,
        value_names=frames.examples.value_names,
        has_map=bool(part.map),
    )
    kept = plural(frames.judged.group_kind)
    by = "without it" if calibration.nested else "by the logits of the others"
    judged = f"out of fold, {fold_count} folds of whole {kept}; calibration of each fold {by}"
    card = make_card(
        frames,
        figures,
        labels,
        texts,
        name=out.stem,
        kind=model,
        seed=seed,
        target_specificity=target_specificity,
        settings={
            "folds": fold_count,
            "target specificity": target_specificity,
            "nested": calibration.nested,
            "trainer": repr(fits.trainer),
        },
        judged=judged,
    )
    write_out_of_fold(
        frames, calibration.probability, place.out_of_fold, threshold=threshold, identity=identity
    )
    write_model(out, graph, spec, card)
    return TrainingOutcome(
        path=out,
        model=model,
        card=card,
        threshold=threshold,
        target_specificity=target_specificity,
        figures=figures,
        out_of_fold=place.out_of_fold,
        splits=frames.splits,
        problems=frames.read.matched.problems,
        warnings=tuple(dict.fromkeys((*warnings, *frames.warnings))),
        leaks=frames.read.leaks,
    )


def _threshold(frames: TrainingFrames, probability: NDArray[np.float64], target: float) -> float:
    """Return the smallest threshold that reaches the specificity on frames of trained sources."""
    normal = frames.trained & (frames.examples.truth == NORMAL)
    threshold = smallest_threshold(
        probability[normal], target_specificity=target, candidates=probability[frames.trained]
    )
    return min(threshold, 1.0)


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""
