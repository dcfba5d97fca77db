"""Labels of several readers: where they differ, nobody but the readers can say who is right."""

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.labels.draft import Coded
from capsieve.statistics.labels.label_set import WORDS
from capsieve.statistics.labels.ledger import Ledger

__all__ = ["READER", "refuse_two_readers"]

READER = "reader"
"""The column that says who labelled the frame, as the reading room writes it."""


def refuse_two_readers(
    ledger: Ledger,
    groups: NDArray[np.int64],
    words: NDArray[np.int64],
    contrary: NDArray[np.bool_],
    readers: Coded,
) -> None:
    """Refuse labels in which two readers say different things of a frame.

    To leave such frames out would leave out the hard ones, and flatter every figure. One reader
    who contradicts themself is another matter: that is a slip, and told as one.

    Parameters
    ----------
    ledger
        Names rows and frames.
    groups, words, contrary
        The frame and the label of each row, and whether its frame has two different labels.
    readers
        Who says so.

    Raises
    ------
    FileError
        Two readers differ.
    """
    said: dict[int, dict[tuple[int, int], int]] = {}  # by frame, word and reader: the first row
    apart: dict[int, tuple[int, int]] = {}
    for row in np.flatnonzero(contrary & (readers.codes >= 0)).tolist():
        frame, word, reader = int(groups[row]), int(words[row]), int(readers.codes[row])
        before = said.setdefault(frame, {})
        for (other_word, other_reader), other in before.items():
            if other_word != word and other_reader != reader:
                apart.setdefault(frame, (other, row))
        before.setdefault((word, reader), row)
    if not apart:
        return
    rows = next(iter(apart.values()))
    names = ledger.name_rows(list(rows))
    both = " and ".join(
        f"{readers.texts[readers.codes[row]]} says {WORDS[words[row]]} ({name})"
        for row, name in zip(rows, names, strict=True)
    )
    count = "a frame" if len(apart) == 1 else f"{len(apart):,} frames"
    raise FileError(
        f"readers differ on {count}: of {ledger.say(rows[0])} {both}; settle it in a consensus, "
        "or keep the rows of one reader"
    )
