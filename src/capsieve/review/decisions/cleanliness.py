"""How clean the colon was: CC-CLEAR, the colon capsule's cleansing grades.

Each of three segments has a grade from 0 to 3 by the share of mucosa that is seen: 0 below 50 %,
1 from 50 %, 2 above 75 %, 3 above 90 %. The sum says how the whole exam is to be taken.

References
----------
R. de Sousa Magalhaes et al., Colon Capsule CLEansing Assessment and Report (CC-CLEAR): a new
approach for evaluation of the quality of bowel preparation in capsule colonoscopy, Gastrointest.
Endosc. 93 (2021).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from capsieve.review.decisions.vocabulary import CLEANLINESS_SEGMENTS

__all__ = ["Cleanliness", "judge_cleanliness"]


@dataclass(frozen=True, slots=True)
class Cleanliness:
    """The grades and what they add up to.

    Attributes
    ----------
    segments
        The grade of each segment; None where it has none.
    sum
        Of all three; None while one is missing.
    words
        "excellent", "good" or "inadequate"; None while a segment is missing.
    """

    segments: Mapping[str, int | None]
    sum: int | None
    words: str | None

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"segments": dict(self.segments), "sum": self.sum, "words": self.words}


def judge_cleanliness(grades: Mapping[str, int | None]) -> Cleanliness:
    """Add up the grades of the segments.

    A sum of 8 or 9 is excellent, 6 or 7 good, 5 or less inadequate; so is any sum with a segment
    of 1 or less.

    Parameters
    ----------
    grades
        By segment; segments that are not there have none.
    """
    segments = {name: grades.get(name) for name in CLEANLINESS_SEGMENTS}
    known = [grade for grade in segments.values() if grade is not None]
    if len(known) < len(segments):
        return Cleanliness(segments, None, None)
    total = sum(known)
    if total <= 5 or min(known) <= 1:
        return Cleanliness(segments, total, "inadequate")
    return Cleanliness(segments, total, "excellent" if total >= 8 else "good")
