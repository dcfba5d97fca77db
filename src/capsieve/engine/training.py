"""Training: from exams and labels to a model file with its card.

Frames are screened for their features, matched with labels, and parted into folds of whole
patients, blocks or exams. Each fold is scored by models that learned from the others: these scores
calibrate the model, choose its threshold and tell how good it is. A last fit on everything is what
is written.
"""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsieve.engine.executors.choose import choose_executor
from capsieve.engine.executors.versions import greeting_for
from capsieve.engine.progress import Listener
from capsieve.engine.screening import screen
from capsieve.engine.training_card import CardTexts, make_card, make_spec
from capsieve.engine.training_crops import gather_crops
from capsieve.engine.training_figures import out_of_fold_figures
from capsieve.engine.training_folds import Fits, OutOfFold
from capsieve.engine.training_frames import (
    TrainingFrames,
    check_labels,
    plan_folds,
    read_training_frames,
)
from capsieve.engine.training_join import Joined, join
from capsieve.engine.training_models import crop_size, trainers_of
from capsieve.engine.training_outcome import TrainingOutcome
from capsieve.engine.training_results import write_out_of_fold
from capsieve.engine.training_work import TrainingWork, check_model_path, open_work
from capsieve.engine.views import FieldChoice
from capsieve.errors import ParameterError
from capsieve.learned.training.checks import check_examples
from capsieve.learned.training.examples import Examples
from capsieve.learned.training.features_detector import FeaturesDetector
from capsieve.learned.training.trainer import Tell, Trainer
from capsieve.sources.inputs import find_exams
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
    model: str = "boosting",
    bases: Sequence[str] = (),
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
    fresh: bool = False,
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
    model, bases
        See :func:`~capsieve.engine.training_models.trainers_of`.
    splits
        Folds, a file of ``capsieve splits --folds``. Without it `folds` folds of whole patients,
        blocks or exams are planned.
    seed
        Of the folds that are planned here, of the fits and of the bootstrap.
    target_specificity
        That the model's threshold must reach out of fold, a share of 1.
    nested
        Fit once more without each pair of folds, so that calibration and fusion of a fold have not
        seen it either. By default where that is quick (nothing looks at images) and enough is left
        without two folds to learn from.
    one_source
        All frames are of one device, whatever folders they lie in.
    allow_leaks
        Go on although folds share patients or pictures. The outcome says so.
    rounds
        Of the bootstrap.
    work
        Folder for what trainings on the same frames share; by default NAME.onnx.work.
    fresh
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
    trainers = trainers_of(model, bases)
    check_model_path(out)
    told = read_labels(labels, layout=layout)
    exams = find_exams([Path(item) for item in wanted], full_names=full_names)
    check_labels(told, exams=len(exams), planned=splits is None)
    say: Tell = tell or _silent
    with open_work(out, None if work is None else Path(work), fresh=fresh) as place:
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
        size = crop_size(trainers)
        if size is not None:
            with ExitStack() as stack:
                executor = choose_executor(
                    workers=workers, cluster=None, greeting=greeting_for(FeaturesDetector())
                )
                stack.enter_context(executor)
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
        fits = [_fits(trainer, examples, frames, place, seed, say) for trainer in trainers]
        deep = nested if nested is not None else size is None and _can_nest(frames)
        found = [each.out_of_fold(nested=deep) for each in fits]
        joined = join(found, examples, frames.part)
        return _concluded(
            fits,
            found,
            joined,
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


def _fits(
    trainer: Trainer,
    examples: Examples,
    frames: TrainingFrames,
    place: TrainingWork,
    seed: int,
    say: Tell,
) -> Fits:
    seen = examples if "image" in trainer.looks_at else replace(examples, crops=None)
    return Fits(
        trainer=trainer,
        examples=seen,
        part=frames.part,
        trained=frames.trained,
        seed=seed,
        folder=place.fits(trainer, seen, frames, seed),
        tell=say,
    )


def _concluded(
    fits: Sequence[Fits],
    found: Sequence[OutOfFold],
    joined: Joined,
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

    names = [each.trainer.name for each in fits]
    weights = dict(zip(names, joined.weights, strict=True))
    threshold = _threshold(frames, joined.probability, target_specificity)
    fold_count = int(frames.part.max()) + 1
    identity = {
        "name": model,
        "out of fold": True,
        "threshold": threshold,
        "score": "probability",
        "fits": [each.folder.name for each in fits],
        "nested": joined.nested,
        "trained model": out.name,
    }
    say("judging", 0, 1)
    figures = out_of_fold_figures(
        frames,
        joined.probability,
        threshold=threshold,
        target_specificity=target_specificity,
        rounds=rounds,
        seed=seed,
        detector=identity,
    )
    say("judging", 1, 1)
    parts = [each.on_everything().graph(f"{each.trainer.name}_") for each in fits]
    graph = assemble(
        parts,
        joined.weights,
        joined.intercept,
        image_size=image_size,
        value_count=len(frames.examples.value_names),
        half=image_size is not None,
    )
    spec = make_spec(
        frames,
        threshold=threshold,
        image_size=image_size,
        reads_values=any("values" in each.trainer.looks_at for each in fits),
        has_map=any(part.map for part in parts),
    )
    kept = plural(frames.judged.group_kind)
    how = "calibration and fusion" if len(fits) > 1 else "calibration"
    by = "without it" if joined.nested else "by the logits of the others"
    judged = f"out of fold, {fold_count} folds of whole {kept}; {how} of each fold {by}"
    card = make_card(
        frames,
        figures,
        labels,
        texts,
        name=out.stem,
        kind=model,
        seed=seed,
        target_specificity=target_specificity,
        weighing=_weighing(fits, found, joined),
        settings={
            "folds": fold_count,
            "target specificity": target_specificity,
            "nested": joined.nested,
            **{f"weight of {name}": weight for name, weight in weights.items()},
            **{f"trainer {each.trainer.name}": repr(each.trainer) for each in fits},
        },
        judged=judged,
    )
    write_out_of_fold(
        frames, joined.probability, place.out_of_fold, threshold=threshold, identity=identity
    )
    card = write_model(out, graph, spec, card)
    return TrainingOutcome(
        path=out,
        model=model,
        card=card,
        threshold=threshold,
        target_specificity=target_specificity,
        figures=figures,
        weights=weights,
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


def _weighing(
    fits: Sequence[Fits], found: Sequence[OutOfFold], joined: Joined
) -> list[tuple[str, float]]:
    """Return what each feature, and the picture, weighs in the calibrated logit.

    The mean absolute change of a held-out frame's logit when the feature, or the picture, is that
    of another frame of its fold and source; over several models the sum.
    """
    total: dict[str, float] = {}
    for each, scored, weight in zip(fits, found, joined.weights, strict=True):
        for name, change in zip(each.examples.value_names, scored.weighing.tolist(), strict=False):
            total[name] = total.get(name, 0.0) + weight * change
        if "image" in each.trainer.looks_at:
            change = each.picture_weighing(scored.fit.logits)
            total["the picture"] = total.get("the picture", 0.0) + weight * change
    return list(total.items())


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""
