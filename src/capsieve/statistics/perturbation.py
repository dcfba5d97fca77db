"""One parameter changed a little, all others as they are."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from fractions import Fraction

from capsieve.errors import ParameterError
from capsieve.parameters import Parameters

__all__ = ["CHANGES", "PARAMETERS", "Change", "parameter_named", "perturbed", "plan_changes"]

CHANGES = (10.0, -10.0)
"""Percent. The paper has the first."""

PARAMETERS = (
    "midpass_fine",
    "midpass_coarse",
    "threshold_low",
    "threshold_high",
    "size_low",
    "size_high",
    "eccentricity_max",
)
"""Those of the paper's table, in its order: all that enter the geometric part but R_P."""

# Floats here, whole numbers in the paper: a whole one stays whole.
_SIGMAS = ("texture_sigma", "energy_sigma", "midpass_fine", "midpass_coarse")
_NO_NUMBERS = ("channel", "vignetting")


@dataclass(frozen=True, slots=True)
class Change:
    """One parameter changed.

    Attributes
    ----------
    name, symbol
        The field, and the paper's symbol.
    percent
        The change that was asked for.
    base, value
        Before and after; value None where the change is not possible.
    parameters
        The setting; None where the change is not possible.
    why
        Why it is not possible, or "".
    """

    name: str
    symbol: str
    percent: float
    base: float
    value: float | None
    parameters: Parameters | None
    why: str = ""


def parameter_named(name: str) -> str:
    """Return the field of :class:`~capsieve.Parameters` that a name or a symbol means.

    ``midpass_fine``, ``sigma_1`` and ``sigma1`` are the same; so are ``E_max`` and ``e_max``.

    Raises
    ------
    ParameterError
        There is none, or its value is no number.
    """
    known: dict[str, str] = {}
    for each in fields(Parameters):
        symbol = each.metadata["symbol"].partition(" / ")[0]
        known |= {_plain(each.name): each.name, _plain(symbol): each.name}
    known.pop("", None)  # the symbol of those that have none
    field = known.get(_plain(name))
    if field is None:
        names = [each.name for each in fields(Parameters) if each.name not in _NO_NUMBERS]
        near = get_close_matches(name.casefold(), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(names)}"
        raise ParameterError(name, f"no such parameter; {hint}")
    if field in _NO_NUMBERS:
        raise ParameterError(field, "it is no number, and cannot be changed by some percent")
    return field


def perturbed(parameters: Parameters, name: str, factor: float) -> Parameters:
    """Return the parameters with one of them multiplied.

    Whole numbers are rounded away from the base: up as in the paper where they grow (sigma_1 from
    7 to 8, S_L from 292 to 322), and down where they shrink (7 to 6; rounded up, 6.3 would be 7 and
    no change at all). The sigmas are whole numbers in the paper, and stay so where they are in the
    base.

    Parameters
    ----------
    parameters
        The base.
    name
        A field, or a symbol: see :func:`parameter_named`.
    factor
        1.1 for 10 % more.

    Raises
    ------
    ParameterError
        There is no such parameter, the value is not allowed, or it does not change.
    """
    field = parameter_named(name)
    if not (math.isfinite(factor) and factor > 0 and factor != 1):
        raise ParameterError(
            "factor", f"must be a positive number other than 1, not {factor!r}: 1.1 is 10 % more"
        )
    base = _value(parameters, field)
    # As decimals: 30 times 1.1 is 33, and not a little more, which would be rounded up to 34.
    exact = _exact(base) * _exact(factor)
    whole = isinstance(base, int) or (field in _SIGMAS and float(base).is_integer())
    if whole:
        rounded = math.ceil(exact) if factor > 1 else math.floor(exact)
        value: float = type(base)(rounded)
    else:
        value = float(exact)
    if value == base:
        raise ParameterError(field, f"{base:g} times {factor:g} is {value:g} again: no change")
    try:
        return replace(parameters, **{field: value})
    except ParameterError as error:
        raise ParameterError(
            field, f"cannot become {value:g}, because {error.field} {error.args[1]}"
        ) from error


def plan_changes(
    parameters: Parameters, names: Sequence[str] = PARAMETERS, percents: Sequence[float] = CHANGES
) -> list[Change]:
    """Return all changes: each parameter in turn, by each of the percentages.

    A change that the rules of the parameters forbid stays in the list and says why.

    Raises
    ------
    ParameterError
        There is no such parameter, a percentage is no change, or not a single change is possible.
    """
    for percent in percents:
        if not (math.isfinite(percent) and percent > -100 and percent != 0):
            raise ParameterError(
                "change", f"must be a percentage above -100 and not 0, not {percent:g}"
            )
    symbols = {each.name: each.metadata["symbol"] for each in fields(Parameters)}
    planned: list[Change] = []
    for field in dict.fromkeys(map(parameter_named, names)):
        symbol = symbols[field].replace("sigma_", "sigma")
        base = _value(parameters, field)
        for percent in dict.fromkeys(percents):
            try:
                setting = perturbed(parameters, field, float(1 + _exact(percent) / 100))
            except ParameterError as error:
                planned.append(Change(field, symbol, percent, base, None, None, str(error)))
            else:
                value = _value(setting, field)
                planned.append(Change(field, symbol, percent, base, value, setting))
    if not any(change.parameters for change in planned):
        why = planned[0].why if planned else "no parameter is named"
        raise ParameterError("change", f"not a single change is possible: {why}")
    return planned


def _value(parameters: Parameters, field: str) -> float:
    value = getattr(parameters, field)
    return getattr(parameters.derived, field) if value is None else value


def _exact(number: float) -> Fraction:
    """The number as it is written: 1.1 is eleven tenths."""
    return Fraction(repr(float(number)))


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()
