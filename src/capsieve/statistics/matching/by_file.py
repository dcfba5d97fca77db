"""Frames found by the name of their file, with as many folders as both sides know."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from capsieve.statistics.matching.screened import Screened

__all__ = ["FilePlaces", "rows_by_file"]


@dataclass(frozen=True, slots=True, eq=False)
class FilePlaces:
    """Where wanted files stand.

    Attributes
    ----------
    row
        In the screened frames; -1 where no frame has this file, or several have.
    ambiguous
        Whether several frames have it with equal right.
    folder_agrees
        Whether the path names the exam's folder as well.
    wholly
        Whether nothing in the path speaks against it: all of its components agree.
    """

    row: NDArray[np.int64]
    ambiguous: NDArray[np.bool_]
    folder_agrees: NDArray[np.bool_]
    wholly: NDArray[np.bool_]


def rows_by_file(screened: Screened, path: pa.Array, exam: NDArray[np.integer]) -> FilePlaces:
    """Find the frames of files.

    A path fits a frame where one is the other's ending, component by component. The frame's whole
    path is the folder that was screened, with the folders around it, and its file. Of several
    frames that fit, the one counts that agrees in most components; where several agree in as many,
    none does.

    Parameters
    ----------
    screened
        All frames.
    path
        The wanted files, with as many folders as the labels tell; no null.
    exam
        The exam among whose frames each is searched; -1 for all.
    """
    wanted = _tidy(path)
    row = np.full(len(wanted), -1, dtype=np.int64)
    ambiguous = np.zeros(len(wanted), dtype=bool)
    folder_agrees = np.zeros(len(wanted), dtype=bool)
    wholly = np.zeros(len(wanted), dtype=bool)
    places = FilePlaces(row, ambiguous, folder_agrees, wholly)
    files = np.flatnonzero(_boolean(screened.file.is_valid()))
    if not len(files) or not len(wanted):
        return places
    short = _tidy(screened.file.take(pa.array(files)))
    roots = pa.array(screened.roots or screened.exams).take(pa.array(screened.exam[files]))
    whole = pc.binary_join_element_wise(roots, short, "/")  # pyright: ignore[reportAttributeAccessIssue]
    inner, outer, length = _components(short), _components(whole), _components(wanted)
    open_ = np.ones(len(wanted), dtype=bool)
    for depth in range(int(min(outer.max(), length.max())), 0, -1):
        asked = np.flatnonzero(open_ & (length >= depth))
        known = np.flatnonzero(outer >= depth)
        if not len(asked) or not len(known):
            continue
        codes = _codes(_ending(whole, outer, known, depth), _ending(wanted, length, asked, depth))
        known_code, asked_code = codes[: len(known)], codes[len(known) :]
        used_up = length[asked] == depth  # the wanted path has no more components to compare
        for scoped in (False, True):
            for ends in (False, True):
                which = (used_up == ends) & ((exam[asked] >= 0) == scoped)
                if not which.any():
                    continue
                # Else the frame's file has none left but, maybe, its exam's name.
                usable = np.ones(len(known), dtype=bool) if ends else inner[known] <= depth
                left, right = known_code[usable], asked_code[which]
                if scoped:
                    count = len(screened.exams)
                    left = left * count + screened.exam[files[known[usable]]]
                    right = right * count + exam[asked[which]]
                place, several = _join(left, right)
                chosen, fits = asked[which], place >= 0
                target = known[usable][place[fits]]
                row[chosen[fits]] = files[target]
                folder_agrees[chosen[fits]] = inner[target] < depth
                wholly[chosen[fits]] = ends
                ambiguous[chosen[several]] = True
                open_[chosen[fits | several]] = False
    return places


def _join(
    known: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the one place of each wanted code among the known ones, and where there are more."""
    if len(known) and int(known.max()) > 4 * (len(known) + len(wanted)):
        _, dense = np.unique(np.concatenate([known, wanted]), return_inverse=True)
        known, wanted = dense[: len(known)], dense[len(known) :]
    # Codes are dense: looking up is much faster than searching.
    size = max(int(known.max(initial=0)), int(wanted.max(initial=0))) + 1
    count = np.bincount(known, minlength=size)
    position = np.empty(size, dtype=np.int64)
    position[known] = np.arange(len(known))
    times = count[wanted]
    return np.where(times == 1, position[wanted], -1), times > 1


def _tidy(path: pa.Array) -> pa.Array:
    """Return paths without a leading slash, without ``./`` and without doubled slashes."""
    untidy = np.zeros(len(path), dtype=bool)
    for found in (
        pc.match_substring(path, "//"),  # pyright: ignore[reportAttributeAccessIssue]
        pc.match_substring(path, "./"),  # pyright: ignore[reportAttributeAccessIssue]
        pc.starts_with(path, "/"),  # pyright: ignore[reportAttributeAccessIssue]
    ):
        untidy |= _boolean(found)
    if not untidy.any():
        return path
    replace = pc.replace_substring_regex  # pyright: ignore[reportAttributeAccessIssue]
    tidy = path
    for pattern, instead in ((r"/(\./)+", "/"), (r"//+", "/"), (r"^(\./)*/*", "")):
        tidy = replace(tidy, pattern=pattern, replacement=instead)
    return tidy


def _components(path: pa.Array) -> NDArray[np.int64]:
    slashes = pc.count_substring(path, "/")  # pyright: ignore[reportAttributeAccessIssue]
    return np.asarray(slashes.to_numpy(zero_copy_only=False)).astype(np.int64) + 1


def _ending(
    path: pa.Array, length: NDArray[np.int64], chosen: NDArray[np.int64], depth: int
) -> pa.Array:
    """Return the last components of the chosen paths, which have at least as many."""
    longer = chosen[length[chosen] > depth]
    if not len(longer):
        return path.take(pa.array(chosen))
    # Cut from the end: what stays in front of the last components is one piece, whatever it is.
    pieces = pc.split_pattern(  # pyright: ignore[reportAttributeAccessIssue]
        path.take(pa.array(longer)), "/", max_splits=depth, reverse=True
    ).flatten()
    first = np.arange(len(longer)) * (depth + 1)
    last = [pieces.take(pa.array(first + number)) for number in range(1, depth + 1)]
    ending = pc.binary_join_element_wise(*last, "/")  # pyright: ignore[reportAttributeAccessIssue]
    if len(longer) == len(chosen):
        return ending
    short = length[chosen] == depth
    place = np.empty(len(chosen), dtype=np.int64)
    place[~short] = np.arange(len(longer))
    place[short] = len(longer) + np.arange(len(chosen) - len(longer))
    whole = path.take(pa.array(chosen[short]))
    return pa.concat_arrays([ending, whole]).take(pa.array(place))


def _codes(known: pa.Array, wanted: pa.Array) -> NDArray[np.int64]:
    indices = pa.concat_arrays([known, wanted]).dictionary_encode().indices
    return np.asarray(indices.to_numpy(zero_copy_only=False)).astype(np.int64)


def _boolean(column: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=bool)
