"""Options of a training; only the standard library is imported."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from capsieve.errors import ParameterError

MODELS = ("cnn", "svm", "forest")

HOW_TO_CHOOSE = (
    "cnn, a network on the image, finds most on new exams: half an hour of one core. svm and "
    "forest, on features of the frame, take seconds and carry over poorly (AUC 0.60 on exams kept "
    "apart, cnn 0.78)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainSettings:
    """Options of :func:`capsieve.train`.

    Attributes
    ----------
    model
        "cnn", a network on the image; "svm" or "forest" on features of the frame. There is no
        default, because they carry over to new exams very differently: see docs/training.md.
    label_format
        Format of the labels if it is not recognised.
    splits
        Folds from ``capsieve splits --folds``.
    windows
        Folder of frames with outlines of polyps, from which windows are cut: further frames to
        learn from, for networks only. See docs/training.md.
    polyp_class
        The class of polyps in these outlines, if they do not name it.
    folds
        Number of folds of whole patients, blocks or exams, if `splits` is None.
    seed
        Seed of folds, fits and intervals. The same seed gives the same model.
    specificity
        Specificity in percent that the threshold of the model must reach out of fold.
    bootstrap_samples
        Number of bootstrap samples for the intervals.
    allow_leaks
        Continue although folds share patients or images.
    card
        TOML file with what only a person can say about the model.
    work
        Folder for crops, features and finished folds; by default MODEL.work.
    workers
        Processes that decode frames; None for one per core.
    overwrite
        Remove an earlier model, its tables and earlier work first.
    """

    model: Literal["cnn", "svm", "forest"] = field(
        metadata={"help": f"What to train. {HOW_TO_CHOOSE}."}
    )
    label_format: str | None = field(
        default=None,
        metadata={"help": "Format of the labels if it is not recognised.", "metavar": "NAME"},
    )
    splits: Path | None = field(
        default=None,
        metadata={"help": "Folds, from capsieve splits --folds.", "metavar": "FILE"},
    )
    windows: Path | None = field(
        default=None,
        metadata={
            "help": "Images with outlines of polyps (COCO, boxes or masks): windows with and "
            "without the polyp are further frames to learn from.",
            "metavar": "FOLDER",
        },
    )
    polyp_class: str | None = field(
        default=None,
        metadata={
            "help": "The class of polyps in boxes without names of classes.",
            "metavar": "polyp=ID",
            "option": "--class",
        },
    )
    folds: int | None = field(
        default=None,
        metadata={
            "help": "Number of folds of whole patients, blocks or exams; 5 by default.",
            "metavar": "K",
            "min": 2,
        },
    )
    seed: int = field(
        default=0,
        metadata={"help": "The same seed gives the same model.", "metavar": "S", "min": 0},
    )
    specificity: float = field(
        default=90.0,
        metadata={
            "help": "The specificity that the model's threshold must reach out of fold.",
            "metavar": "PERCENT",
        },
    )
    bootstrap_samples: int = field(
        default=2000,
        metadata={"help": "Bootstrap samples for the intervals.", "metavar": "N", "min": 100},
    )
    allow_leaks: bool = field(
        default=False,
        metadata={"help": "Continue although folds share patients or images; the card says so."},
    )
    card: Path | None = field(
        default=None,
        metadata={
            "help": "Card: name, intended_use, limits, and [[data]] with source, name, licence, "
            "citation.",
            "metavar": "FILE.toml",
        },
    )
    work: Path | None = field(
        default=None,
        metadata={
            "help": "Folder for crops, features and finished folds, which several trainings may "
            "use one after the other; MODEL.work by default.",
            "metavar": "FOLDER",
        },
    )
    workers: int | None = field(
        default=None, metadata={"help": "Processes; by default one per core.", "min": 1}
    )
    overwrite: bool = field(
        default=False, metadata={"help": "Remove an earlier model and earlier work first."}
    )

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ParameterError("model", f"there is no {self.model!r}; {HOW_TO_CHOOSE}")
        if not 1 <= self.specificity < 100:  # less is a share by mistake
            raise ParameterError(
                "specificity", f"must be at least 1 and below 100 percent, not {self.specificity:g}"
            )
        if self.splits is not None and self.folds is not None:
            raise ParameterError("folds", "cannot be combined with splits; give one of them")

        if self.windows is not None and self.model != "cnn":
            raise ParameterError("windows", f"only a network can learn from them, not {self.model}")
        if self.polyp_class is not None and self.windows is None:
            raise ParameterError("polyp_class", "is about outlines; give their folder with windows")

    @property
    def target(self) -> float:
        """The specificity as a share of 1."""
        return round(self.specificity / 100, 12)
