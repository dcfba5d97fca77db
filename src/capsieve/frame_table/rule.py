"""The rule that flags frames: a threshold, or a reading list by its share or its length."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from capsieve.errors import ParameterError


@dataclass(frozen=True, slots=True)
class FlagRule:
    """How the flagged frames of an exam are chosen.

    Attributes
    ----------
    kind
        "threshold": frames with a score of at least `value`. "share": a reading list with that
        share, above 0 and up to 1, of the scored frames that are not near-duplicates. "count": a
        reading list of so many frames.
    value
        A finite number.

    Raises
    ------
    ParameterError
        The value is not possible.

    Examples
    --------
    >>> FlagRule.parse(read="10%")
    FlagRule(kind='share', value=0.1)
    >>> FlagRule("threshold", 0.1234567890123).option
    '--threshold 0.1234567890123'
    """

    kind: Literal["threshold", "share", "count"]
    value: float

    def __post_init__(self) -> None:
        if self.kind == "threshold":
            if not math.isfinite(self.value):
                raise ParameterError("threshold", f"must be a finite number, not {self.value}")
        elif self.kind == "share":
            if not 0 < self.value <= 1:
                raise ParameterError("read", f"must be above 0 and up to 100 %, not {self.value}")
        elif not (self.value >= 1 and self.value % 1 == 0):
            raise ParameterError("read", f"must be a whole number above 0, not {self.value}")

    @classmethod
    def parse(
        cls, *, read: str | int | None = None, threshold: float | None = None
    ) -> "FlagRule | None":
        """Return the rule that a user asked for; None for none.

        Parameters
        ----------
        read
            ``"10%"`` for a share of the frames, or a count such as ``300`` or ``"300"``.
        threshold
            The lowest score of a flagged frame.

        Raises
        ------
        ParameterError
            Both are given, or a value is not possible.
        """
        if threshold is not None and read is not None:
            raise ParameterError(
                "read", "cannot be combined with a threshold; give only one of them"
            )
        if threshold is not None:
            return cls("threshold", float(threshold))
        if read is None:
            return None
        text = str(read).strip()
        if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) > 0:
            return cls("count", int(text))
        percent = re.fullmatch(r"(\d{1,3}(?:\.\d{1,24})?) ?%", text, re.ASCII)
        share = float(Decimal(percent[1]) / 100) if percent else 0.0
        if 0 < share <= 1:
            return cls("share", share)
        raise ParameterError(
            "read", f"must be a share such as 10% (up to 100%) or a count such as 300, not {text!r}"
        )

    @property
    def is_list(self) -> bool:
        """Whether it makes a reading list."""
        return self.kind != "threshold"

    @property
    def option(self) -> str:
        """The option of the command line that gives this rule, with all digits."""
        if self.kind == "share":
            return f"--read {(Decimal(repr(self.value)) * 100).normalize():f}%"
        if self.kind == "count":
            return f"--read {self.value:.0f}"
        return f"--threshold {repr(float(self.value)).removesuffix('.0')}"
