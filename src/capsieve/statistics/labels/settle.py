"""From rows as they stand to labels that can be used, and a list of all that was not clear.

Every row that is not used is counted in exactly one problem: the first that applies.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.labels.draft import (
    Coded,
    Draft,
    Texts,
    clean_text,
    codes_of,
    whole_numbers,
)
from capsieve.statistics.labels.label_set import LABELS, WORDS, LabelSet
from capsieve.statistics.labels.ledger import Ledger, Say
from capsieve.statistics.labels.owners import fill_patients, qualify_polyps, refuse_two_patients
from capsieve.statistics.labels.readers import READER, refuse_two_readers
from capsieve.statistics.labels.repeats import frame_groups, two_words
from capsieve.statistics.labels.unite import Codes, unite_rows

__all__ = ["NO_LABEL", "TWO_LABELS", "UNKNOWN_LABEL", "settle"]

NO_LABEL = "the label is empty"
UNKNOWN_LABEL = "the label is not one of polyp, normal, other"
TWO_LABELS = "the frame has two different labels"

_POLYP = WORDS.index("polyp")
_LARGEST_HEAD = 32_767
_LARGEST_FRAME = 10**18


def settle(
    draft: Draft,
    *,
    layout: str,
    path: str,
    unit: str = "polyp",
    warnings: Sequence[str] = (),
) -> LabelSet:
    """Check every row, and keep those that say one thing clearly.

    Parameters
    ----------
    draft
        The rows as they stand.
    layout, path, unit, warnings
        For the :class:`~capsieve.statistics.labels.label_set.LabelSet`.

    Raises
    ------
    FileError
        An exam, a frame or a polyp has two patients, two readers differ on a frame, or a column
        holds no texts.
    """
    try:
        table, ledger, lost = _settle(draft)
    except FileError as error:
        raise FileError(f"{path}: {error}") from None
    return LabelSet(table, tuple(ledger.problems), layout, path, unit, (*warnings, *lost))


def _settle(draft: Draft) -> tuple[pa.Table, Ledger, tuple[str, ...]]:
    count = len(next(iter(draft.columns.values())))
    text = {
        name: clean_text(draft.columns[name], name=name)
        if name in draft.columns
        else pa.nulls(count, pa.string())
        for name in LABELS.names
    }
    ledger = Ledger(
        count,
        name_rows=draft.name_rows,
        say=lambda row: _frame_name({name: text[name][row].as_py() for name in text}),
        problems=draft.problems,
    )
    coded = {name: codes_of(text[name]) for name in text if name not in ("head", "frame")}
    names: dict[str, Texts] = {name: column.texts for name, column in coded.items()}
    codes = {name: column.codes for name, column in coded.items()}
    codes |= _check_numbers(ledger, text)
    codes["label"] = _check_words(ledger, coded["label"], codes)
    names["label"] = Texts(pa.array(WORDS, pa.string()))
    groups = frame_groups(codes["exam"], codes["head"], codes["frame"], codes["file"])
    readers = draft.columns.get(READER)
    said_by = None if readers is None else codes_of(clean_text(readers, name=READER))
    _check_contradictions(ledger, groups, codes, names["polyp"], said_by)
    codes["patient"] = _check_patients(ledger, codes, names)
    united, lost = unite_rows(
        ledger, groups, codes, patients=names["patient"], polyps=names["polyp"]
    )
    keep = ledger.places()
    polyp = qualify_polyps(
        *(Coded(united[name][keep], names[name]) for name in ("polyp", "exam", "patient")),
        name_rows=lambda rows: draft.name_rows(keep[list(rows)].tolist()),
    )
    return _table(united, names, keep, polyp), ledger, lost


def _check_numbers(ledger: Ledger, text: dict[str, pa.StringArray]) -> dict[str, NDArray[np.int64]]:
    """Read heads and frames; drop rows whose numbers are none."""
    numbers: dict[str, NDArray[np.int64]] = {}
    for name, largest in (("frame", _LARGEST_FRAME), ("head", _LARGEST_HEAD)):
        numbers[name], wrong = whole_numbers(text[name], largest=largest)
        what = f"the {name} is not a whole number from 0"
        ledger.drop(wrong, what, _cell(text, name))
    return numbers


def _cell(text: dict[str, pa.StringArray], name: str) -> Say:
    return lambda row: f"{name} {text[name][row].as_py()!r}"


def _check_words(ledger: Ledger, label: Coded, codes: Codes) -> NDArray[np.int64]:
    """Return the place of each row's label among the three words; drop rows without one."""
    nameless = (codes["file"] < 0) & (codes["frame"] < 0)
    ledger.drop(nameless, "the row names neither a file nor a frame")
    ledger.drop(label.codes < 0, NO_LABEL)
    known = {word: place for place, word in enumerate(WORDS)}
    # The code -1, for no text, is the last place.
    meanings = np.array([*(known.get(word.lower(), -1) for word in label.texts), -1], np.int64)
    words = meanings[label.codes]
    ledger.drop(words < 0, UNKNOWN_LABEL, lambda row: f"label {label.texts[label.codes[row]]!r}")
    return words


def _check_contradictions(
    ledger: Ledger,
    groups: NDArray[np.int64],
    codes: Codes,
    polyps: Texts,
    readers: Coded | None,
) -> None:
    """Drop frames with two labels, and frames that are not labelled polyp yet name one."""
    words, polyp = codes["label"], codes["polyp"]
    keep = ledger.places()
    contrary = np.zeros(len(words), bool)
    contrary[keep] = two_words(groups[keep], words[keep])
    if readers is not None:
        refuse_two_readers(ledger, groups, words, contrary, readers)
    ledger.drop(contrary, TWO_LABELS, lambda row: f"{ledger.say(row)} is {WORDS[words[row]]}")
    ledger.drop(
        (polyp >= 0) & (words != _POLYP),
        "a polyp is named on a frame that is not labelled polyp",
        lambda row: f"polyp {polyps[polyp[row]]!r}, label {WORDS[words[row]]!r}",
    )


def _check_patients(ledger: Ledger, codes: Codes, names: dict[str, Texts]) -> NDArray[np.int64]:
    """Return the patient of each row; stop where an exam has two."""
    keep = ledger.places()
    patient, patients = codes["patient"], names["patient"]
    refuse_two_patients(
        "exam",
        codes["exam"][keep],
        Coded(patient[keep], patients),
        owners=names["exam"],
        name_rows=lambda rows: ledger.name_rows(keep[list(rows)].tolist()),
    )
    filled = fill_patients(codes["exam"], np.where(ledger.used, patient, -1))
    ledger.note(
        np.flatnonzero(ledger.used & (patient < 0) & (filled >= 0)),
        "the row names no patient; the one that other rows of its exam name counts",
        lambda row: f"{ledger.say(row)}, patient {patients[filled[row]]!r}",
        used=True,
    )
    return filled


def _frame_name(row: dict[str, str | None]) -> str:
    if row["file"] is not None:
        return f"file {row['file']!r}"
    named = [f"{name} {row[name]}" for name in ("exam", "head", "frame") if row[name] is not None]
    return ", ".join(named) or "nothing"


def _table(
    codes: Codes,
    names: dict[str, Texts],
    keep: NDArray[np.int64],
    polyp: NDArray[np.object_],
) -> pa.Table:
    columns: list[pa.Array] = []
    for field in LABELS:
        values = codes[field.name][keep]
        if field.name == "polyp":
            columns.append(pa.array(polyp, pa.string()))
        elif field.name in names:
            texts = names[field.name].array
            columns.append(texts.take(pa.array(values, mask=values < 0)))
        else:
            columns.append(pa.array(values, field.type, mask=values < 0))
    return pa.table(columns, schema=LABELS)
