"""Evidence maps of the best frames of the events, for the report."""

from collections.abc import Mapping
from itertools import islice

from capsieve.store.tables import FirstPass, Rows

__all__ = ["best_evidence"]


def best_evidence(
    segments: Mapping[int, int], rows: Rows, known: FirstPass, *, most: int
) -> dict[tuple[int, int], bytes]:
    """Return the evidence maps of the best frames of the first events, by head and frame.

    A map is a small grey PNG, brighter where the frame looks more like a polyp.

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
    found: dict[tuple[int, int], bytes] = {}
    for head, count in sorted(segments.items()):
        first = 0
        for number in range(count):
            maps = rows(head, number, ["evidence"])["evidence"]
            for place in range(len(maps)):
                if (head, first + place) in wanted and (drawn := maps[place].as_py()):
                    found[head, first + place] = drawn
            first += len(maps)
    return found
