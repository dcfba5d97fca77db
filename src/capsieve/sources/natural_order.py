"""Natural order of names: frame2 comes before frame10."""

import re

__all__ = ["natural_key"]

_NUMBERS = re.compile(r"([0-9]+)")

NaturalKey = tuple[tuple[str | tuple[int, str], ...], str]


def natural_key(name: str) -> NaturalKey:
    """Return a key for sorting names as people count.

    Numbers inside a name compare by their value, of any length, and letters without regard to case.
    Names that are then equal (``frame1`` and ``frame01``) come in the order of their characters, so
    that the order never depends on how a folder was listed.

    Examples
    --------
    >>> sorted(["frame10.png", "frame2.png", "Frame1.png"], key=natural_key)
    ['Frame1.png', 'frame2.png', 'frame10.png']
    """
    parts = _NUMBERS.split(name)  # texts at even places, numbers at odd ones: they never meet
    texts_and_numbers = tuple(
        _value(part) if place % 2 else part.casefold() for place, part in enumerate(parts)
    )
    return texts_and_numbers, name


def _value(digits: str) -> tuple[int, str]:
    """Digits that compare like the number; Python refuses to convert very long ones."""
    significant = digits.lstrip("0")
    return len(significant), significant
