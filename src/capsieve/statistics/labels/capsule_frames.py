"""A table of frames of Kvasir-Capsule and SEE-AI, with findings and runs.

SEE-AI does not say which exam a frame is from. Its frames have a running number, by which blocks
can be cut; polyp frames with numbers close together form a run, which stands in for one polyp.
"""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from capsieve.errors import FileError
from capsieve.statistics.labels.delimited import EXAMPLES, read_header, read_records, record_lines
from capsieve.statistics.labels.draft import Draft, clean_text
from capsieve.statistics.labels.label_set import LabelProblem, LabelSet
from capsieve.statistics.labels.settle import settle

__all__ = ["LOOKS", "NAME", "read", "recognises"]

NAME = "capsule-frames"
LOOKS = "a table with the columns file, source, video, frame, findings, label, run"

_COLUMNS = ("file", "source", "video", "frame", "findings", "label", "run")
_KVASIR, _SEE_AI = "kvasir-capsule", "see-ai"
_RUNS = "runs of polyp frames stand in for polyps: call results per run, not per polyp"
_SEE_AI_WARNINGS = (
    "the exams of SEE-AI frames are not known: split them by blocks of the running number, never "
    "at random",
    "the running numbers of SEE-AI frames are no timeline: their order follows the findings",
)


def recognises(path: Path) -> bool:
    """Whether it has these columns."""
    header = read_header(path)
    return header is not None and set(_COLUMNS) <= set(header.columns)


def read(path: Path) -> LabelSet:
    """Read the table; frames from a source that is neither of the two are not used.

    Raises
    ------
    FileError
        It does not have these columns, holds nothing or is not UTF-8.
    """
    header = read_header(path)
    if header is None or not set(_COLUMNS) <= set(header.columns):
        raise FileError(f"{path} does not have the columns {', '.join(_COLUMNS)}")
    records = read_records(path, header)
    text = {name: clean_text(records.table[name], name=name) for name in _COLUMNS}
    source = text["source"].fill_null("").to_numpy(zero_copy_only=False)
    known = np.isin(source, [_KVASIR, _SEE_AI])
    places = np.flatnonzero(known)

    def name_rows(rows: "list[int] | range") -> list[str]:
        lines = record_lines(path, header, list(rows))
        return [f"line {lines.get(row, '?')}" for row in rows]

    problems = list(records.problems)
    if not known.all():
        strange = np.flatnonzero(~known)
        named = strange[:EXAMPLES].tolist()
        said = tuple(
            f"{where}: source {source[row]!r}"
            for where, row in zip(name_rows(named), named, strict=True)
        )
        what = f"the source is neither {_KVASIR} nor {_SEE_AI}"
        problems.append(LabelProblem(what, len(strange), said))
    video = text["video"].to_numpy(zero_copy_only=False)
    text["patient"] = pa.array(np.where(source == _KVASIR, video, None), pa.string())
    columns = {
        "file": "file",
        "frame": "frame",
        "label": "label",
        "polyp": "run",
        "patient": "patient",
        "finding": "findings",
    }
    draft = Draft(
        {name: text[origin].take(pa.array(places)) for name, origin in columns.items()},
        lambda rows: name_rows([int(places[row]) for row in rows]),
        tuple(problems),
    )
    see_ai = _SEE_AI_WARNINGS if (source == _SEE_AI).any() else ()
    runs = (_RUNS,) if text["run"].null_count < len(text["run"]) else ()
    return settle(
        draft,
        layout="frames of Kvasir-Capsule and SEE-AI",
        path=os.fspath(path),
        unit="run",
        warnings=(*see_ai, *runs),
    )
