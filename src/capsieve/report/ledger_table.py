"""The ledger of an exam as sums that a reader can check."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from capsieve.report.formats import count, percent
from capsieve.store.record import Ledger, Record

__all__ = ["Sum", "SumRow", "ledger_columns", "ledger_sums"]


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
        Whether it does; a ledger that does not must say so.
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


def ledger_columns(record: Record) -> list[tuple[str, Ledger]]:
    """Return the columns: the exam, and where it has two heads each of them."""
    heads = record["heads"]
    if len(heads) < 2:
        return [("Frames", record["ledger"])]
    named = [(f"Head {name}", heads[name]) for name in sorted(heads, key=_natural)]
    return [("All frames", record["ledger"]), *named]


def ledger_sums(
    ledgers: Sequence[Ledger], *, parameters: Mapping[str, Any], threshold: str = ""
) -> list[Sum]:
    """Divide the frames up, from what the source declared to what is to be read.

    Parameters
    ----------
    ledgers
        One per column; the first is the whole exam, to which shares refer.
    parameters
        The detector's, which the meanings quote.
    threshold
        Of the score, as a text; "" where the detector has none.
    """
    return [
        _declared(ledgers),
        _found(ledgers),
        _sum(
            ledgers,
            ("decoded", "Decoded", ""),
            ("scored", "Scored", "seen by the detector"),
            (
                "unscorable",
                "Not scorable",
                "pictures that the detector cannot take, such as tiny ones",
            ),
        ),
        _scored(ledgers, parameters, threshold),
        _sum(
            ledgers,
            ("flagged", "Flagged", ""),
            ("to_read", "To read", "what the reader should look at"),
            ("repeats", "Near copies", "nearly the same as a flagged neighbour; shown once"),
        ),
    ]


def _found(ledgers: Sequence[Ledger]) -> Sum:
    parts = [
        ("decoded", "Decoded", _damaged(ledgers[0])),
        ("undecodable", "Undecodable", "there, but no picture could be had of it"),
    ]
    if any(ledger.get("unscreened") for ledger in ledgers):  # rare, and alarming: no row of zeros
        meaning = "nothing is known of them: the program that looked at them died every time"
        parts.append(("unscreened", "Not screened", meaning))
    return _sum(ledgers, ("found", "Found", ""), *parts)


def _sum(
    ledgers: Sequence[Ledger], total: tuple[str, str, str], *parts: tuple[str, str, str]
) -> Sum:
    rows = [_row("", total[1], [ledger[total[0]] for ledger in ledgers], total[2])]
    for place, (key, name, meaning) in enumerate(parts):
        counts = [ledger[key] for ledger in ledgers]
        rows.append(_row("=" if place == 0 else "+", name, counts, meaning, ledgers[0][total[0]]))
    adds_up = all(ledger[total[0]] == sum(ledger[key] for key, _, _ in parts) for ledger in ledgers)
    return Sum(total[1], tuple(rows), adds_up)


def _declared(ledgers: Sequence[Ledger]) -> Sum:
    declared = [ledger["declared"] for ledger in ledgers]
    missing = [ledger["missing"] for ledger in ledgers]
    found = [ledger["found"] for ledger in ledgers]
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


def _scored(ledgers: Sequence[Ledger], parameters: Mapping[str, Any], threshold: str) -> Sum:
    whole = ledgers[0]["scored"]
    rows = [
        _row("", "Scored", [ledger["scored"] for ledger in ledgers], ""),
        _row("=", "Flagged", [ledger["flagged"] for ledger in ledgers], "may show a polyp", whole),
    ]
    found = {reason for ledger in ledgers for reason in ledger["rejected"]}
    known = [reason for reason in _REASONS if reason in found]
    for reason in [*known, *sorted(found - _REASONS.keys())]:
        name, meaning = _REASONS.get(reason, (reason, f"{reason}: set aside by the detector"))
        bound = _bound(reason, parameters)
        if reason == "score-low" and threshold:
            bound = f" of {threshold}"
        counts = [ledger["rejected"].get(reason, 0) for ledger in ledgers]
        rows.append(_row("+", name, counts, meaning + bound, whole))
    adds_up = all(
        ledger["scored"] == ledger["flagged"] + sum(ledger["rejected"].values())
        for ledger in ledgers
    )
    return Sum("Scored", tuple(rows), adds_up)


def _bound(reason: str, parameters: Mapping[str, Any]) -> str:
    """The rule behind a reason, where the parameters name its bound."""
    rule = {
        "texture-low": ("texture_low", "T_max below T_L = {}"),
        "texture-high": ("texture_high", "T_max above T_U = {}"),
        "radius-low": ("radius_threshold", "R_max below R_P = {} working pixels"),
    }.get(reason)
    if rule is None or not isinstance(parameters.get(rule[0]), int | float):
        return ""
    return f" ({rule[1].format(f'{parameters[rule[0]]:g}')})"


def _damaged(ledger: Ledger) -> str:
    if not ledger["damaged"]:
        return "became a picture"
    return f"became a picture; {count(ledger['damaged'])} of them damaged, with parts filled in"


def _row(
    sign: str, name: str, counts: Sequence[int], meaning: str, whole: int | None = None
) -> SumRow:
    share = percent(counts[0] / whole) if whole else ""
    return SumRow(sign, name, tuple(count(each) for each in counts), share, meaning)


def _natural(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdecimal() else (1 << 30, name)
