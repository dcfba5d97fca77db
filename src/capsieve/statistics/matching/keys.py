"""Which frame a row of labels, or of a split, speaks of."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.errors import FileError
from capsieve.statistics.codes import joint_codes, text_codes
from capsieve.statistics.matching.by_file import rows_by_file
from capsieve.statistics.matching.by_number import rows_by_number
from capsieve.statistics.matching.screened import Screened

__all__ = ["Places", "Why", "find_frames"]


class Why(IntEnum):
    """What became of a row that names a frame."""

    FOUND = 0
    BY_NAME_ALONE = 1  # found, but neither exam nor folder agree
    NO_EXAM = 2
    NO_FRAME = 3
    NO_FILE = 4
    AMBIGUOUS = 5
    TWO_HEADS = 6
    NO_NUMBER = 7
    SURPASSED = 8


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where the frames of rows stand.

    Attributes
    ----------
    row
        In the screened frames; -1 where there is none.
    why
        A :class:`Why` per row.
    exam
        The exam that the row belongs to, found or named; -1 where that is none of the screened.
    """

    row: NDArray[np.int64]
    why: NDArray[np.int8]
    exam: NDArray[np.int32]


def find_frames(screened: Screened, keys: pa.Table, *, what: str) -> Places:
    """Find the frames that rows name by exam, head and frame, or by file.

    Where a row has both, the file counts if the exam's frames are files, and the number if it is
    a video. An exam that the row names narrows the search for its file where there is such an exam.

    Nothing is guessed:

    - A file whose path fits several frames equally well is ambiguous.
    - A row that names an exam which was not screened is not found by the mere name of its file
      where other rows name screened exams, or where its path has that exam as a folder: image
      number 1 of another exam is another frame.
    - Where rows with other exams or paths claim one frame, those count that agree with its exam or
      folder; where none does, none counts.

    Parameters
    ----------
    screened
        All frames.
    keys
        With the columns exam, head, frame and file.
    what
        For messages: where the rows were read.

    Raises
    ------
    FileError
        Rows have frame numbers and no exam, and there are several exams.
    """
    exam = _positions(keys["exam"], screened.exams)
    named = _valid(keys["exam"])
    has_frame, has_file = _valid(keys["frame"]), _valid(keys["file"])
    any_files = bool(screened.has_files.any())
    by_file = has_file & np.where(exam >= 0, screened.has_files[exam], any_files)
    by_number = ~by_file & has_frame
    if len(screened.exams) == 1:
        exam = np.where(~named & by_number, 0, exam).astype(np.int32)
    elif bool((by_number & ~named).any()):
        count = int((by_number & ~named).sum())
        raise FileError(
            f"{what} has {count} rows with a frame number and no exam, and there are "
            f"{len(screened.exams)} exams; add the column exam"
        )
    row = np.full(keys.num_rows, -1, dtype=np.int64)
    why = np.full(keys.num_rows, Why.NO_NUMBER, dtype=np.int8)
    _by_number(screened, keys, exam, by_number, row, why)
    _by_file(screened, keys, exam, named, by_file, row, why)
    _settle_claims(keys, row, why)
    found = row >= 0
    exam = exam.copy()
    exam[found] = screened.exam[row[found]]
    return Places(row, why, exam)


def _by_number(
    screened: Screened,
    keys: pa.Table,
    exam: NDArray[np.int32],
    rows: NDArray[np.bool_],
    row: NDArray[np.int64],
    why: NDArray[np.int8],
) -> None:
    chosen = np.flatnonzero(rows)
    wanted = exam[chosen]
    head, frame = _integers(keys["head"])[chosen], _integers(keys["frame"])[chosen]
    without_head = ~_valid(keys["head"])[chosen]
    only_head = np.array(
        [-1 if len(heads) > 1 else max(heads, default=0) for heads in screened.heads]
    )
    head = np.where(without_head & (wanted >= 0), only_head[wanted], head)
    place = rows_by_number(screened, wanted, head, frame)
    row[chosen] = place
    why[chosen] = np.select(
        [place >= 0, wanted < 0, without_head & (head < 0)],
        [Why.FOUND, Why.NO_EXAM, Why.TWO_HEADS],
        Why.NO_FRAME,
    )


def _by_file(
    screened: Screened,
    keys: pa.Table,
    exam: NDArray[np.int32],
    named: NDArray[np.bool_],
    rows: NDArray[np.bool_],
    row: NDArray[np.int64],
    why: NDArray[np.int8],
) -> None:
    chosen = np.flatnonzero(rows)
    if not len(chosen):
        return
    path = _taken(keys["file"], chosen)
    scope = exam[chosen]
    places = rows_by_file(screened, path, scope)
    elsewhere = named[chosen] & (scope < 0)  # names an exam that was not screened
    agrees = places.folder_agrees | (scope >= 0) | (places.wholly & ~elsewhere)
    foreign = elsewhere & ~agrees
    if not bool((exam >= 0).any()):
        # No exam of these rows was screened: their names may be of another kind, such as videos
        # whose frames lie in one folder. A path with that folder in it says that they are not.
        doubtful = np.flatnonzero(foreign)
        foreign[doubtful] = _has_folder(
            path.take(pa.array(doubtful)), _taken(keys["exam"], chosen[doubtful])
        )
    found = (places.row >= 0) & ~foreign
    row[chosen] = np.where(found, places.row, -1)
    why[chosen] = np.select(
        [found & agrees, found, places.ambiguous & ~foreign, elsewhere],
        [Why.FOUND, Why.BY_NAME_ALONE, Why.AMBIGUOUS, Why.NO_EXAM],
        Why.NO_FILE,
    )


def _settle_claims(keys: pa.Table, row: NDArray[np.int64], why: NDArray[np.int8]) -> None:
    """Let no frame be claimed by the mere name of a file where somebody has a better claim."""
    weak = np.flatnonzero(why == Why.BY_NAME_ALONE)
    if not len(weak):
        return
    surpassed = np.isin(row[weak], row[why == Why.FOUND])
    why[weak[surpassed]] = Why.SURPASSED
    left = weak[~surpassed]
    claim = joint_codes(*(text_codes(_taken(keys[name], left)) for name in ("exam", "file")))
    frames, which = np.unique(row[left], return_inverse=True)
    pairs = np.unique(np.stack([which, claim]), axis=1)[0]
    contested = np.bincount(pairs, minlength=len(frames)) > 1
    why[left[contested[which]]] = Why.AMBIGUOUS
    row[why >= Why.NO_EXAM] = -1


def _positions(column: pa.ChunkedArray, names: tuple[str, ...]) -> NDArray[np.int32]:
    found = pc.index_in(column, value_set=pa.array(names, pa.string()))  # pyright: ignore[reportAttributeAccessIssue]
    return pc.fill_null(found, -1).to_numpy().astype(np.int32)


def _valid(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    return np.asarray(column.is_valid().to_numpy(), dtype=bool)


def _integers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return np.asarray(pc.fill_null(column, -1).to_numpy()).astype(np.int64)


def _taken(column: pa.ChunkedArray, chosen: NDArray[np.int64]) -> pa.Array:
    taken = column.take(pa.array(chosen))
    return pa.concat_arrays(taken.chunks) if taken.num_chunks else pa.array([], column.type)


def _has_folder(path: pa.Array, folder: pa.Array) -> NDArray[np.bool_]:
    """Tell whether each path has this folder."""
    pairs = zip(path.to_pylist(), folder.to_pylist(), strict=True)
    return np.array([name in file.split("/")[:-1] for file, name in pairs], dtype=bool)
