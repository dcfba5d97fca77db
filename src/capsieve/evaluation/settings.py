"""Options of calibrations, robustness studies and searches.

The text "help" of a field makes it an option of the command line and describes it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from capsieve.errors import ParameterError
from capsieve.option_fields import documented, option
from capsieve.statistics.options import BootstrapOptions, InputOptions

if TYPE_CHECKING:
    from capsieve.frames import FieldOfView
    from capsieve.parameters import Parameters


_PERCENT = {"metavar": "PERCENT", "min": 1, "max": 100}  # less is probably a share of 1


@documented
@dataclass(frozen=True, kw_only=True)
class CalibrationOptions(BootstrapOptions, InputOptions):
    """Options of :func:`capsieve.calibrate`; at most one of the first two is given."""

    specificity: float | None = option(
        None,
        "At least so many normal frames are not flagged; 90 if no target is given.",
        **_PERCENT,
    )
    sensitivity: float | None = option(None, "At least so many polyps are found.", **_PERCENT)
    rule: Literal["threshold", "share"] | None = option(
        None,
        "Choose a threshold, or the share of each exam to read; by default the rule that the "
        "exams were screened with.",
    )

    def __post_init__(self) -> None:
        InputOptions.__post_init__(self)
        BootstrapOptions.__post_init__(self)
        if self.specificity is not None and self.sensitivity is not None:
            raise ParameterError("sensitivity", "cannot be combined with specificity; give one")
        for name in ("specificity", "sensitivity"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= 100:
                raise ParameterError(name, f"must be 1 to 100 percent, not {value:g}")

    @property
    def kind(self) -> Literal["specificity", "sensitivity"]:
        """Which target is given."""
        return "specificity" if self.sensitivity is None else "sensitivity"

    @property
    def target(self) -> float:
        """The target as a share of 1."""
        percent = self.specificity if self.sensitivity is None else self.sensitivity
        return round((90.0 if percent is None else percent) / 100, 12)  # 99.9 / 100 is not 0.999


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRunSettings:
    """Options that robustness studies and searches share."""

    label_format: str | None = option(
        None, "Format of the labels, if it is not recognised.", metavar="NAME"
    )
    normals: int | None = option(
        None,
        "Analyse only so many normal frames, drawn at random; polyp frames are all kept.",
        metavar="N",
        min=1,
    )
    seed: int = option(0, "Seed of every random choice.", min=0)
    field_of_view: "FieldOfView | Literal['auto', 'whole']" = option(
        "auto",
        "The circle that shows the gut: searched in each exam, the whole frame, or in pixels of "
        "the frame.",
        metavar="auto|whole|ROW,COL,RADIUS",
    )
    full_names: bool = option(
        False, "Include the names of folders in the names of exams: Polyp/KID is Polyp-KID."
    )
    workers: int | None = option(None, "Processes; by default one per core.", min=1)
    overwrite: bool = option(False, "Remove scores of an earlier run first.")


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class RobustnessSettings(LabelledRunSettings):
    """Options of a robustness study."""

    change: tuple[float, ...] = option(
        (),
        "How much to change a parameter. May be given several times; by default 10 and -10.",
        metavar="PERCENT",
    )
    parameter: tuple[str, ...] = option(
        (),
        "What to change: the name or symbol of a parameter. May be given several times; by default "
        "sigma1, sigma2, M_L, M_U, S_L, S_U and E_max, as in the paper.",
        metavar="NAME",
    )
    parameters: "Parameters | None" = option(
        None,
        "Another base: the reading inferred from the paper's figures, or a file; see capsieve "
        "parameters.",
        metavar="inferred|FILE.toml",
    )


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings(LabelledRunSettings):
    """Options of a parameter search."""

    settings: int = option(
        300, "Number of settings to compare, with the printed parameters.", metavar="N", min=2
    )
    specificity: float = option(
        90.0, "Specificity that R_P of every setting must reach.", **_PERCENT
    )
    folds: int = option(
        5, "Number of folds of whole patients, exams or blocks.", metavar="N", min=2
    )
    splits: Path | None = option(None, "Folds from capsieve splits instead.", metavar="FILE")
