"""The parameters of the paper's detector: its Table I, one field per symbol.

The paper gives some values as formulas in the width Nx of the working frame. Those fields are None
by default; :attr:`Parameters.derived` has their numbers.

There are two readings of the decision. `Parameters()` is the paper as printed, and
:meth:`Parameters.inferred` is what its figures suggest: a ball with its true height, and filters
with a longer stencil. Only the authors can decide which one they used.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args

from capsieve.atomic_write import atomic_write
from capsieve.errors import ParameterError
from capsieve.user_files import read_text

Channel = Literal["gray", "red", "lab-a"]

BallFit = Literal["printed", "feature", "hemisphere"]
"""The printed ball fitted to the whole u, or to u in the feature; or a hemisphere fitted to u."""

Preset = Literal["printed", "inferred", "custom"]
"""The reading of the paper's decision; "custom" is neither of the two."""

_INFERRED: dict[str, Any] = {"ball_fit": "hemisphere", "stencil": 3.0}

PARAMETERS_SCHEMA = 1
"""Version of the TOML file; a file with another one is refused."""

_CHOICES = {"channel": get_args(Channel), "ball_fit": get_args(BallFit)}
_WIDEST = 4096
_LEAST_SIGMA = 0.01  # less does not smooth, and its square may vanish
_LEAST_MASK = 2.0  # pixels; a smaller mask cannot be extended
_POSITIVE = 1e-9


def _symbol(
    symbol: str,
    meaning: str,
    default: Any,
    low: float = -math.inf,
    high: float = math.inf,
) -> Any:
    """Return a field with inclusive bounds."""
    metadata = {"symbol": symbol, "meaning": meaning, "low": low, "high": high}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Derived:
    """Numbers that follow from :class:`Parameters`."""

    mask_radius: float  # R_mask in working pixels
    energy_sigma: float  # sigma, ceil(Nx / 25) unless it is set
    # S_L and S_U, ceil((Nx / 15)^2) and ceil((Nx / 4.5)^2) unless they are set.
    size_low: int
    size_high: int
    radius_search: int  # the largest radius of a best-fit ball, floor(Nx / 3)
    smallest_side: int  # the smallest number of rows or columns that every filter fits


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """The parameters of Algorithm 1 with the values of the paper's Table I.

    A value out of bounds raises :class:`~capsieve.ParameterError`, which names the field.
    """

    width: int = _symbol("Nx", "width of the working frame in pixels", 256, 1, _WIDEST)
    mask_radius: float = _symbol(
        "R_mask / Nx", "radius of the circular mask, in widths", 0.45, 0, 0.5
    )
    ball_fit: BallFit = _symbol(
        "-",
        'best-fit ball: "printed", "feature" (u in the feature only) or "hemisphere"',
        "printed",
    )
    stencil: float = _symbol("-", "half-width of the Gaussian filters, in sigmas", 1.0, 1, 3)
    texture_iterations: int = _symbol(
        "n_iter", "iterations of the cartoon + texture split", 5, 0, 100
    )
    texture_sigma: float = _symbol(
        "sigma_t", "Gaussian of the cartoon + texture split", 5.0, 0, _WIDEST
    )
    energy_sigma: float | None = _symbol(
        "sigma", "Gaussian of the texture energy T", None, 0, _WIDEST
    )
    energy_power: float = _symbol("p", "power of the texture energy T", 0.8, _POSITIVE, 4)
    texture_low: float = _symbol("T_L", "pre-selection: smallest T_max", 3.0, 0)
    texture_high: float = _symbol("T_U", "pre-selection: largest T_max", 8.0)
    midpass_fine: float = _symbol(
        "sigma_1", "lower Gaussian of the mid-pass filter", 7.0, _LEAST_SIGMA
    )
    midpass_coarse: float = _symbol("sigma_2", "upper Gaussian of the mid-pass filter", 30.0)
    threshold_low: float = _symbol(
        "M_L", "lower bound of the segmentation threshold", 0.11, _POSITIVE
    )
    threshold_high: float = _symbol("M_U", "upper bound of the segmentation threshold", 0.16)
    size_low: int | None = _symbol("S_L", "smallest size of a feature in pixels", None, 1)
    size_high: int | None = _symbol("S_U", "largest size of a feature in pixels", None)
    eccentricity_max: float = _symbol("E_max", "largest eccentricity of a feature", 6.5, 1)
    radius_threshold: int = _symbol("R_P", "smallest R_max of a flagged frame", 37, 1, 10_000)
    channel: Channel = _symbol("-", 'channel to analyse: "gray", "red" or "lab-a"', "gray")
    vignetting: bool = _symbol("-", "whether the fall-off of light is corrected", True)
    extension_slope: float = _symbol("q", "slope of the extension outside the mask", 1.0, -255, 255)

    def __post_init__(self) -> None:
        for each in fields(self):
            object.__setattr__(self, each.name, _checked(each, getattr(self, each.name)))
        _check_relations(self)

    @cached_property
    def derived(self) -> Derived:
        """The numbers that follow from the fields; see :class:`Derived`."""
        energy_sigma = self.energy_sigma
        if energy_sigma is None:
            energy_sigma = float(math.ceil(self.width / 25))
        # Fractions: with floats the ceiling of a whole number could be one too high.
        least, most = Fraction(self.width, 15) ** 2, Fraction(2 * self.width, 9) ** 2
        filters = (half_width(each, self.stencil) for each in (energy_sigma, self.midpass_coarse))
        return Derived(
            mask_radius=self.mask_radius * self.width,
            energy_sigma=energy_sigma,
            size_low=math.ceil(least) if self.size_low is None else self.size_low,
            size_high=math.ceil(most) if self.size_high is None else self.size_high,
            radius_search=self.width // 3,
            smallest_side=max(2 * math.ceil(self.texture_sigma), *filters),
        )

    @cached_property
    def calibration_file(self) -> Path | None:
        """The file that they were loaded from, if it names their calibration frames."""
        return None  # load sets it; it is no field, because it changes no score

    @property
    def preset(self) -> Preset:
        """The name of the preset with this `ball_fit` and `stencil`, whatever the other fields."""
        chosen = {name: getattr(self, name) for name in _INFERRED}
        if chosen == _INFERRED:
            return "inferred"
        return "printed" if chosen == {"ball_fit": "printed", "stencil": 1.0} else "custom"

    @classmethod
    def inferred(cls, **changes: Any) -> "Parameters":
        """Return the parameters as inferred from the paper's figures.

        The ball is a hemisphere, and L_sigma is cut at 3 sigma. This contradicts two printed
        statements and agrees with what the paper reports; see docs/algorithm.md.

        Parameters
        ----------
        **changes
            Other values of any fields.
        """
        return cls.from_dict(_INFERRED | changes)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name; None stands for the paper's formula."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Parameters":
        """Build from names and values; an unknown name is an error."""
        known = [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                near = get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(known)}"
                raise ParameterError(name, f"no such parameter; {hint}")
        return cls(**values)

    def to_toml(self) -> str:
        """Return the TOML text; every line has the symbol and the meaning of its field."""
        lines = ["# Parameters of capsieve's detectors.", f"schema = {PARAMETERS_SCHEMA}", ""]
        for each in fields(self):
            value, note = getattr(self, each.name), each.metadata["meaning"]
            assignment = f"{each.name} = {_toml(value)}"
            if value is None:  # TOML has no null: the number is shown in a comment
                assignment = f"# {each.name} = {_toml(getattr(self.derived, each.name))}"
                note += "; by default from the width"
            lines.append(f"{assignment:<30}# {each.metadata['symbol']}: {note}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> "Parameters":
        """Build from TOML text; fields that it does not name keep the paper's value.

        A table ``[calibration]`` is left to :mod:`capsieve.store.choice`.
        """
        try:
            values = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # tomllib's own error is a ValueError
            raise ParameterError("TOML", f"not a valid TOML text ({error})") from error
        schema = values.pop("schema", PARAMETERS_SCHEMA)
        if type(schema) is not int or schema != PARAMETERS_SCHEMA:
            raise ParameterError(
                "schema", f"this version reads schema {PARAMETERS_SCHEMA}, not {schema!r}"
            )
        values.pop("calibration", None)
        return cls.from_dict(values)

    def save(self, path: str | Path) -> None:
        """Write the TOML file, whole or not at all."""
        with atomic_write(path) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Parameters":
        """Read the TOML file."""
        text = read_text(path)
        try:
            found = cls.from_toml(text)
        except ParameterError as error:
            name, message = error.args
            raise ParameterError(name, f"{message} (in {path})") from error
        if "calibration" in tomllib.loads(text):
            vars(found)["calibration_file"] = Path(path).absolute()
        return found


def half_width(sigma: float, stencil: float) -> int:
    """Return the half-width of L_sigma in pixels, ceil(stencil * sigma)."""
    return math.ceil(round(stencil * sigma, 9))  # 1.1 * 10 is a little more than 11


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _checked(each: Field[Any], value: Any) -> Any:
    """Return a value of the type of its field and within its bounds."""
    wanted, low, high = str(each.type), each.metadata["low"], each.metadata["high"]
    if value is None and "None" in wanted:
        return None
    if each.name in _CHOICES:
        choices = _CHOICES[each.name]
        valid, rule = value in choices, f"one of {', '.join(map(repr, choices))}"
    elif "bool" in wanted:
        valid, rule = isinstance(value, bool), "true or false"
    elif isinstance(value, bool) or not isinstance(value, Real):
        valid, rule = False, "a number"
    elif "int" in wanted and not isinstance(value, Integral):
        valid, rule = False, "a whole number"
    else:
        number: Any = value
        try:
            value = int(number) if "int" in wanted else float(number)  # also of NumPy's types
            finite = math.isfinite(value)
        except OverflowError:  # beyond the largest float
            value, finite = math.inf, False
        rule = f"at least {low:g}" if math.isinf(high) else f"between {low:g} and {high:g}"
        valid, rule = finite and low <= value <= high, rule if finite else "finite"
    if not valid:
        raise ParameterError(each.name, f"must be {rule}, not {value!r}")
    return value


def _check_relations(p: Parameters) -> None:
    """Raise a ParameterError if two fields contradict each other."""
    d, least_mask = p.derived, _LEAST_MASK / p.width
    sigma_rule = f"0 (no smoothing) or at least {_LEAST_SIGMA}"
    # If only size_low is set, only it can be wrong.
    size = "size_low" if p.size_high is None else "size_high"
    size_rule = f"in order: size_low {d.size_low}, size_high {d.size_high}"
    coarse = f"midpass_coarse {p.midpass_coarse:g}"
    width_rule = (
        f"at least {d.smallest_side} for its filters ({coarse}, energy_sigma {d.energy_sigma:g}, "
        f"stencil {p.stencil:g}, texture_sigma {p.texture_sigma:g})"
    )
    texture, threshold = f"texture_low {p.texture_low:g}", f"threshold_low {p.threshold_low:g}"
    for holds, name, rule in (
        (p.mask_radius >= least_mask, "mask_radius", f"at least {least_mask:.3g}"),
        (_is_sigma(p.texture_sigma), "texture_sigma", sigma_rule),
        (_is_sigma(d.energy_sigma), "energy_sigma", sigma_rule),
        (p.texture_high >= p.texture_low, "texture_high", f"at least {texture}"),
        (p.midpass_fine < p.midpass_coarse, "midpass_fine", f"below {coarse}"),
        (p.threshold_high > p.threshold_low, "threshold_high", f"above {threshold}"),
        (d.size_high >= d.size_low, size, size_rule),
        (p.width >= d.smallest_side, "width", width_rule),
    ):
        if not holds:
            raise ParameterError(name, f"must be {rule}, not {getattr(p, name)!r}")


def _is_sigma(sigma: float) -> bool:
    return sigma == 0 or sigma >= _LEAST_SIGMA


def _attributes() -> str:
    """Return the fields with symbol, meaning and value, for the docstring."""
    lines = ["", "", "    Attributes", "    ----------"]
    for each in fields(Parameters):
        value = "from the width" if each.default is None else repr(each.default)
        lines.append(f"    {each.name}")
        lines.append(f"        {each.metadata['symbol']}: {each.metadata['meaning']} ({value}).")
    return "\n".join(lines) + "\n    "


Parameters.__doc__ = (Parameters.__doc__ or "").rstrip() + _attributes()

PRESETS: dict[str, Parameters] = {"printed": Parameters(), "inferred": Parameters.inferred()}
"""The two readings of the paper by name."""
