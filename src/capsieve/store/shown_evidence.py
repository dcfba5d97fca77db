"""Why the best frames of the events were flagged, for the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from capsieve.results import Weight
from capsieve.store.tables import FirstPass, Rows

__all__ = ["ShownEvidence", "best_evidence"]


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """What a detector other than the paper's says of a flagged frame.

    Attributes
    ----------
    map
        A small grey PNG, brighter where the frame looks more like a polyp; b"" for none.
    weights
        The values that weighed most, the strongest first.
    """

    map: bytes
    weights: tuple[Weight, ...]


def best_evidence(
    segments: Mapping[int, int], rows: Rows, known: FirstPass, *, most: int
) -> dict[tuple[int, int], ShownEvidence]:
    """Return the evidence for the best frames of the first events, by head and frame.

    Parameters
    ----------
    segments, rows
        As for :func:`~capsieve.store.tables.first_pass`.
    known
        What it found.
    most
        Of how many events.
    """
    wanted = {(event.best.head, event.best.frame) for event in islice(known.events, most)}
    found: dict[tuple[int, int], ShownEvidence] = {}
    for head, count in sorted(segments.items()):
        first = 0
        for number in range(count):
            table = rows(head, number, ["evidence", "weights"])
            for place in range(table.num_rows):
                if (head, first + place) not in wanted:
                    continue
                drawn, weights = table["evidence"][place].as_py(), table["weights"][place].as_py()
                if drawn or weights:
                    listed = tuple(Weight(**weight) for weight in weights or ())
                    found[head, first + place] = ShownEvidence(drawn or b"", listed)
            first += table.num_rows
    return found
