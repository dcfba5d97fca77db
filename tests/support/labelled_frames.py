"""Labelled frames made of a few arrays, for tests of the statistics."""

from typing import Any

import numpy as np

from capsieve.frame_table import NORMAL, POLYP, UNLABELLED, Coded, LabelledFrames

__all__ = [
    "PAPER_FALSE",
    "PAPER_NORMAL",
    "PAPER_SEQUENCES",
    "labelled_frames",
    "many_patients",
    "paper_frames",
]

PAPER_NORMAL = (422, 1008, 4666, 8567, 4075)
"""Normal frames of the paper's five patients."""
PAPER_FALSE = (34, 55, 671, 767, 310)
"""False positives among them at R_P = 37."""
PAPER_SEQUENCES = (18, 57, 10, 7, 11, 11, 2, 3, 17, 32, 12, 15, 4, 7, 9, 15)
"""Frames of the paper's 16 sequences."""
_PAPER_MISSED = (4, 10, 11)  # places of the sequences without a check mark
_PAPER_FOUND = 109  # 47.4 % of 230 frames; the paper prints no count

_TYPES = {
    "head": np.int16,
    "frame": np.int64,
    "time": np.float64,
    "flagged": np.bool_,
    "event": np.int32,
    "duplicate_of": np.int64,
}
_CODED = ("exam", "polyp", "patient", "unit", "group", "source", "finding", "part", "reason")


def labelled_frames(score: Any, truth: Any = None, **given: Any) -> LabelledFrames:
    """Return frames of one exam, without labels, unless other arrays are given.

    Parameters
    ----------
    score, truth
        One per frame.
    **given
        Fields of :class:`~capsieve.frame_table.LabelledFrames`; names are a Coded, texts (None if
        unknown) or numbers (-1). The unit is by default the exam if it is given, else the patient;
        the group is the patient if it is given, else the exam.
    """
    size = len(score)
    codes = {name: _coded(given.pop(name), size) for name in _CODED if name in given}
    codes.setdefault(
        "unit", codes.get("exam", codes.get("patient", Coded(("exam",), _full(size, 0))))
    )
    codes.setdefault("exam", Coded(("exam",), _full(size, 0)))
    kind = "patient" if "patient" in codes else "exam"
    codes.setdefault("group", codes[kind])
    columns: dict[str, Any] = {
        "head": np.zeros(size),
        "time": np.full(size, np.nan),
        "flagged": np.zeros(size),
        "event": np.full(size, -1),
        "duplicate_of": np.full(size, -1),
    }
    columns |= {name: given.pop(name) for name in list(given) if name in _TYPES}
    columns.setdefault("frame", _running(codes["exam"].code, np.asarray(columns["head"])))
    words = {name: given.pop(name) for name in ("group_kind", "polyp_word") if name in given}
    file = given.pop("file", None)
    every: dict[str, Any] = {"group_kind": kind} | words
    every |= {name: codes.get(name, Coded.unknown(size)) for name in _CODED}
    every |= {name: np.asarray(columns[name], kind) for name, kind in _TYPES.items()}
    every |= {name: np.asarray(value) for name, value in given.items()}
    return LabelledFrames(
        score=np.asarray(score, np.float64),
        truth=np.asarray(np.full(size, UNLABELLED) if truth is None else truth, np.int8),
        file=None if file is None else np.asarray(file, object),
        decoded=np.ones(size, np.bool_),
        **every,
    )


def paper_frames() -> LabelledFrames:
    """Return frames with the paper's counts: 1,837 of 18,738 normal and 109 of 230 polyp frames.

    Patient 4 reaches 91 % specificity at R_P = 37 and less than 90 % at 36; at R_P = 40 all normal
    frames have 93.47 %. The paper does not say which frames of a sequence are flagged, nor whose
    polyps they are.
    """
    spare = sum(PAPER_FALSE) - 1224  # false positives with R_max from 37 to 39
    score, patient = [], []
    for number, (frames, false) in enumerate(zip(PAPER_NORMAL, PAPER_FALSE, strict=True)):
        low = min(spare, false // 2)
        spare -= low
        at_36 = 100 if number == 3 else 0
        counts = (false - low, low, at_36, frames - false - at_36)
        score.append(np.repeat([45.0, 38.0, 36.0, -np.inf], counts))
        patient.append(np.full(frames, number))
    flagged = [0] * len(PAPER_SEQUENCES)
    left = _PAPER_FOUND
    while left:
        for place, frames in enumerate(PAPER_SEQUENCES):
            if left and place not in _PAPER_MISSED and flagged[place] < frames:
                flagged[place] += 1
                left -= 1
    for place, (frames, found) in enumerate(zip(PAPER_SEQUENCES, flagged, strict=True)):
        score.append(np.repeat([36.0, 50.0], (frames - found, found)))
        patient.append(np.full(frames, place % 5))
    normals, sequence = sum(PAPER_NORMAL), np.repeat(np.arange(16), PAPER_SEQUENCES)
    truth = np.repeat([NORMAL, POLYP], [normals, len(sequence)])
    polyp = np.concatenate([np.full(normals, -1), sequence])
    owner = np.concatenate(patient)
    order = np.argsort(owner, kind="stable")
    names = tuple("12345")
    return labelled_frames(
        np.concatenate(score)[order],
        truth[order],
        exam=Coded(names, owner[order].astype(np.int32)),
        patient=Coded(names, owner[order].astype(np.int32)),
        polyp=Coded(tuple(str(number) for number in range(1, 17)), polyp[order].astype(np.int32)),
    )


def many_patients(
    patients: int = 40, *, normals: int = 50, polyps: int = 2, seed: int = 0, **given: Any
) -> LabelledFrames:
    """Return frames of patients who differ; scores are whole numbers, polyps have three frames.

    Parameters
    ----------
    patients, normals, polyps
        How many there are, and how many normal frames and polyps each has.
    seed
        Of the scores.
    **given
        As for :func:`labelled_frames`.
    """
    rng = np.random.default_rng(seed)
    patient = np.repeat(np.arange(patients), normals + 3 * polyps)
    level = rng.normal(25, 5, patients)[patient]
    truth = np.tile(np.repeat([NORMAL, POLYP], [normals, 3 * polyps]), patients)
    score = np.rint(rng.normal(level + 10 * (truth == POLYP), 10)).clip(0, 85)
    polyp = np.full(len(patient), -1)
    polyp[truth == POLYP] = np.repeat(np.arange(patients * polyps), 3)
    names = Coded(tuple(f"p{number}" for number in range(patients)), patient.astype(np.int32))
    fields = {"exam": names, "patient": names, "polyp": polyp}
    return labelled_frames(np.where(score > 0, score, -np.inf), truth, **(fields | given))


def _coded(value: Any, size: int) -> Coded:
    if isinstance(value, Coded):
        return value
    if isinstance(value, str):
        return Coded((value,), _full(size, 0))
    values = list(value)
    if all(each is None or isinstance(each, str) for each in values):
        return Coded.of(values)
    code = np.asarray(values, np.int32)
    return Coded(tuple(str(number) for number in range(code.max(initial=-1) + 1)), code)


def _running(exam: Any, head: Any) -> Any:
    """Number the frames of each head of each exam."""
    frame = np.zeros(len(exam), np.int64)
    counts: dict[tuple[int, int], int] = {}
    for row, key in enumerate(zip(exam.tolist(), head.tolist(), strict=True)):
        frame[row] = counts.get(key, 0)
        counts[key] = frame[row] + 1
    return frame


def _full(size: int, value: int) -> Any:
    return np.full(size, value, np.int32)
