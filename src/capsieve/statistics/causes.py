"""False positives by cause: what the frames show that are flagged and have no polyp."""

import re

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.flags import number_of
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, wilson
from capsieve.statistics.judged import NORMAL, OTHER, Judged
from capsieve.statistics.table import Column, Table

__all__ = ["NOTHING_NAMED", "causes_table", "finding_words"]

NOTHING_NAMED = "(nothing named)"
"""The row of normal frames without a finding, to compare the others with."""

_SEPARATORS = re.compile(r"[;|,]")
_SPOILERS = frozenset(["bubbles", "liquid", "stool", "wall"])
"""The words of the phantom's truth, which stand side by side with spaces between them."""


def finding_words(text: str) -> tuple[str, ...]:
    """Return the single findings of a text, each once.

    They are separated by ";", "|" or ",". A space separates only the phantom's own words: "foreign
    body" is one finding. "normal" names none.
    """
    words = [word.strip() for word in _SEPARATORS.split(text)]
    if len(words) == 1 and set(text.split()) <= _SPOILERS:
        words = text.split()
    return tuple(dict.fromkeys(word for word in words if word and word.lower() != "normal"))


def causes_table(judged: Judged, flagged: NDArray[np.bool_]) -> Table:
    """Return how often each finding is flagged among frames that show no polyp.

    Parameters
    ----------
    judged
        The frames.
    flagged
        Which of them are flagged.
    """
    scored = ~np.isnan(judged.score)
    without_polyp = (judged.truth == OTHER) | (judged.truth == NORMAL)
    chosen = without_polyp & scored
    words = [finding_words(text) for text in judged.findings]
    code = judged.finding[chosen].astype(np.int64) + 1
    # Frames are counted by the whole text of their findings first: there are few such texts.
    size = len(words) + 1
    other = judged.truth[chosen] == OTHER
    hit = flagged[chosen]
    counts: dict[str, list[int]] = {}
    parts = {"other": other, "normal": ~other}
    by_text = {
        name: (
            np.bincount(code[part], minlength=size),
            np.bincount(code[part & hit], minlength=size),
        )
        for name, part in parts.items()
    }
    plain = [0, 0, 0]
    for place, names in enumerate([(), *words]):
        for name, (frames, hits) in by_text.items():
            if not frames[place]:
                continue
            entries = [counts.setdefault(word, [0, 0, 0]) for word in names] or [plain]
            for entry in entries:
                entry[0] += int(frames[place]) if name == "other" else 0
                entry[1] += int(frames[place])
                entry[2] += int(hits[place])
    rows = [_row(word, entry) for word, entry in counts.items()]
    rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
    if plain[1]:
        rows.append(_row(NOTHING_NAMED, plain))
    unscored = int(np.count_nonzero(without_polyp & ~scored))
    caption = (
        "Flagged frames by what they show, among frames without a polyp: those with another "
        "finding and normal frames with a word for what they show. A frame with several findings "
        f"counts under each of them. Wilson's interval {FRAMES_NOT_INDEPENDENT}."
    )
    if unscored:
        caption += f" {number_of(unscored, 'frame')} not scored: left out."
    return Table(
        key="causes",
        title="False positives by cause",
        columns=(
            Column("finding", "Finding"),
            Column("other_frames", "Labelled other", "count"),
            Column("frames", "Frames", "count"),
            Column("flagged", "Flagged", "count"),
            Column("share", "Share flagged", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
        ),
        rows=tuple(rows),
        caption=caption,
        total=("All frames without a polyp", *_cells(int(other.sum()), len(hit), int(hit.sum()))),
    )


def _row(name: str, entry: list[int]) -> tuple:
    return (name, *_cells(*entry))


def _cells(other: int, frames: int, hits: int) -> tuple:
    low, high = wilson(hits, frames) or (None, None)
    return other, frames, hits, hits / frames if frames else None, low, high
