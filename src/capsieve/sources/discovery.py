"""Find exams: videos, ZIP archives and folders of images that a user named, and their heads."""

import glob
import os
import re
import shlex
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path, PurePosixPath

from capsieve.errors import CapsieveError, FileError, file_errors
from capsieve.names import natural_key, split_head
from capsieve.sources.base import Kind, Place
from capsieve.sources.image_source import ImageSource, is_image_name, list_images
from capsieve.sources.video_container import is_video_name, video_streams
from capsieve.user_files import open_file

_ACCEPTED = "a video, a ZIP archive of images, a folder of images, or a folder of such exams"
_MOST_HEADS = 2
_PATTERN = re.compile(r"[*?\[]")
# Separators of paths and lines, control characters, those of bidirectional text, and surrogates.
_NOT_IN_NAMES = re.compile(
    "[/\\\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
# Classes of data sets, in lower case and without spaces.
_CLASS = re.compile(
    "(ab)?normal(cleanmucosa)?|(no|non)?polyps?|angio?ectasia|bleeding|blood(fresh|hematin)?|"
    "erosions?|erythema|foreignbody|lymphangiectasia|lymphoidhyperplasia|ulcers?|worms?|"
    "pylorus|ileocecalvalve|ampullaofvater|reducedmucosalview|positive|negative"
)


@dataclass(frozen=True, slots=True)
class ExamInput:
    """An exam that the user named, or an input that is not an exam."""

    name: str  # can be the name of a folder
    places: tuple[Place, ...]  # its heads; () if it cannot be opened
    error: CapsieveError | None = None  # why it cannot be opened
    warning: str = ""  # why it may not be an exam: the name is that of a class of a data set


def find_exams(paths: Sequence[str | Path], *, full_names: bool = False) -> list[ExamInput]:
    """Find the exams in files, folders and patterns.

    A video, a ZIP archive of images and a folder of images are one exam each; any other folder is
    a folder of exams. Two exams with names that differ only in ``-head-0`` and ``-head-1`` are
    the heads of one exam, and so are two streams of one video.

    Parameters
    ----------
    paths
        Files, folders, and patterns such as ``study/*.mp4``.
    full_names
        Include in the names of exams the folders that they do not have in common: Polyp/KID and
        Ulcer/KID become Polyp-KID and Ulcer-KID.

    Returns
    -------
    list of ExamInput
        In the order of the paths, and in natural order inside folders. Exams that cannot be opened
        have an error, so the others can be screened; inputs that are not exams are at the end.

    Raises
    ------
    FileError
        There is no such file, nothing matches a pattern, or two exams have the same name.
    """
    given = [_resolved(path) for typed in paths for path in _matches(typed)]
    if not given:
        raise FileError("no input; give a video or a folder of images")
    listed = [item for path in given for item in _find(path, given)]
    unique = {item.path: _with_text_path(item) for item in listed}
    exams = _join_heads([item for item in unique.values() if item.is_exam])
    parts = _name_parts(exams, full_names=full_names)
    names = [_folder_name("-".join(part)) for part in parts]
    _check_names(names, exams, full_names=full_names)
    inputs = [
        ExamInput(name, exam.places, exam.error, _warning(exam, part))
        for name, exam, part in zip(names, exams, parts, strict=True)
    ]
    taken = {_folded(name) for name in names}
    for other in unique.values():
        if not other.is_exam:
            stem = _folder_name(other.stem)
            # It has no results, so its name only needs to differ from the others.
            numbered = (f"{stem} ({number})" if number > 1 else stem for number in count(1))
            name = next(name for name in numbered if _folded(name) not in taken)
            taken.add(_folded(name))
            inputs.append(ExamInput(name, (), other.error))
    return inputs


@dataclass(frozen=True, slots=True)
class _Input:
    """An exam or one head of an exam, or an input that is not an exam."""

    path: Path
    stem: str  # name without an ending
    places: tuple[Place, ...] = ()
    error: CapsieveError | None = None
    is_exam: bool = True


def _matches(typed: str | Path) -> list[Path]:
    """Return the paths that match a pattern, or the path itself."""
    text = os.fspath(typed)
    if not text:
        raise FileError("an input is empty; give a video or a folder of images")
    if os.path.lexists(text) or not _PATTERN.search(text) or "\0" in text:
        return [Path(text)]
    matches = sorted(glob.glob(text, recursive=True), key=natural_key)
    if not matches:
        raise FileError(f"nothing matches {text}; check the pattern")
    return [Path(match) for match in matches]


def _resolved(path: Path) -> Path:
    """Return an absolute path, which is the same for all spellings; links to files are kept."""
    with file_errors("read", path):
        if path.is_dir():
            return path.resolve()
        if os.path.lexists(path):
            return path.parent.resolve() / path.name
    raise FileError(f"cannot read {path}: there is no such file or folder; check the name")


def _find(path: Path, given: Collection[Path]) -> list[_Input]:
    """Return the exams at a path in natural order."""
    if not path.is_dir():
        try:
            _check_is_exam(path)
        except FileError as error:
            return [_Input(path, path.stem, error=error, is_exam=False)]
        return _exams(path, path.stem, _file_places)
    exam = _exams(path, path.name, _folder_places)
    if exam:
        return exam
    content = _list(path)
    exams = [exam for file in content.files for exam in _exams(file, file.stem, _file_places)]
    for folder in content.folders:
        exam = _exams(folder, folder.name, _folder_places)
        if not exam and folder not in given and _nearest_exams(folder):
            error = FileError(f"{folder} contains exams, which were not screened; give it as input")
            exam = [_Input(folder, folder.name, error=error, is_exam=False)]
        exams += exam
    if not any(item.is_exam for item in exams):
        return [_Input(path, path.name, error=_no_exam(path), is_exam=False)]
    return sorted(exams, key=lambda item: natural_key(item.path.name))


def _exams(path: Path, stem: str, find: Callable[[Path], tuple[Place, ...] | None]) -> list[_Input]:
    """Return the exam at a path, with an error if it is broken; nothing if there is none."""
    try:
        places = find(path)
    except FileError as error:
        return [_Input(path, stem, error=error)]
    return [] if places is None else [_Input(path, stem, places)]


def _check_is_exam(path: Path) -> None:
    """Raise FileError if a file is neither a video nor an archive."""
    if is_video_name(path) or _is_zip(path):
        return
    start = _first_bytes(path)
    if is_image_name(path.name) or _is_image(start):
        raise FileError(
            f"{path} is a single image; use capsieve explain, or give the folder of an exam"
        )
    if start[128:] == b"DICM":
        raise FileError(f"{path} is a DICOM object, which this version cannot screen")
    try:
        video_streams(path)
    except FileError as error:
        raise FileError(f"{path} is not an exam ({error}); give {_ACCEPTED}") from error


def _first_bytes(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            return file.read(132)
    except (FileError, OSError):
        return b""


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip" or _first_bytes(path).startswith(b"PK\x03\x04")


def _is_image(start: bytes) -> bool:
    signatures = (b"\xff\xd8\xff", b"\x89PNG", b"BM", b"II*\0", b"MM\0*", b"GIF8")
    return start.startswith(signatures) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP")


def _file_places(path: Path) -> tuple[Place, ...]:
    """Return the heads in a video or archive."""
    if _is_zip(path):
        names = ImageSource(Place("zip", str(path))).names()
        return _image_places("zip", path, _heads(names, path))
    streams = video_streams(path)
    if len(streams) > _MOST_HEADS:
        raise FileError(
            f"{path} contains {len(streams)} video streams, but a capsule has at most "
            f"{_MOST_HEADS} heads; extract the streams of the exam"
        )
    return tuple(Place("video", str(path), head, stream) for head, stream in enumerate(streams))


@dataclass(slots=True)
class _Content:
    """The direct content of a folder in natural order."""

    images: list[str]
    files: list[Path] = field(default_factory=list)  # videos and archives
    folders: list[Path] = field(default_factory=list)


def _list(folder: Path) -> _Content:
    content = _Content(list_images(folder))
    with file_errors("list", folder), os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: natural_key(entry.name)):
            path = Path(entry.path)
            if entry.name.startswith(".") or entry.name == "__MACOSX":
                continue
            # Links to folders are not followed, because they can form circles.
            if entry.is_dir(follow_symlinks=False):
                content.folders.append(path)
            elif is_video_name(path) or path.suffix.lower() == ".zip":
                content.files.append(path)
    return content


def _nearest_exams(folder: Path) -> list[Path]:
    """Return the possible exams in a folder that are the fewest levels below it."""
    level = [folder]
    while level:
        nearest: list[Path] = []
        deeper: list[Path] = []
        for inner in level:
            try:
                content = _list(inner)
            except FileError:
                nearest.append(inner)  # it may contain exams
                continue
            nearest += [inner] if content.images else []
            nearest += content.files
            deeper += content.folders
        if nearest:
            return nearest
        level = deeper
    return []


def _no_exam(folder: Path) -> FileError:
    """Return the error for a folder without exams, with advice if there are any further inside."""
    nearest = _nearest_exams(folder)
    parents = {path.parent for path in nearest}
    if not nearest:
        return FileError(f"{folder} contains no exam; give {_ACCEPTED}")
    if len(parents) == 1:
        advice = shlex.quote(str(*parents))
    else:
        levels = len(nearest[0].relative_to(folder).parts)
        advice = shlex.quote(os.path.join(folder, *["*"] * levels))
        if len({_folded(path.stem) for path in nearest}) < len(nearest):
            advice += " --full-names"
    return FileError(f"{folder} contains no exam, but folders inside it do; give {advice}")


def _folder_places(folder: Path) -> tuple[Place, ...] | None:
    """Return the heads of the images in a folder, or in its folders head-0 and head-1."""
    content = _list(folder)
    inside = {split_head(path.name): path.name for path in content.folders if _has_images(path)}
    heads = {head: inside["", head] for head in range(_MOST_HEADS) if ("", head) in inside}
    if content.images:
        others = [*(path.name for path in content.files), *heads.values()]
        if others:
            raise FileError(
                f"{folder} contains images and also {others[0]}; move them to separate folders, or "
                "give the path of one of them"
            )
        names = _heads(content.images, folder)
    elif heads and not content.files and len(content.folders) == len(heads):
        names = {head: f"{name}/" for head, name in heads.items()}
    else:
        return None
    return _image_places("folder", folder, names)


def _has_images(folder: Path) -> bool:
    try:
        return split_head(folder.name)[1] is not None and bool(list_images(folder))
    except FileError:
        return False


def _image_places(kind: Kind, path: Path, names: dict[int, str]) -> tuple[Place, ...]:
    return tuple(Place(kind, str(path), head, names=name) for head, name in names.items())


def _heads(names: Sequence[str], where: Path) -> dict[int, str]:
    """Return ``Place.names`` for each head of the images in one folder or archive."""
    folders = {name.rpartition("/")[0] for name in names}
    if len(folders) > 1:
        split = {folder: split_head(PurePosixPath(folder).name) for folder in folders}
        heads = {split[folder][1]: f"{folder}/" for folder in folders}
        exams = {(PurePosixPath(folder).parent, split[folder][0]) for folder in folders}
        if len(folders) == _MOST_HEADS and heads.keys() == {0, 1} and len(exams) == 1:
            return {0: heads[0], 1: heads[1]}
        raise FileError(
            f"{where} contains images in {len(folders)} folders; an archive is one exam, with all "
            "images in one folder or in the folders head-0 and head-1"
        )
    counts = Counter(split_head(PurePosixPath(name).stem)[1] for name in names)
    if not (counts[0] and counts[1]):
        return {0: ""}
    if counts[None]:
        raise FileError(
            f"{where} contains images of two heads and {counts[None]} images without a head in "
            "their names; rename or move these"
        )
    return {0: "-head-0", 1: "-head-1"}


def _with_text_path(item: _Input) -> _Input:
    """Refuse a path that is not UTF-8, because records contain text."""
    try:
        str(item.path).encode()
    except UnicodeEncodeError:
        error = FileError(f"cannot read {item.path}: its name is not UTF-8 text; rename it")
        return replace(item, places=(), error=error)
    return item


def _join_heads(inputs: Sequence[_Input]) -> list[_Input]:
    """Return the exams with their two heads joined."""
    pairs: dict[tuple[Path, str], dict[int, _Input]] = {}
    for item in inputs:
        rest, head = split_head(item.stem)
        if head is not None and len(item.places) <= 1:
            pairs.setdefault((item.path.parent, rest), {}).setdefault(head, item)
    exams: dict[object, _Input] = {}
    for item in inputs:
        key = item.path.parent, split_head(item.stem)[0]
        pair = pairs.get(key, {})
        if len(pair) == _MOST_HEADS and item in pair.values():
            error = pair[0].error or pair[1].error
            heads = [replace(place, head=head) for head in (0, 1) for place in pair[head].places]
            places = () if error else tuple(heads)
            exams[key] = _Input(item.path, key[1] or item.path.parent.name, places, error)
        else:
            exams[item.path] = item
    return list(exams.values())


def _name_parts(exams: Sequence[_Input], *, full_names: bool) -> list[list[str]]:
    """Return the parts of the names of exams: folders (if requested) and stem."""
    if not (full_names and exams):
        return [[exam.stem] for exam in exams]
    shared = os.path.commonpath([exam.path.parent for exam in exams])
    return [[*exam.path.parent.relative_to(shared).parts, exam.stem] for exam in exams]


def _check_names(names: Sequence[str], exams: Sequence[_Input], *, full_names: bool) -> None:
    """Refuse names that a file system may treat as equal: they are the folders of the results."""
    first: dict[str, _Input] = {}
    for name, exam in zip(names, exams, strict=True):
        other = first.setdefault(_folded(name), exam)
        if other is not exam:
            same_folder = other.path.parent == exam.path.parent
            advice = "rename one of them" if full_names or same_folder else "use --full-names"
            raise FileError(
                f"{other.path} and {exam.path} have the same exam name {name}; {advice}, or screen "
                "them into different output folders"
            )


def _folder_name(stem: str) -> str:
    """Return a name that a folder can have, and that is not hidden."""
    return re.sub(r"^\.+", "_", _NOT_IN_NAMES.sub("_", stem).strip()) or "exam"


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _warning(exam: _Input, parts: Sequence[str]) -> str:
    """Return a warning if the images seem to be a class of a data set instead of an exam."""
    if any(place.kind == "video" for place in exam.places):
        return ""
    for part in parts:
        if _CLASS.fullmatch(re.sub(r"[\W_]", "", part.casefold())):
            return (
                f"{part} seems to be a class of a data set, not an exam; its reading list and "
                "counts cannot be compared with those of exams"
            )
    return ""
