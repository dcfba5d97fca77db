"""Options of calibrations, robustness studies and searches: only the standard library is used."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from capsieve.errors import ParameterError

if TYPE_CHECKING:
    from capsieve.frames import FieldOfView
    from capsieve.parameters import Parameters

__all__ = ["CalibrationOptions", "LabelledRunSettings", "RobustnessSettings", "SearchSettings"]


_TARGETS = ("specificity", "sensitivity", "frames")


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationOptions:
    """Options of :func:`capsieve.calibrate`.

    At most one of the first three is given; without any, the target is a specificity of 90 %.

    Attributes
    ----------
    specificity
        At least so many percent of the normal frames are not flagged: the paper's target.
    sensitivity
        At least so many percent of the polyps are found.
    frames
        At most so many frames per exam are to be read, in the mean.
    rule
        What to choose: a threshold, or the share of a reading list. By default the rule that the
        exams were screened with.
    train_patients
        Patients that choose; the others test.
    bootstrap_samples, seed
        Of the bootstrap.
    """

    specificity: float | None = field(
        default=None,
        metadata={
            "help": "At least so many normal frames are not flagged; 90 if no target is given.",
            "metavar": "PERCENT",
            "min": 1,  # less is probably a share of 1
            "max": 100,
        },
    )
    sensitivity: float | None = field(
        default=None,
        metadata={
            "help": "At least so many polyps are found.",
            "metavar": "PERCENT",
            "min": 1,
            "max": 100,
        },
    )
    frames: float | None = field(
        default=None,
        metadata={
            "help": "At most so many frames to read per exam, in the mean.",
            "metavar": "N",
        },
    )
    rule: Literal["threshold", "share"] | None = field(
        default=None,
        metadata={
            "help": "Choose a threshold, or the share of each exam to read; by default the rule "
            "that the exams were screened with.",
        },
    )
    train_patients: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Choose on this patient and test on the others. May be given several times.",
            "option": "--train-patient",
            "metavar": "NAME",
        },
    )
    bootstrap_samples: int = field(
        default=2000, metadata={"help": "Number of bootstrap samples.", "min": 100}
    )
    seed: int = field(default=0, metadata={"help": "Seed of the bootstrap.", "min": 0})

    def __post_init__(self) -> None:
        given = [name for name in _TARGETS if getattr(self, name) is not None]
        if len(given) > 1:
            raise ParameterError(
                given[1], f"cannot be combined with {given[0]}; give one of {', '.join(_TARGETS)}"
            )
        for name in ("specificity", "sensitivity"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 100:
                raise ParameterError(name, f"must be a percentage up to 100, not {value:g}")
        if self.frames is not None and not 0 < self.frames < math.inf:
            raise ParameterError("frames", f"must be a number above 0, not {self.frames:g}")

    @property
    def kind(self) -> Literal["specificity", "sensitivity", "frames"]:
        """Which target is given."""
        if self.frames is not None:
            return "frames"
        return "specificity" if self.sensitivity is None else "sensitivity"

    @property
    def target(self) -> float:
        """The target as a share of 1, or as frames per exam."""
        if self.frames is not None:
            return self.frames
        percent = self.specificity if self.sensitivity is None else self.sensitivity
        return round((90.0 if percent is None else percent) / 100, 12)  # 99.9 / 100 is not 0.999


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRunSettings:
    """Options that robustness studies and searches share.

    Attributes
    ----------
    label_format
        See :func:`capsieve.read_labels`.
    normals
        Analyse only so many normal frames, drawn at random over all exams; None takes all. Polyp
        frames are all kept.
    seed
        Of every random choice.
    field_of_view, full_names, workers
        See :class:`~capsieve.screening.settings.ScreenSettings`.
    overwrite
        Remove scores of an earlier run first.
    """

    label_format: str | None = field(
        default=None,
        metadata={"help": "Format of the labels, if it is not recognised.", "metavar": "NAME"},
    )
    normals: int | None = field(
        default=None,
        metadata={
            "help": "Analyse only so many normal frames, drawn at random; polyp frames are all "
            "kept.",
            "metavar": "N",
            "min": 1,
        },
    )
    seed: int = field(
        default=0, metadata={"help": "Seed of every random choice.", "metavar": "S", "min": 0}
    )
    field_of_view: "FieldOfView | Literal['auto', 'whole']" = field(
        default="auto",
        metadata={
            "help": "The circle that shows the gut: searched in each exam, the whole frame, or in "
            "pixels of the frame.",
            "metavar": "auto|whole|ROW,COL,RADIUS",
        },
    )
    full_names: bool = field(
        default=False,
        metadata={
            "help": "Include the names of folders in the names of exams: Polyp/KID is Polyp-KID."
        },
    )
    workers: int | None = field(
        default=None, metadata={"help": "Processes; by default one per core.", "min": 1}
    )
    overwrite: bool = field(
        default=False, metadata={"help": "Remove scores of an earlier run first."}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessSettings(LabelledRunSettings):
    """Options of :func:`~capsieve.evaluation.robustness.study_robustness`.

    Attributes
    ----------
    change, parameter
        By how many percent, and what: see :func:`~capsieve.evaluation.robustness.plan_changes`.
        The paper's seven parameters and 10 and -10 percent if they are empty.
    parameters
        The base; None for the paper's table.
    """

    change: tuple[float, ...] = field(
        default=(),
        metadata={
            "help": "How much to change a parameter. May be given several times; by default 10 and "
            "-10.",
            "metavar": "PERCENT",
        },
    )
    parameter: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "What to change: the name or symbol of a parameter. May be given several "
            "times; by default sigma1, sigma2, M_L, M_U, S_L, S_U and E_max, as in the paper.",
            "metavar": "NAME",
        },
    )
    parameters: "Parameters | None" = field(
        default=None,
        metadata={
            "help": "The base, if it is not the paper's; see capsieve parameters.",
            "metavar": "FILE.toml",
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings(LabelledRunSettings):
    """Options of :func:`~capsieve.evaluation.search.search`.

    Attributes
    ----------
    settings
        Number of settings, with the printed parameters.
    specificity
        Target in percent.
    folds
        Number of folds if no split is given; whole groups (patients, exams, blocks) are assigned.
    splits
        A file of ``capsieve splits`` with folds.
    """

    settings: int = field(
        default=300,
        metadata={
            "help": "Number of settings to compare, with the printed parameters.",
            "metavar": "N",
            "min": 2,
        },
    )
    specificity: float = field(
        default=90.0,
        metadata={
            "help": "Specificity that R_P of every setting must reach.",
            "metavar": "PERCENT",
            "min": 1,
            "max": 100,
        },
    )
    folds: int = field(
        default=5,
        metadata={
            "help": "Number of folds of whole patients, exams or blocks.",
            "metavar": "N",
            "min": 2,
        },
    )
    splits: Path | None = field(
        default=None,
        metadata={"help": "Folds from capsieve splits instead.", "metavar": "FILE"},
    )
