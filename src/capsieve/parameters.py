"""The parameters of the paper's detector: its table, one field per symbol.

The paper gives some values as formulas in the width Nx of the working frame. Those fields are None
by default, and :attr:`Parameters.derived` is the one place where they get their numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, get_args

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError

__all__ = ["Channel", "Derived", "Parameters", "PARAMETERS_SCHEMA"]

Channel = Literal["gray", "red", "lab-a"]

PARAMETERS_SCHEMA = 1
"""Version of the TOML file; a file with another one is refused."""

_WIDEST = 4096
_LEAST_SIGMA = 0.01  # less is no smoothing, and its square may vanish
_LEAST_MASK = 2.0  # pixels; a smaller mask cannot be extended
_LARGEST_SLOPE = 255.0  # from black to white within a pixel
_LARGEST_RADIUS = 10_000
_ANY_THRESHOLD = 0.5  # an example: every detector has its own
_NAMED_CHOICES = {"channel": get_args(Channel)}
_SMALLEST_SIDE = 16  # the compiled filters work on 16 pixels at a time


def _even(sigma: float) -> int:
    """Return how far a filter looks: ceil(sigma), and one more where that is odd.

    The compiled filters take their taps in twos.
    """
    return 2 * math.ceil(math.ceil(sigma) / 2)


def _symbol(symbol: str, meaning: str, default: Any, *, unset: str = "from the width") -> Any:
    """Return a field; `unset` says where its number comes from while it is None."""
    return field(default=default, metadata={"symbol": symbol, "meaning": meaning, "unset": unset})


@dataclass(frozen=True, slots=True)
class Derived:
    """Numbers that follow from :class:`Parameters`.

    Attributes
    ----------
    mask_radius
        R_mask in working pixels.
    energy_sigma
        sigma, ceil(Nx / 25) unless it is set.
    size_low, size_high
        S_L and S_U, ceil((Nx / 15)^2) and ceil((Nx / 4.5)^2) unless they are set.
    radius_search
        The largest radius that the ball search tries, floor(Nx / 3).
    smallest_side
        The smallest number of rows or columns that every filter's stencil fits.
    """

    mask_radius: float
    energy_sigma: float
    size_low: int
    size_high: int
    radius_search: int
    smallest_side: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The parameters of Algorithm 1 with the values of the paper's Table I.

    A value out of bounds raises :class:`~capsieve.ParameterError`, which names the field.
    """

    width: int = _symbol("Nx", "width of the working frame in pixels", 256)
    mask_radius: float = _symbol("R_mask / Nx", "radius of the circular mask, in widths", 0.45)
    texture_iterations: int = _symbol("n_iter", "iterations of the cartoon + texture split", 5)
    texture_sigma: float = _symbol("sigma_t", "Gaussian of the cartoon + texture split", 5.0)
    energy_sigma: float | None = _symbol("sigma", "Gaussian of the texture energy T", None)
    energy_power: float = _symbol("p", "power of the texture energy T", 0.8)
    texture_low: float = _symbol("T_L", "pre-selection: least T_max", 3.0)
    texture_high: float = _symbol("T_U", "pre-selection: largest T_max", 8.0)
    midpass_fine: float = _symbol("sigma_1", "lower Gaussian of the mid-pass filter", 7.0)
    midpass_coarse: float = _symbol("sigma_2", "upper Gaussian of the mid-pass filter", 30.0)
    threshold_low: float = _symbol("M_L", "lower bound of the segmentation threshold", 0.11)
    threshold_high: float = _symbol("M_U", "upper bound of the segmentation threshold", 0.16)
    size_low: int | None = _symbol("S_L", "least size of a feature in pixels", None)
    size_high: int | None = _symbol("S_U", "largest size of a feature in pixels", None)
    eccentricity_max: float = _symbol("E_max", "largest eccentricity of a feature", 6.5)
    radius_threshold: int = _symbol("R_P", "least R_max of a frame that is flagged", 37)
    channel: Channel = _symbol("-", 'what the sieve looks at: "gray", "red" or "lab-a"', "gray")
    vignetting: bool = _symbol("-", "whether the fall-off of light is corrected", True)
    extension_slope: float = _symbol("q", "slope of the extension outside the mask", 1.0)
    score_threshold: float | None = _symbol(
        "-",
        "least score that detectors other than the paper's flag",
        None,
        unset="the detector's own",
    )

    def __post_init__(self) -> None:
        _check_types(self)
        _check_bounds(self)

    @property
    def derived(self) -> Derived:
        """The numbers that follow from the fields; see :class:`Derived`."""
        energy_sigma = self.energy_sigma
        size_low, size_high = self.size_low, self.size_high
        energy_sigma = math.ceil(self.width / 25) if energy_sigma is None else energy_sigma
        return Derived(
            mask_radius=self.mask_radius * self.width,
            energy_sigma=float(energy_sigma),
            # Fractions: with floats the ceiling of a whole number could come out one too high.
            size_low=math.ceil(Fraction(self.width, 15) ** 2) if size_low is None else size_low,
            size_high=(
                math.ceil(Fraction(2 * self.width, 9) ** 2) if size_high is None else size_high
            ),
            radius_search=self.width // 3,
            smallest_side=max(
                _SMALLEST_SIDE,
                2 * math.ceil(self.texture_sigma),
                _even(energy_sigma),
                _even(self.midpass_coarse),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name, as they were set (None: the paper's formula)."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Parameters":
        """Build from names and values; an unknown name is an error with the nearest valid one."""
        known = [each.name for each in fields(cls)]
        for name in values:
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.0)
                raise ParameterError(name, f"no such parameter; did you mean {near[0]!r}?")
        return cls(**values)

    def to_toml(self) -> str:
        """Return the TOML text; every line carries the symbol and the meaning of its field."""
        lines = ["# Parameters of capsieve's detectors.", f"schema = {PARAMETERS_SCHEMA}", ""]
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None:  # TOML has no null: the formula's value is shown, but not set.
                shown = getattr(self.derived, each.name, _ANY_THRESHOLD)
                assignment = f"# {each.name} = {_toml(shown)}"
            else:
                assignment = f"{each.name} = {_toml(value)}"
            note = f"{each.metadata['symbol']}: {each.metadata['meaning']}"
            note += f"; by default {each.metadata['unset']}" if value is None else ""
            lines.append(f"{assignment:<30}# {note}")
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, text: str) -> "Parameters":
        """Build from TOML text; what it does not name keeps the paper's value."""
        import tomllib

        try:
            values = tomllib.loads(text)
        except (ValueError, RecursionError) as error:  # tomllib's own error is a ValueError
            raise ParameterError("TOML", f"not a valid TOML text ({error})") from error
        schema = values.pop("schema", PARAMETERS_SCHEMA)
        if type(schema) is not int or schema != PARAMETERS_SCHEMA:
            raise ParameterError(
                "schema", f"this version reads schema {PARAMETERS_SCHEMA}, not {schema!r}"
            )
        return cls.from_dict(values)

    def save(self, path: str | Path) -> None:
        """Write the TOML file, whole or not at all."""
        with atomic_write(path) as temporary:
            temporary.write_text(self.to_toml(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | Path) -> "Parameters":
        """Read the TOML file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")  # some editors add a mark
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise FileError(f"cannot read the parameters in {path}: {reason}") from error
        try:
            return cls.from_toml(text)
        except ParameterError as error:
            name, message = error.args
            raise ParameterError(name, f"{message} (in {path})") from error


def _attributes() -> str:
    """Return the fields with symbol, meaning and value, for the docstring."""
    lines = ["", "", "    Attributes", "    ----------"]
    for each in fields(Parameters):
        value = each.metadata["unset"] if each.default is None else repr(each.default)
        lines.append(f"    {each.name}")
        lines.append(f"        {each.metadata['symbol']}: {each.metadata['meaning']} ({value}).")
    return "\n".join(lines) + "\n    "


Parameters.__doc__ = (Parameters.__doc__ or "").rstrip() + _attributes()


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _check_types(parameters: Parameters) -> None:
    """Every number finite and of the field's type; NumPy's numbers become Python's."""
    for each in fields(parameters):
        value = getattr(parameters, each.name)
        wanted = str(each.type)
        if value is None and "None" in wanted:
            continue
        if each.name in _NAMED_CHOICES:
            allowed = _NAMED_CHOICES[each.name]
            if not isinstance(value, str) or value not in allowed:
                choices = ", ".join(repr(choice) for choice in allowed)
                raise ParameterError(each.name, f"must be one of {choices}, not {value!r}")
        elif "bool" in wanted:
            if not isinstance(value, bool):
                raise ParameterError(each.name, f"must be true or false, not {value!r}")
        elif isinstance(value, bool) or not isinstance(value, Real):
            raise ParameterError(each.name, f"must be a number, not {value!r}")
        elif "int" in wanted:
            if not isinstance(value, Integral):
                raise ParameterError(each.name, f"must be a whole number, not {value!r}")
            object.__setattr__(parameters, each.name, int(value))
        else:
            object.__setattr__(parameters, each.name, _finite(each.name, value))


def _finite(name: str, value: Real) -> float:
    try:
        number = float(value)
    except OverflowError:  # a whole number or fraction beyond the largest float
        number = math.inf
    if not math.isfinite(number):
        raise ParameterError(name, f"must be finite, not {number!r}")
    return number


def _check_bounds(parameters: Parameters) -> None:
    def require(condition: bool, name: str, rule: str) -> None:
        if not condition:
            value = getattr(parameters, name)
            value = getattr(parameters.derived, name) if value is None else value
            raise ParameterError(name, f"must be {rule}, not {value!r}")

    p = parameters
    require(1 <= p.width <= _WIDEST, "width", f"between 1 and {_WIDEST}")
    least = _LEAST_MASK / p.width
    require(least <= p.mask_radius <= 0.5, "mask_radius", f"between {least:.3g} and 0.5")
    require(0 <= p.texture_iterations <= 100, "texture_iterations", "between 0 and 100")
    for name in ("texture_sigma", "energy_sigma"):
        sigma = getattr(p, name) or 0.0
        rule = f"0 (no smoothing), or {_LEAST_SIGMA} to {_WIDEST}"
        require(sigma == 0.0 or _LEAST_SIGMA <= sigma <= _WIDEST, name, rule)
    require(0 < p.energy_power <= 4, "energy_power", "above 0 and at most 4")
    require(p.texture_low >= 0, "texture_low", "0 or more")
    require(
        p.texture_high >= p.texture_low,
        "texture_high",
        f"at least texture_low ({p.texture_low:g})",
    )
    require(p.midpass_fine >= _LEAST_SIGMA, "midpass_fine", f"at least {_LEAST_SIGMA}")
    require(
        p.midpass_fine < p.midpass_coarse,
        "midpass_fine",
        f"below midpass_coarse ({p.midpass_coarse:g})",
    )
    require(p.threshold_low > 0, "threshold_low", "above 0")
    require(
        p.threshold_high > p.threshold_low,
        "threshold_high",
        f"above threshold_low ({p.threshold_low:g})",
    )
    derived = p.derived
    require(derived.size_low >= 1, "size_low", "1 or more")
    if p.size_high is None:  # then only size_low was set, and only it can be wrong
        require(
            derived.size_low <= derived.size_high,
            "size_low",
            f"at most size_high ({derived.size_high})",
        )
    require(
        derived.size_high >= derived.size_low,
        "size_high",
        f"at least size_low ({derived.size_low})",
    )
    require(p.eccentricity_max >= 1, "eccentricity_max", "1 or more")
    require(
        1 <= p.radius_threshold <= _LARGEST_RADIUS,
        "radius_threshold",
        f"between 1 and {_LARGEST_RADIUS}",
    )
    require(
        abs(p.extension_slope) <= _LARGEST_SLOPE,
        "extension_slope",
        f"between -{_LARGEST_SLOPE:g} and {_LARGEST_SLOPE:g}",
    )
    require(
        p.width >= derived.smallest_side,
        "width",
        f"at least {derived.smallest_side} so that the filters fit (midpass_coarse "
        f"{p.midpass_coarse:g}, energy_sigma {derived.energy_sigma:g}, texture_sigma "
        f"{p.texture_sigma:g})",
    )
