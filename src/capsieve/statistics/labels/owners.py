"""Whose frames and whose polyps they are: one exam has one patient, one polyp has one exam."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.labels.draft import Coded

__all__ = ["fill_patients", "qualify_polyps", "refuse_two_patients"]

NameRows = Callable[[Sequence[int]], list[str]]
_LONGEST = 60
_WHY = "statistics over patients would be wrong; mend the labels first"


def refuse_two_patients(
    kind: str,
    owner: NDArray[np.int64],
    patient: Coded,
    *,
    owners: Sequence[str] | None = None,
    say: Callable[[int], str] | None = None,
    name_rows: NameRows,
) -> None:
    """Stop where the rows of one exam or frame name two patients.

    Parameters
    ----------
    kind
        What the owner is, for the message: "exam", "frame".
    owner
        A code per row; -1 for none.
    patient
        The patient per row.
    owners
        Their names.
    say
        Where owners have no names: what a row is about.
    name_rows
        As in :class:`~capsieve.statistics.labels.draft.Draft`.

    Raises
    ------
    FileError
        It names the first three, with rows.
    """
    codes, patients = patient
    rows = np.flatnonzero((owner >= 0) & (codes >= 0))
    width = max(len(patients), 1)
    pairs, places = np.unique(owner[rows] * width + codes[rows], return_index=True)
    of = pairs // width
    twice = np.unique(of[1:][of[1:] == of[:-1]])
    if not len(twice):
        return
    found: list[str] = []
    for one in twice[:3].tolist():
        two = np.sort(rows[places[of == one]])[:2].tolist()
        names = [
            f"{_short(patients[int(codes[row])])} ({where})"
            for row, where in zip(two, name_rows(two), strict=True)
        ]
        if owners is not None:
            what = f"{kind} {_short(str(owners[one]))}"
        else:
            what = kind if say is None else say(two[0])
        found.append(f"{what} has the patients {names[0]} and {names[1]}")
    more = f", and {len(twice) - 3} more" if len(twice) > 3 else ""
    raise FileError(f"{'; '.join(found)}{more}: {_WHY}")


def fill_patients(exam: NDArray[np.int64], patient: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the patient of every row, where another row of the same exam names it.

    One exam is of one patient, so this is no guess; an exam that were half in one group and half
    in another would leak.
    """
    known = (exam >= 0) & (patient >= 0)
    of_exam = np.full(int(exam.max(initial=-1)) + 1, -1, np.int64)
    of_exam[exam[known]] = patient[known]
    if not len(of_exam):
        return patient
    return np.where((patient < 0) & (exam >= 0), of_exam[exam], patient)


def qualify_polyps(
    polyp: Coded, exam: Coded, patient: Coded, *, name_rows: NameRows
) -> NDArray[np.object_]:
    """Return the name of each row's polyp with its exam before it: "exam-3/1".

    A name that begins so already, with the exam or with the patient, stays. Without an exam the
    patient comes before it; without either, the name stays.

    Parameters
    ----------
    polyp, exam, patient
        Per row.
    name_rows
        As in :class:`~capsieve.statistics.labels.draft.Draft`.

    Raises
    ------
    FileError
        A polyp that carries its exam or patient in its name stands on frames of another patient.
    """
    named = np.full(len(polyp.codes), None, object)
    rows = np.flatnonzero(polyp.codes >= 0)
    if not len(rows):
        return named
    keys = np.stack([column.codes[rows] for column in (polyp, exam, patient)], axis=1)
    unique, places, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    owners = [
        (polyp.texts[int(of)], _name(exam, int(examined)), _name(patient, int(person)))
        for of, examined, person in unique
    ]
    carried: dict[str, tuple[str | None, int]] = {}
    for (name, of_exam, of_patient), place in zip(owners, places.tolist(), strict=True):
        if _carries(name, of_exam, of_patient):
            carried.setdefault(name, (of_patient, int(rows[place])))
    names = np.empty(len(owners), object)
    for number, (name, of_exam, of_patient) in enumerate(owners):
        prefix = of_exam or of_patient
        if _carries(name, of_exam, of_patient) or prefix is None:
            names[number] = name
        elif name in carried:
            other, row = carried[name]
            if of_patient is None or of_patient != other:
                _refuse(name, row, int(rows[places[number]]), name_rows)
            names[number] = name
        else:
            names[number] = f"{prefix}/{name}"
    named[rows] = names[which.reshape(-1)]
    return named


def _short(name: str) -> str:
    """A name in quotation marks; one that is never closed makes a name of half the file."""
    return repr(name) if len(name) <= _LONGEST else f"{name[:_LONGEST]!r}..."


def _name(column: Coded, code: int) -> str | None:
    return column.texts[code] if code >= 0 else None


def _carries(name: str, exam: str | None, patient: str | None) -> bool:
    return any(owner is not None and name.startswith(f"{owner}/") for owner in (exam, patient))


def _refuse(name: str, row: int, other: int, name_rows: NameRows) -> Any:
    first, second = name_rows([row, other])
    raise FileError(f"polyp {name!r} has frames of two patients ({first} and {second}): {_WHY}")
