"""The choices of an evaluation that can change its numbers, in one place."""

import math
from dataclasses import asdict, dataclass
from typing import Any

from capsieve.errors import ParameterError

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an evaluation assumes.

    Attributes
    ----------
    target_specificity
        That the operating point must reach where it is chosen, a share of 1.
    threshold
        The operating point, where the user states it.
    train_patients
        Patients on whose frames the operating point is chosen.
    rounds, seed
        Of the bootstrap.
    reading_speed
        Frames that a reader looks at in a second.
    within, gap, shortest
        Seconds: how soon a polyp must be flagged; the longest pause inside an alarm; the shortest
        alarm that counts.
    """

    target_specificity: float = 0.9
    threshold: float | None = None
    train_patients: tuple[str, ...] = ()
    rounds: int = 2000
    seed: int = 0
    reading_speed: float = 10.0
    within: float = 10.0
    gap: float = 1.0
    shortest: float = 0.0

    def __post_init__(self) -> None:
        def require(condition: bool, name: str, rule: str) -> None:
            if not condition:
                raise ParameterError(name, f"must be {rule}, not {getattr(self, name)!r}")

        target = self.target_specificity
        require(0 < target <= 1, "target_specificity", "above 0 and at most 1")
        if self.threshold is not None:
            positive = math.isfinite(self.threshold) and self.threshold > 0
            require(positive, "threshold", "above 0: scores of 0 are never flagged")
        require(self.rounds >= 100, "rounds", "100 or more")
        require(self.seed >= 0, "seed", "0 or more")
        speed = self.reading_speed
        require(math.isfinite(speed) and speed > 0, "reading_speed", "above 0")
        for name in ("within", "gap", "shortest"):
            seconds = getattr(self, name)
            require(math.isfinite(seconds) and seconds >= 0, name, "0 seconds or more")

    def to_dict(self) -> dict[str, Any]:
        """Return the settings for metrics.json."""
        return asdict(self) | {"train_patients": list(self.train_patients)}
