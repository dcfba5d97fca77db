"""A calibration as tables: one for people, one for machines."""

from capsieve.calibration.outcome import Calibration
from capsieve.calibration.portions import FOLDS, Portion
from capsieve.report.evaluation.cells import DASH, counts_text, interval_text, value_text
from capsieve.report.formats import plain
from capsieve.statistics.bootstrap import plural
from capsieve.statistics.metric import Metric
from capsieve.statistics.table import Column, Table

__all__ = ["figures_table", "interval_notes", "machine_table", "portion_words"]

_KEY = "calibration"
_FIGURES = (
    ("frames", "specificity"),
    ("frames", "sensitivity"),
    ("polyps", "sensitivity"),
    ("polyps", "sensitivity_long"),
    ("effort", "share_of_frames"),
    ("effort", "frames_per_exam"),
    ("effort", "events_per_exam"),
    ("effort", "minutes_per_exam"),
)


def portion_words(portion: Portion) -> str:
    """Return what the figures of a portion rest on, and how far to trust them."""
    if portion.key == FOLDS:
        return "each fold by the others"
    word = {"all": "all frames", "train": "training part", "test": "test part"}.get(
        portion.key, f"part {plain(portion.key)}"
    )
    return f"{word} (optimistic)" if portion.optimistic else word


def figures_table(calibration: Calibration) -> Table:
    """Return the table for people: figures as rows, and what they rest on as columns."""
    c = calibration
    columns = [Column("figure", "Figure")]
    threshold = c.metric("choice.threshold")
    first: list[str] = [threshold.name]
    again = c.metric("choice.new")
    new: list[str] = [again.name]
    for place, portion in enumerate(c.portions):
        words = portion_words(portion)
        columns += [
            Column(f"value_{place}", words[:1].upper() + words[1:], "number"),
            Column(f"interval_{place}", "95 % interval", "number"),
        ]
        chose = place == 0
        first += [
            _fold_words(c) if portion.key == FOLDS else value_text(threshold),
            _bounds(threshold) if chose else DASH,
        ]
        new += [value_text(again), _bounds(again)] if chose else [DASH, DASH]
    rows = [tuple(first)]
    for family, name in _FIGURES:
        metrics = [c.metric(f"{family}.{portion.key}.{name}") for portion in c.portions]
        label = _plain_name(metrics[0])
        cells = [cell for metric in metrics for cell in (_value(metric), _bounds(metric))]
        rows.append((label, *cells))
    rows.append(tuple(new))
    return Table(
        _KEY,
        f"Operating point for {c.target.words(c.unit)}",
        tuple(columns),
        tuple(rows),
        f"{c.how} Optimistic: the frames themselves chose the threshold. Intervals draw whole "
        f"{plural(c.resampled)} again.",
    )


def machine_table(calibration: Calibration) -> Table:
    """Return every number in full precision, one row each."""
    optimistic = {portion.key: portion.optimistic for portion in calibration.portions}
    rows = []
    for metric in calibration.metrics:
        interval = metric.intervals[0] if metric.intervals else None
        rows.append(
            (
                metric.key,
                optimistic.get(_portion(metric)),
                metric.unit,
                metric.value,
                None if interval is None else interval.low,
                None if interval is None else interval.high,
                metric.numerator,
                metric.denominator,
            )
        )
    columns = (
        Column("key", "Figure"),
        Column("optimistic", "Optimistic", "flag"),
        Column("unit", "Unit"),
        Column("value", "Value", "number"),
        Column("low", "from", "number"),
        Column("high", "to", "number"),
        Column("numerator", "Counted", "count"),
        Column("denominator", "of", "count"),
    )
    return Table(_KEY, "Operating point", columns, tuple(rows))


def interval_notes(calibration: Calibration) -> list[str]:
    """Return why there is no value or no interval, and what to know of those there are.

    Each sentence stands there once, behind the figures that it is about.
    """
    words = {portion.key: portion_words(portion) for portion in calibration.portions}
    figures: dict[str, list[str]] = {}  # all of them, by what they rest on
    notes: dict[str, dict[str, list[str]]] = {}
    for metric in calibration.metrics:
        where = words.get(_portion(metric), "")
        name = _plain_name(metric)
        figures.setdefault(where, []).append(name)
        sentence = _sentence(metric)
        if sentence:
            notes.setdefault(sentence, {}).setdefault(where, []).append(name)
    return [f"{_about(places, figures)}: {sentence}." for sentence, places in notes.items()]


def _sentence(metric: Metric) -> str:
    if metric.value is None:
        note = metric.note.removesuffix(".")
        return note[:1].lower() + note[1:]
    if not metric.intervals:
        return ""
    interval = metric.intervals[0]
    return interval.why if interval.low is not None else f"no interval: {interval.why}"


def _about(places: dict[str, list[str]], figures: dict[str, list[str]]) -> str:
    """Name the figures; what holds for all portions is not told for each."""
    parted = {where: found for where, found in places.items() if where}
    names = list(dict.fromkeys(name for found in places.values() for name in found))
    if set(parted) == set(figures) - {""} or not parted:
        most = max(len(found) for where, found in figures.items() if where)
        return "Most figures" if len(names) > most // 2 and parted else "; ".join(names)
    heads = [*places.get("", ())]
    heads += [
        f"{where}, {'most figures' if len(found) > len(figures[where]) // 2 else '; '.join(found)}"
        for where, found in parted.items()
    ]
    head = "; ".join(heads)
    return head[:1].upper() + head[1:]


def _portion(metric: Metric) -> str:
    return metric.key.partition(".")[2].rpartition(".")[0]


def _plain_name(metric: Metric) -> str:
    """The name without the portion, which stands elsewhere."""
    return metric.name.partition(" (")[0]


def _value(metric: Metric) -> str:
    counts = counts_text(metric) if metric.unit == "share" and metric.value is not None else ""
    return f"{value_text(metric)} ({counts})" if counts else value_text(metric)


def _bounds(metric: Metric) -> str:
    if metric.value is None or not metric.intervals or metric.intervals[0].low is None:
        return DASH
    return interval_text(metric.intervals[0], metric.unit)


def _fold_words(calibration: Calibration) -> str:
    values = calibration.fold_thresholds.values()
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
