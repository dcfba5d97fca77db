"""The frame counts of an exam as sums that a reader can check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from capsieve.report.text import count, percent
from capsieve.store.record import FrameCounts, Record

__all__ = ["Sum", "SumRow", "frame_counts_columns", "frame_counts_sums"]


@dataclass(frozen=True, slots=True)
class SumRow:
    """One line: a sign, what is counted, the counts, and what it means."""

    sign: str
    name: str
    counts: tuple[str, ...]
    share: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Sum:
    """A total and its parts.

    Attributes
    ----------
    title
        What is divided up.
    rows
        The total, then its parts.
    adds_up
        Whether it does; counts that do not must say so.
    """

    title: str
    rows: tuple[SumRow, ...]
    adds_up: bool


_REASONS = {
    "texture-low": (
        "Too smooth",
        "texture-low: too little texture, as in blurred, empty or featureless views",
    ),
    "texture-high": (
        "Too busy",
        "texture-high: too much texture, as in bubbles, foam and residue",
    ),
    "no-feature": (
        "Nothing polyp-like",
        "no-feature: nothing of the right size and roundness stands out",
    ),
    "radius-low": (
        "Bump too small",
        "radius-low: the best-fit ball is smaller than the threshold",
    ),
    "score-low": ("Score too low", "score-low: the score is below the threshold"),
}


def frame_counts_columns(record: Record) -> list[tuple[str, FrameCounts]]:
    """Return the columns: the exam, and where it has two heads each of them."""
    heads = record["heads"]
    if len(heads) < 2:
        return [("Frames", record["frame_counts"])]
    named = [(f"Head {name}", heads[name]) for name in sorted(heads, key=_natural)]
    return [("All frames", record["frame_counts"]), *named]


def frame_counts_sums(
    columns: Sequence[FrameCounts],
    *,
    parameters: Mapping[str, Any],
    threshold: str = "",
    by_list: bool = False,
) -> list[Sum]:
    """Divide the frames up, from what the source declared to what is to be read.

    Parameters
    ----------
    columns
        One per column; the first is the whole exam, to which shares refer.
    parameters
        The detector's, which the meanings quote.
    threshold
        Lowest score of a flagged frame, as a text; "" if there is none.
    by_list
        Whether a reading list flagged the frames.
    """
    return [
        _declared(columns),
        _found(columns),
        _sum(
            columns,
            ("decoded", "Decoded", ""),
            ("scored", "Scored", "seen by the detector"),
            (
                "unscorable",
                "Not scorable",
                "pictures that the detector cannot take, such as tiny ones",
            ),
        ),
        _scored(columns, parameters, threshold, by_list=by_list),
        _sum(
            columns,
            ("flagged", "Flagged", ""),
            ("to_read", "To read", "what the reader should look at"),
            (
                "near_duplicates",
                "Near-duplicates",
                "nearly the same as a flagged neighbour; shown once",
            ),
        ),
    ]


def _found(columns: Sequence[FrameCounts]) -> Sum:
    parts = [
        ("decoded", "Decoded", _damaged(columns[0])),
        ("undecodable", "Undecodable", "there, but no picture could be had of it"),
    ]
    if any(each.get("unscreened") for each in columns):  # rare, and alarming: no row of zeros
        meaning = "nothing is known of them: the program that looked at them died every time"
        parts.append(("unscreened", "Not screened", meaning))
    return _sum(columns, ("found", "Found", ""), *parts)


def _sum(
    columns: Sequence[FrameCounts], total: tuple[str, str, str], *parts: tuple[str, str, str]
) -> Sum:
    rows = [_row("", total[1], [each[total[0]] for each in columns], total[2])]
    for place, (key, name, meaning) in enumerate(parts):
        numbers = [each[key] for each in columns]
        rows.append(_row("=" if place == 0 else "+", name, numbers, meaning, columns[0][total[0]]))
    adds_up = all(each[total[0]] == sum(each[key] for key, _, _ in parts) for each in columns)
    return Sum(total[1], tuple(rows), adds_up)


def _declared(columns: Sequence[FrameCounts]) -> Sum:
    declared = [each["declared"] for each in columns]
    missing = [each["missing"] for each in columns]
    found = [each["found"] for each in columns]
    claim = "what the source claims to hold; noted, never relied on"
    rows = [
        SumRow(
            "",
            "Declared",
            tuple("not stated" if each is None else count(each) for each in declared),
            "",
            claim,
        ),
        _row("\N{MINUS SIGN}", "Missing", missing, "declared, but not there"),
    ]
    more = [
        0 if claimed is None else there - (claimed - lost)
        for claimed, lost, there in zip(declared, missing, found, strict=True)
    ]
    beyond, left_out = [max(each, 0) for each in more], [max(-each, 0) for each in more]
    if any(beyond):
        rows.append(_row("+", "Beyond the declared", beyond, "there, although not declared"))
    if any(left_out):
        meaning = "declared, but marked by the source as not to be shown"
        rows.append(_row("\N{MINUS SIGN}", "Left out", left_out, meaning))
    rows.append(_row("=", "Found", found, "frames that are really there"))
    return Sum("Declared", tuple(rows), adds_up=True)


def _scored(
    columns: Sequence[FrameCounts], parameters: Mapping[str, Any], threshold: str, *, by_list: bool
) -> Sum:
    whole = columns[0]["scored"]
    rows = [
        _row("", "Scored", [each["scored"] for each in columns], ""),
        _row("=", "Flagged", [each["flagged"] for each in columns], "may show a polyp", whole),
    ]
    found = {reason for each in columns for reason in each["rejected"]}
    known = [reason for reason in _REASONS if reason in found]
    for reason in [*known, *sorted(found - _REASONS.keys())]:
        name, meaning = _REASONS.get(reason, (reason, f"{reason}: set aside by the detector"))
        bound = _bound(reason, parameters)
        if reason == "score-low" and by_list:
            name, meaning, bound = "Not listed", "score-low: after the end of the reading list", ""
        elif reason == "score-low" and threshold:
            bound = f" of {threshold}"
        elif reason == "radius-low" and threshold:
            bound = f" (R_max below R_P = {threshold} working pixels)"
        numbers = [each["rejected"].get(reason, 0) for each in columns]
        rows.append(_row("+", name, numbers, meaning + bound, whole))
    adds_up = all(
        each["scored"] == each["flagged"] + sum(each["rejected"].values()) for each in columns
    )
    return Sum("Scored", tuple(rows), adds_up)


def _bound(reason: str, parameters: Mapping[str, Any]) -> str:
    """The rule behind a reason, where the parameters name its bound."""
    rule = {
        "texture-low": ("texture_low", "T_max below T_L = {}"),
        "texture-high": ("texture_high", "T_max above T_U = {}"),
    }.get(reason)
    if rule is None or not isinstance(parameters.get(rule[0]), int | float):
        return ""
    return f" ({rule[1].format(f'{parameters[rule[0]]:g}')})"


def _damaged(counts: FrameCounts) -> str:
    if not counts["damaged"]:
        return "became a picture"
    return f"became a picture; {count(counts['damaged'])} of them damaged, with parts filled in"


def _row(
    sign: str, name: str, counts: Sequence[int], meaning: str, whole: int | None = None
) -> SumRow:
    share = percent(counts[0] / whole) if whole else ""
    return SumRow(sign, name, tuple(count(each) for each in counts), share, meaning)


def _natural(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (1 << 30, name)
