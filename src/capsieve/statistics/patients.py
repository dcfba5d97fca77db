"""False positives patient by patient, as in the paper's table."""

import numpy as np
from numpy.typing import NDArray

from capsieve.statistics.flags import normal_frames, unscored_note
from capsieve.statistics.intervals import FRAMES_NOT_INDEPENDENT, wilson
from capsieve.statistics.judged import NORMAL, Judged
from capsieve.statistics.table import Column, Table

__all__ = ["false_positives_table"]

_UNKNOWN = "(unknown)"


def false_positives_table(judged: Judged, flagged: NDArray[np.bool_]) -> Table:
    """Return normal frames N_norm, false positives FPN and their rate FPR of every patient.

    Frames whose patient is unknown are gathered by their group: the block or the exam.

    Parameters
    ----------
    judged
        The frames.
    flagged
        Which of them are flagged.
    """
    normal = normal_frames(judged)
    known = judged.patient[normal] >= 0
    # Patients first, then groups behind them: one code for both.
    names = [*judged.patients, *judged.groups, _UNKNOWN]
    behind = np.where(judged.group[normal] >= 0, judged.group[normal], len(judged.groups))
    code = np.where(known, judged.patient[normal], len(judged.patients) + behind)
    frames = np.bincount(code, minlength=len(names))
    false = np.bincount(code[flagged[normal]], minlength=len(names))
    rows = tuple(
        (names[place], *_counts(int(false[place]), int(frames[place])))
        for place in np.flatnonzero(frames)
    )
    kind = "patient" if len(known) and bool(known.all()) else judged.group_kind
    left_out = unscored_note(judged, truth=NORMAL)
    caption = (
        "Normal frames (N_norm), false positives among them (FPN) and the false positive rate (FPR)"
        f" per {kind}, with Wilson's interval, which {FRAMES_NOT_INDEPENDENT}. {left_out}"
    )
    return Table(
        key="false-positives-per-patient",
        title=f"False positives per {kind}",
        columns=(
            Column("patient", kind.capitalize()),
            Column("normal_frames", "N_norm", "count"),
            Column("false_positives", "FPN", "count"),
            Column("false_positive_rate", "FPR", "share"),
            Column("low", "from", "share"),
            Column("high", "to", "share"),
        ),
        rows=rows,
        caption=caption.strip(),
        total=("Total", *_counts(int(false.sum()), int(frames.sum()))),
    )


def _counts(false: int, frames: int) -> tuple[int, int, float | None, float | None, float | None]:
    low, high = wilson(false, frames) or (None, None)
    return frames, false, false / frames if frames else None, low, high
