"""Finding exams in what the user typed: files, folders, patterns, two files for two heads."""

import glob
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from capsieve.errors import CapsieveError, FileError, ParameterError
from capsieve.sources.exam_input import Found, exams_at, known_path
from capsieve.sources.head_names import split_head
from capsieve.sources.natural_order import natural_key
from capsieve.sources.source import Place

__all__ = ["ExamInput", "find_exams"]

_MOST_HEADS = 2
_PATTERN = re.compile(r"[*?\[]")
# Separators, control characters and halves of characters that no text can hold.
_UNFIT = re.compile(r"[/\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ExamInput:
    """An exam that the user asked for, or what was found in its stead.

    Attributes
    ----------
    name
        Its name, fit for a folder.
    places
        Where its heads are; () where it cannot be opened.
    error
        Why it cannot be opened; None where it can.
    """

    name: str
    places: tuple[Place, ...]
    error: CapsieveError | None = None


def find_exams(
    inputs: Sequence[str | Path], *, one_exam: str | None = None, full_names: bool = False
) -> list[ExamInput]:
    """Find the exams in what the user typed.

    A video, a ZIP archive of images and a folder of images are an exam each; any other folder is
    a folder of exams. Two whose names differ only in ``-head-0`` and ``-head-1`` are the two heads
    of one exam, and so are two streams of one video.

    Parameters
    ----------
    inputs
        Files, folders, and patterns such as ``study/*.mp4`` that no shell has expanded.
    one_exam
        The name of the one exam whose heads 0 and 1 the inputs are, in this order.
    full_names
        Name exams after the folders that they lie in as well, as far as these differ: Polyp/KID
        and Ulcer/KID are Polyp-KID and Ulcer-KID.

    Returns
    -------
    list of ExamInput
        In the order of the inputs, and in natural order inside each. One that cannot be opened
        comes with its error, so that the others can go on. So does, at the end, what is no exam.

    Raises
    ------
    FileError
        There is no such file, nothing matches a pattern, two exams have the same name, or the
        inputs are not the heads of `one_exam`.
    ParameterError
        `one_exam` is no name for a folder.
    """
    paths = [known_path(path) for typed in inputs for path in _expand(typed)]
    if not paths:
        raise FileError("nothing to screen was named; give a video, or a folder of images")
    if one_exam is not None:
        return [_one_exam(one_exam, paths)]
    found = [exam for path in paths for exam in exams_at(path, named=set(paths))]
    found = [_with_valid_path(exam) for exam in _without_repeats(found)]
    named = list(_join_heads([exam for exam in found if exam.is_exam]))
    if full_names:
        named = _with_folders(named)
    taken = _check_names(named)
    others = _name_others([other for other in found if not other.is_exam], taken)
    return [*(exam for exam, _ in named), *others]


def _expand(typed: str | Path) -> Iterator[Path]:
    """Yield the paths that an input means."""
    text = os.fspath(typed)
    if not text:
        raise FileError("an input is empty; give a video, or a folder of images")
    if _PATTERN.search(text) and not os.path.lexists(text):
        matches = sorted(glob.glob(text, recursive=True), key=natural_key)
        if not matches:
            raise FileError(f"nothing matches {text}; check the pattern")
        yield from map(Path, matches)
    else:
        yield Path(text)


def _one_exam(name: str, paths: Sequence[Path]) -> ExamInput:
    """Return the exam whose heads are given one by one."""
    if _fit_name(name) != name:
        raise ParameterError(
            "one_exam", f"{name!r} cannot be the name of a folder; give an exam a plain name"
        )
    found: list[Found] = []
    for path in paths:
        exams = list(map(_with_valid_path, exams_at(path)))
        if len(exams) > 1:
            raise FileError(
                f"{path} holds more than one exam, and it should be one head of the exam {name}"
            )
        found += exams
    if len(_without_repeats(found)) < len(found):
        raise FileError(f"{found[0].path} is named twice; name a file or folder for each head")
    for exam in found:
        if exam.error is not None:
            return ExamInput(name, (), exam.error)
    places = [place for exam in found for place in exam.places]
    if len(places) > _MOST_HEADS:
        raise FileError(
            f"the exam {name} would have {len(places)} heads, and a capsule has at most "
            f"{_MOST_HEADS}; name one file or folder for each head"
        )
    return ExamInput(name, tuple(replace(place, head=head) for head, place in enumerate(places)))


def _without_repeats(found: Sequence[Found]) -> list[Found]:
    return list({exam.path: exam for exam in found}.values())


def _with_valid_path(exam: Found) -> Found:
    """Refuse a path that is not valid text: no record of the exam could hold it."""
    try:
        str(exam.path).encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(exam.path).decode("utf-8", "backslashreplace")
        error = FileError(f"cannot read {shown}: its name is not valid UTF-8 text; rename it")
        return replace(exam, places=(), error=error)
    return exam


def _join_heads(found: Sequence[Found]) -> Iterator[tuple[ExamInput, Path]]:
    """Yield the exams, two heads of one joined, each with the path that it was found at."""
    partners: dict[tuple[Path, str], dict[int, Found]] = {}
    for exam in found:
        rest, head = split_head(exam.stem)
        if head is not None and len(exam.places) <= 1:
            partners.setdefault((exam.path.parent, rest), {}).setdefault(head, exam)
    joined: set[Path] = set()
    for exam in found:
        if exam.path in joined:
            continue
        rest, _ = split_head(exam.stem)
        pair = partners.get((exam.path.parent, rest), {})
        if len(pair) == _MOST_HEADS and exam in pair.values():
            joined |= {pair[head].path for head in pair}
            yield _joined(rest or exam.path.parent.name, pair), exam.path
        else:
            yield ExamInput(_fit_name(exam.stem), exam.places, exam.error), exam.path


def _joined(name: str, pair: dict[int, Found]) -> ExamInput:
    for exam in pair.values():
        if exam.error is not None:
            return ExamInput(_fit_name(name), (), exam.error)
    places = [replace(pair[head].places[0], head=head) for head in sorted(pair)]
    return ExamInput(_fit_name(name), tuple(places))


def _fit_name(name: str) -> str:
    """Return a name that a folder can have and that is not hidden."""
    fit = _UNFIT.sub("_", name).strip()
    fit = re.sub(r"^\.+", "_", fit)
    return fit or "exam"


def _with_folders(named: Sequence[tuple[ExamInput, Path]]) -> list[tuple[ExamInput, Path]]:
    """Return the exams with the folders in their names that they do not all lie in."""
    if not named:
        return []
    shared = Path(os.path.commonpath([path.parent for _, path in named]))
    return [
        (replace(exam, name="-".join([*path.parent.relative_to(shared).parts, exam.name])), path)
        for exam, path in named
    ]


def _check_names(named: Sequence[tuple[ExamInput, Path]]) -> set[str]:
    """Refuse names that some file systems take for the same: they are folders of results.

    Returns
    -------
    set of str
        The names, in the form in which those that are taken for the same are equal.
    """
    first: dict[str, Path] = {}
    for exam, path in named:
        same = _folded(exam.name)
        if same in first:
            raise FileError(
                f"{first[same]} and {path} would both be the exam {exam.name}; name them after "
                "their folders too, with --full-names, or screen them into different folders"
            )
        first[same] = path
    return set(first)


def _name_others(others: Sequence[Found], taken: set[str]) -> Iterator[ExamInput]:
    """Yield what is no exam; it has no results, so it gives way where its name is taken."""
    for other in others:
        name = stem = _fit_name(other.stem)
        for number in count(2):
            if _folded(name) not in taken:
                break
            name = f"{stem} ({number})"
        taken = taken | {_folded(name)}
        yield ExamInput(name, (), other.error)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
