"""Names of files and folders: natural order, and the head of a capsule in a name."""

import re

_DIGITS = re.compile(r"([0-9]+)")
_HEAD = re.compile(r"(?:(?P<rest>.*)[-_ .])?head[-_ ]?(?P<head>[01])", re.IGNORECASE | re.DOTALL)


def natural_key(name: str) -> tuple[tuple[str | tuple[int, str], ...], str]:
    """Return a key that sorts numbers inside names by value and letters without regard to case.

    Names that are then equal (``frame1`` and ``frame01``) are sorted by their characters.

    Examples
    --------
    >>> sorted(["frame10.png", "frame2.png", "Frame1.png"], key=natural_key)
    ['Frame1.png', 'frame2.png', 'frame10.png']
    """
    # natsort fails with a TypeError on numbers of more than 4300 digits, which Python does not
    # convert. Texts are at even positions and numbers at odd ones, so the types never mix.
    parts = _DIGITS.split(name)
    return tuple(
        (len(part.lstrip("0")), part.lstrip("0")) if position % 2 else part.casefold()
        for position, part in enumerate(parts)
    ), name


def split_head(stem: str) -> tuple[str, int | None]:
    """Split the head off a name without its ending.

    Returns
    -------
    rest
        The name without the head; "" if it contains nothing else.
    head
        0 or 1, or None if the name contains no head.

    Examples
    --------
    >>> split_head("exam-head-1"), split_head("overhead0")
    (('exam', 1), ('overhead0', None))
    """
    match = _HEAD.fullmatch(stem)
    if match is None:
        return stem, None
    return match["rest"] or "", int(match["head"])
