"""Counting: the ledger of a head, and the stretches in which something is wrong."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

from capsieve.store.record import Ledger, Stretch

__all__ = [
    "COLUMNS",
    "PAPER_REJECTIONS",
    "SCORE_REJECTIONS",
    "Tally",
    "total",
]

COLUMNS = ["file", "time_s", "status", "problem", "label", "reason"]
"""The columns of a segment that are counted."""

PAPER_REJECTIONS = ("texture-low", "texture-high", "no-feature", "radius-low")
"""The paper's reasons to reject a frame, in the order of the algorithm."""

SCORE_REJECTIONS = ("score-low",)
"""The reason of the other detectors."""


class Tally:
    """Counts the frames of one head, in order.

    Parameters
    ----------
    head
        Which one.
    rejections
        Reasons that are named even where no frame met them; others where one did.
    """

    def __init__(self, head: int, rejections: Sequence[str] = PAPER_REJECTIONS) -> None:
        self.head = head
        self.found = 0
        self.stretches: list[Stretch] = []
        self._statuses: Counter[str] = Counter()
        self._rejections = tuple(rejections)
        self._reasons: Counter[str] = Counter()
        self._damaged = 0

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Count the next rows of the head."""
        for row in rows:
            self._statuses[row["status"]] += 1
            if row["label"] is not None:
                self._reasons[row["reason"]] += 1
                self._damaged += row["problem"] is not None
            if row["problem"] is not None:
                self._note(row)
            self.found += 1

    def ledger(self, *, declared: int | None, repeats: int, events: int) -> Ledger:
        """Return the counts."""
        scored = self._reasons.total()
        flagged = self._reasons["polyp"]
        decoded = self._statuses["decoded"]
        others = sorted(self._reasons.keys() - {*self._rejections, "polyp"})
        return Ledger(
            declared=declared,
            missing=max(0, (declared or 0) - self.found),
            found=self.found,
            decoded=decoded,
            undecodable=self._statuses["undecodable"],
            unscreened=self._statuses["unscreened"],
            damaged=self._damaged,
            unscorable=decoded - scored,
            scored=scored,
            rejected={reason: self._reasons[reason] for reason in (*self._rejections, *others)},
            flagged=flagged,
            repeats=repeats,
            to_read=flagged - repeats,
            events=events,
        )

    def _note(self, row: dict[str, Any]) -> None:
        """Lengthen the stretch that the row goes on with, or begin a new one."""
        number, time = self.found, row["time_s"]
        last = self.stretches[-1] if self.stretches else None
        if last and last["what"] == row["problem"] and last["last_frame"] == number - 1:
            last["frames"] += 1
            last["last_frame"], last["last_time_s"] = number, time
            return
        self.stretches.append(
            Stretch(
                what=row["problem"],
                head=self.head,
                frames=1,
                first_frame=number,
                last_frame=number,
                first_time_s=time,
                last_time_s=time,
                file=row["file"],
            )
        )


def total(ledgers: Iterable[Ledger]) -> Ledger:
    """Return the sum over the heads; declared is None where one head declares nothing."""
    parts = list(ledgers)
    first, *rest = parts
    result: dict[str, Any] = {**first, "rejected": dict(first["rejected"])}
    for part in cast("list[dict[str, Any]]", rest):
        for name, value in part.items():
            if name == "rejected":
                for reason, count in value.items():
                    result[name][reason] = result[name].get(reason, 0) + count
            else:
                known = value is not None and result[name] is not None
                result[name] = result[name] + value if known else None
    return cast("Ledger", result)
