"""Tables of the comparison of two detectors."""

import numpy as np

from capsieve.frame_table import NORMAL, OTHER, POLYP
from capsieve.plurals import number_of
from capsieve.report import text
from capsieve.report.evaluation_tables import HEADLINE, bounds_text, pick
from capsieve.result_table import Column, Table
from capsieve.statistics.results import LEVEL, Comparison, Interval

_CLASSES = {POLYP: "polyp", NORMAL: "normal", OTHER: "other"}


def compared(comparison: Comparison) -> Table:
    """Return the first metrics as texts, with the interval of their difference and McNemar's p."""
    first, second = (
        {metric.key: metric for metric in metrics}
        for metrics in (comparison.first, comparison.second)
    )
    rows = []
    for difference in pick(comparison.differences, (*HEADLINE, "polyps.auc"), "all"):
        key, unit = difference.key, difference.unit
        rows.append(
            (
                difference.name,
                text.metric(first[key]),
                text.metric(second[key]),
                text.difference(difference.value, unit),
                bounds_text(difference, signed=True),
                *comparison.changes.get(key, (None, None, None)),
            )
        )
    columns = (
        Column("measure", "Measure"),
        *(Column(key, name, "number") for key, name in zip("ab", comparison.names, strict=True)),
        Column("difference", "Difference", "number"),
        Column("interval", f"{100 * LEVEL:g} % interval"),
        Column("gained", "Gained", "count"),
        Column("lost", "Lost", "count"),
        Column("p", "p", "number", 3),
    )
    return Table("compared", "Comparison", columns, tuple(rows), _caption(comparison))


def comparison_table(comparison: Comparison) -> Table:
    """Return all metrics of both as numbers, their differences, and the changes by metric."""
    first, second = comparison.names
    rows = []
    for one, two, difference in zip(
        comparison.first, comparison.second, comparison.differences, strict=True
    ):
        interval = difference.interval or Interval("", None, None)
        values = one.value, two.value, difference.value, interval.low, interval.high
        change = comparison.changes.get(difference.key, (None, None, None))
        rows.append((difference.name, *values, *change))
    columns = (
        Column("quantity", "Quantity"),
        Column("first", first, "share"),
        Column("second", second, "share"),
        Column("difference", "Difference", "share"),
        Column("low", "from", "share"),
        Column("high", "to", "share"),
        Column("gained", "Gained", "count"),
        Column("lost", "Lost", "count"),
        Column("p", "p", "number", 3),
    )
    return Table("comparison", "Comparison", columns, tuple(rows), _caption(comparison))


def changed_table(comparison: Comparison) -> Table:
    """Return the frames that only one of the two detectors flags, with both scores."""
    frames, (first, second) = comparison.frames, comparison.names
    rows_changed = np.flatnonzero(comparison.flags[0] != comparison.flags[1]).tolist()
    rows = tuple(
        (
            frames.exam[row],
            int(frames.head[row]),
            int(frames.frame[row]),
            None if frames.file is None else frames.file[row],
            _CLASSES[int(frames.truth[row])],
            frames.polyp[row],
            *(bool(flagged[row]) for flagged in comparison.flags),
            *(
                float(score[row]) if score[row] > -np.inf else None
                for score in (frames.score, comparison.second_score)
            ),
        )
        for row in rows_changed
    )
    truth = frames.truth[rows_changed]
    counts = ", ".join(
        number_of(int(np.count_nonzero(truth == code)), f"{word} frame")
        for code, word in _CLASSES.items()
    )
    columns = (
        Column("exam", "Exam"),
        Column("head", "Head", "count"),
        Column("frame", "Frame", "count"),
        Column("file", "File"),
        Column("label", "Label"),
        Column("polyp", frames.polyp_word.capitalize()),
        Column("first_flagged", f"Flagged by {first}", "flag"),
        Column("second_flagged", f"Flagged by {second}", "flag"),
        Column("first_score", f"Score, {first}", "number", 3),
        Column("second_score", f"Score, {second}", "number", 3),
    )
    title = "Frames that only one of them flags"
    return Table("changed-sides", title, columns, rows, f"{counts}.")


def _caption(comparison: Comparison) -> str:
    first, second = comparison.names
    sentences = [f"On {number_of(len(comparison.frames), 'labelled frame')} that both scored."]
    if comparison.left_out:
        left_out = number_of(comparison.left_out, "labelled frame")
        sentences.append(f"{left_out} left out: not scored by both.")
    sentences.append(
        f"Differences are {first} minus {second}, with 95 % intervals of a paired bootstrap. "
        f"Gained and lost: correct only with {first}, and only with {second}; p of McNemar's "
        "exact test, which treats frames or polyps as independent."
    )
    intervals = [each.interval for each in comparison.differences if each.interval is not None]
    reasons = [interval.why for interval in intervals if interval.low is None and interval.why]
    return " ".join([*sentences, *(f"No interval: {reason}." for reason in reasons[:1])])
