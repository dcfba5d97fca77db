"""Names that say which head of a capsule they belong to: ``exam-head-0``, ``Exam_head1``."""

import re

__all__ = ["split_head"]

_HEAD = re.compile(r"(?:(?P<rest>.*)[-_ .])?head[-_ ]?(?P<head>[01])", re.IGNORECASE | re.DOTALL)


def split_head(stem: str) -> tuple[str, int | None]:
    """Split the head off a name without its ending.

    Returns
    -------
    rest
        The name without what says the head; "" where it says nothing else.
    head
        0 or 1, or None where the name says no head.

    Examples
    --------
    >>> split_head("exam-head-1"), split_head("overhead0")
    (('exam', 1), ('overhead0', None))
    """
    match = _HEAD.fullmatch(stem)
    if match is None:
        return stem, None
    return match["rest"] or "", int(match["head"])
