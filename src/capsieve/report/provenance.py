"""Provenance of the results of an exam: rows of texts."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any

from capsieve.errors import ParameterError
from capsieve.parameters import Parameters
from capsieve.report.text import bytes_text, clock, count, number, plain
from capsieve.store.record import FieldOfViewRecord, ProblemRecord, Record, SourceRecord

Row = tuple[str, str]
"""A name and a value."""


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """A parameter: its name, the paper's symbol, its value and its meaning."""

    name: str
    symbol: str
    value: str
    meaning: str


def parameter_rows(parameters: Mapping[str, Any]) -> list[ParameterRow]:
    """Return every parameter; those of the paper with symbol, meaning and derived value."""
    known = {each.name: each.metadata for each in fields(Parameters)}
    derived = None
    with suppress(ParameterError, TypeError):  # another detector's, or another version's
        derived = Parameters.from_dict(parameters).derived
    rows: list[ParameterRow] = []
    for name, value in parameters.items():
        text = _text(value)
        if value is None and derived is not None and hasattr(derived, name):
            text = f"{getattr(derived, name):g} (from the width)"
        notes = known.get(name, {})
        rows.append(
            ParameterRow(plain(name), notes.get("symbol", ""), text, notes.get("meaning", ""))
        )
    return rows


def source_rows(source: SourceRecord) -> list[Row]:
    """Return the properties of a head's source."""
    rows = [
        (
            "Kind",
            {"video": "video", "folder": "folder of images", "zip": "archive of images"}.get(
                source["kind"], plain(source["kind"])
            ),
        ),
        ("Path", plain(source["path"])),
        ("Size", bytes_text(source["bytes"])),
        ("SHA-256", plain(source["sha256"])),
        (
            "Frames declared",
            "not stated" if source["declared"] is None else count(source["declared"]),
        ),
    ]
    if source["kind"] == "video":
        rows.append(("Stream", str(source["stream"])))
    if source["names"]:
        rows.append(("Names of this head", plain(source["names"])))
    return rows + rows_of(source["description"])


def view_words(view: FieldOfViewRecord) -> str:
    """Return a head's field of view as text."""
    found = (
        f"found by search, confidence {number(view['confidence'], digits=2)}"
        if view["found_by"] == "search"
        else "given by the user"
    )
    return (
        f"{plain(view['shape'])}, centre at row {view['row']:.0f}, column {view['col']:.0f}, "
        f"radius {view['radius']:.0f} pixels; frames of {view['rows']} rows and "
        f"{view['cols']} columns; {found}"
    )


def run_rows(record: Record) -> list[Row]:
    """Return when and how the exam was screened, and how fast."""
    run = dict(record["run"])
    seconds = run.pop("seconds", None)
    earlier = run.get("frames_by_an_earlier_run")
    rows = rows_of(run)
    if isinstance(seconds, int | float):
        rows.append(("Took", f"{number(seconds)} s"))
        frames = record["frame_counts"]["found"] - (earlier if isinstance(earlier, int) else 0)
        if seconds > 0 and frames > 0:
            rows.append(("Speed", f"{number(frames / seconds)} frames per second"))
    return rows + rows_of(record["settings"])


def rows_of(content: Mapping[str, Any], path: str = "") -> list[Row]:
    """Return the entries of a dictionary as rows; nested entries name their parents."""
    rows: list[Row] = []
    for name, value in content.items():
        label = f"{path}{plain(name).replace('_', ' ')}"
        if isinstance(value, Mapping):
            rows += rows_of(value, f"{label}: ")
            continue
        text = _text(value)
        if label.endswith(" s") and isinstance(value, int | float):
            label, text = label.removesuffix(" s"), f"{number(value)} s"
        rows.append((label[:1].upper() + label[1:], text))
    return rows


def places(problem: ProblemRecord, *, heads: int, zero: float | None) -> str:
    """Return the place of a problem as text; "" if it is unknown."""
    found: list[str] = []
    if heads > 1:
        found.append(f"head {problem['head']}")
    first, last = problem["first_frame"], problem["last_frame"]
    if first is not None:
        found.append(f"frame {first}" if last in (None, first) else f"frames {first} to {last}")
    start, end = problem["first_time_s"], problem["last_time_s"]
    if start is not None:
        # Without a known first frame the source's own clock is all there is.
        offset = 0.0 if zero is None else zero
        span = clock(start - offset)
        if end is not None and clock(end - offset) != span:
            span = f"{span} to {clock(end - offset)}"
        found.append(f"at {span}")
    if problem["file"]:
        found.append(f"file {plain(problem['file'])}")
    return ", ".join(found)


def _text(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 10_000:
        return count(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return ", ".join(_text(each) for each in value) or "none"
    return plain(value)
