"""The numbers that the paper prints in its Tables II to IV.

Rates are kept as it prints them. Those of single patients are cut off and not rounded (8.06 % is
"8.0"), and the changes of Table IV follow from percentages with one decimal.
"""

from typing import NamedTuple

NORMALS_OF_ROBUSTNESS = 4000
"""The paper does not state which ones."""

SEQUENCES = (18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15)
"""Table II: the number of frames of each polyp."""

SEQUENCES_FOUND = tuple(number not in (5, 11, 12) for number in range(1, 17))
"""Table II: whether a frame of the sequence is flagged."""

FALSE_POSITIVES = (
    (422, 34, "8.0 %"),
    (1008, 55, "5.4 %"),
    (4666, 671, "14.3 %"),
    (8567, 767, "8.9 %"),
    (4075, 310, "7.6 %"),
)
"""Table III: normal frames, false positives and their rate for each patient."""


class PaperRates(NamedTuple):
    """A row of Table IV in percent: specificity, sensitivity per frame and per polyp.

    The changes of the three are those that the paper prints; None in the row of the base.
    """

    specificity: float
    frames: float
    polyps: float
    changes: tuple[float | None, float | None, float | None] = (None, None, None)

    @property
    def shares(self) -> tuple[float, float, float]:
        """The three rates as shares of 1."""
        return self.specificity / 100, self.frames / 100, self.polyps / 100


BASE = PaperRates(92.2, 47.4, 81.2)

CHANGED = {
    "midpass_fine": PaperRates(92.7, 44.8, 81.2, (0.54, 5.49, 0.0)),
    "midpass_coarse": PaperRates(90.5, 53.5, 93.8, (1.84, 12.87, 15.5)),
    "threshold_low": PaperRates(92.3, 47.0, 81.2, (0.11, 0.84, 0.0)),
    "threshold_high": PaperRates(91.8, 49.6, 81.2, (0.43, 4.64, 0.0)),
    "size_low": PaperRates(92.2, 47.4, 81.2, (0.0, 0.0, 0.0)),
    "size_high": PaperRates(92.0, 48.3, 81.2, (0.22, 1.90, 0.0)),
    "eccentricity_max": PaperRates(91.7, 48.7, 81.2, (0.54, 2.74, 0.0)),
}
"""Table IV: each parameter of the geometric part increased by 10 %."""
