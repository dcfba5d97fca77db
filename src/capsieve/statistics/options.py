"""Options that can change a number; the text "help" makes a field an option of the command line."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from capsieve.errors import ParameterError
from capsieve.frame_table import FlagRule
from capsieve.option_fields import documented, option

_MOST_SAMPLES = 1_000_000  # each is kept until the intervals are known


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How labels are read and frames divided."""

    train_patients: tuple[str, ...] = option(
        (),
        "Choose the operating point on this patient (or exam, if it is the only one of "
        "its patient) and test on the others. May be given several times.",
        option="--train-patient",
        metavar="NAME",
    )
    splits: Path | None = option(
        None, "Parts from capsieve splits: train and test, or folds.", metavar="FILE"
    )
    label_format: str | None = option(
        None, "Format of the labels, if it is not recognised.", metavar="NAME"
    )
    first_frame: int = option(
        0,
        "Number of the first frame of an exam in tables of scores.",
        metavar="NUMBER",
        min=0,
        max=1,
    )
    allow_leaks: bool = option(
        False, "Continue although training and test frames are not independent; all files say so."
    )

    def __post_init__(self) -> None:
        if isinstance(self.train_patients, str):
            raise ParameterError("train_patients", "must be a list of names, not a text")
        if self.first_frame not in (0, 1):
            raise ParameterError("first_frame", f"must be 0 or 1, not {self.first_frame}")
        if self.splits is not None and self.train_patients:
            raise ParameterError(
                "train_patients", "cannot be combined with splits; both define the training part"
            )


@dataclass(frozen=True, kw_only=True)
class BootstrapOptions:
    """The random draws of intervals."""

    bootstrap_samples: int = option(
        2000, "Number of bootstrap samples.", min=100, max=_MOST_SAMPLES
    )
    seed: int = option(0, "Seed of the bootstrap.", min=0)

    def __post_init__(self) -> None:
        if not 100 <= self.bootstrap_samples <= _MOST_SAMPLES:
            what = f"must be from 100 to {_MOST_SAMPLES:,}, not {self.bootstrap_samples}"
            raise ParameterError("bootstrap_samples", what)
        if self.seed < 0:
            raise ParameterError("seed", f"must be 0 or more, not {self.seed}")


@documented
@dataclass(frozen=True, kw_only=True)
class EvaluationOptions(BootstrapOptions, InputOptions):
    """Options of :func:`capsieve.evaluate`."""

    specificity: float = option(
        90.0,
        "Specificity that a chosen operating point must reach.",
        metavar="PERCENT",
        min=1,
        max=100,
    )
    threshold: float | None = option(None, "Evaluate this threshold instead of the flags of OUT.")
    read: str | None = option(
        None,
        "Evaluate a reading list instead: a share (10%) or a number of frames (300).",
        metavar="SHARE|NUMBER",
    )

    def __post_init__(self) -> None:
        InputOptions.__post_init__(self)
        BootstrapOptions.__post_init__(self)
        if not 1 <= self.specificity <= 100:
            raise ParameterError(
                "specificity", f"must be 1 to 100 percent, not {self.specificity:g}"
            )
        FlagRule.parse(read=self.read, threshold=self.threshold)

    @property
    def target(self) -> float:
        """The target specificity as a share of 1, the nearest number to its decimals."""
        return float(Fraction(repr(float(self.specificity))) / 100)

    @property
    def rule(self) -> FlagRule | None:
        """The rule to evaluate; None for the flags of the results."""
        return FlagRule.parse(read=self.read, threshold=self.threshold)
