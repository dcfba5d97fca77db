"""What exams there are at one path: a video, an archive, a folder of images, a folder of exams."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from capsieve.errors import CapsieveError, FileError
from capsieve.sources.head_names import split_head
from capsieve.sources.image_archive import archive_heads
from capsieve.sources.image_folder import list_images
from capsieve.sources.image_names import is_image_name, name_heads
from capsieve.sources.natural_order import natural_key
from capsieve.sources.source import Place

__all__ = ["Found", "exams_at", "known_path"]

_MOST_HEADS = 2
_TAKEN = "a video, a ZIP archive of images, a folder of images, or a folder of such exams"


@dataclass(frozen=True, slots=True)
class Found:
    """An exam, or one head of an exam, that was found at a path; or what is there instead.

    Attributes
    ----------
    path
        The file or folder; two that are the same have the same path.
    stem
        Its name without an ending: what the exam may be called.
    places
        Its heads; () where it cannot be opened.
    error
        Why it cannot be opened.
    is_exam
        False where there is no exam at the path, and the error says what to do about it.
    """

    path: Path
    stem: str
    places: tuple[Place, ...] = ()
    error: CapsieveError | None = None
    is_exam: bool = True


def known_path(path: Path) -> Path:
    """Return the path that a file or folder is known by, however it was typed.

    Raises
    ------
    FileError
        There is nothing at the path.
    """
    try:
        if path.is_dir():
            return path.resolve()
        if os.path.lexists(path):
            return path.parent.resolve() / path.name
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error}") from error
    raise FileError(f"cannot read {path}: there is no such file or folder; check the name")


def exams_at(path: Path, *, named: Collection[Path] = ()) -> list[Found]:
    """Return what there is to screen at a path, in natural order.

    What cannot be screened is returned with its error, so that the others can go on.

    Parameters
    ----------
    path
        A path as :func:`known_path` gives it.
    named
        All such paths that were asked for: a folder among them speaks for itself.
    """
    if path.is_dir():
        return _exams_in(path, named)
    try:
        return [_file_exam(path)]
    except FileError as error:
        return [Found(path, path.stem, error=error, is_exam=False)]


def _file_exam(path: Path) -> Found:
    """Return the exam that a file is, broken or not; an error says that it is none."""
    from capsieve.sources.video import is_video_name, video_streams

    if not os.path.exists(path):
        raise FileError(f"cannot read {path}: it is a link that points nowhere; mend the link")
    if not os.path.isfile(path):
        raise FileError(
            f"cannot read {path}: it is not a regular file; give a file, or - for standard input"
        )
    head = _first_bytes(path)
    if _is_zip(path, head):
        return _archive_exam(path)
    if is_video_name(path):
        return _video_exam(path)
    if is_image_name(path.name) or _looks_like_image(head):
        raise FileError(
            f"{path} is a single image: use capsieve explain for it, or give the folder of an "
            "exam's images"
        )
    if head[128:132] == b"DICM":
        raise FileError(f"{path} is a DICOM object, which this version cannot screen")
    try:
        video_streams(path)
    except FileError as error:
        raise FileError(f"{path} is no exam ({error}); give {_TAKEN}") from error
    return _video_exam(path)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(132)
    except OSError:
        return b""  # whoever opens it for good will say why


def _is_zip(path: Path, head: bytes) -> bool:
    return path.suffix.lower() == ".zip" or head.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def _looks_like_image(head: bytes) -> bool:
    starts = (b"\xff\xd8\xff", b"\x89PNG", b"BM", b"II*\0", b"MM\0*", b"GIF8")
    return head.startswith(starts) or (head.startswith(b"RIFF") and head[8:12] == b"WEBP")


def _video_exam(path: Path) -> Found:
    from capsieve.sources.video import video_streams

    try:
        streams = video_streams(path)
        if len(streams) > _MOST_HEADS:
            raise FileError(
                f"{path} holds {len(streams)} video streams, and a capsule has at most "
                f"{_MOST_HEADS} heads; extract those that are the exam"
            )
    except FileError as error:
        return Found(path, path.stem, error=error)
    places = [
        Place("video", str(path), head=head, stream=stream) for head, stream in enumerate(streams)
    ]
    return Found(path, path.stem, tuple(places))


def _archive_exam(path: Path) -> Found:
    try:
        heads = archive_heads(str(path))
    except FileError as error:
        return Found(path, path.stem, error=error)
    places = [Place("zip", str(path), head=head, names=names) for head, names in heads.items()]
    return Found(path, path.stem, tuple(places))


@dataclass(slots=True)
class _Inside:
    """What is directly in a folder, in natural order."""

    images: list[str] = field(default_factory=list)
    films: list[Path] = field(default_factory=list)  # videos and archives
    folders: list[Path] = field(default_factory=list)


def _look_into(folder: Path) -> _Inside:
    from capsieve.sources.video import is_video_name

    inside = _Inside(images=list_images(folder))
    try:
        with os.scandir(folder) as entries:
            for entry in sorted(entries, key=lambda entry: natural_key(entry.name)):
                path = Path(entry.path)
                if entry.name.startswith(".") or entry.name == "__MACOSX":
                    continue
                # Links to folders are not followed: they may lead round in circles.
                if entry.is_dir(follow_symlinks=False):
                    inside.folders.append(path)
                elif is_video_name(path) or path.suffix.lower() == ".zip":
                    inside.films.append(path)
    except OSError as error:
        raise FileError(f"cannot list {folder}: {error.strerror or error}") from error
    return inside


def _exams_in(folder: Path, named: Collection[Path]) -> list[Found]:
    try:
        inside = _look_into(folder)
        exam = _image_exam(folder, inside)
    except FileError as error:
        return [Found(folder, folder.name, error=error)]
    if exam is not None:
        return [exam]
    found = list(_children(inside, named))
    if not any(exam.is_exam for exam in found):
        error = FileError(_nothing_in(folder, inside))
        return [Found(folder, folder.name, error=error, is_exam=False)]
    return sorted(found, key=lambda exam: natural_key(exam.path.name))


def _children(inside: _Inside, named: Collection[Path]) -> Iterator[Found]:
    for path in inside.films:
        yield _archive_exam(path) if path.suffix.lower() == ".zip" else _video_exam(path)
    for folder in inside.folders:
        try:
            inner = _look_into(folder)
            exam = _image_exam(folder, inner)
        except FileError as error:
            yield Found(folder, folder.name, error=error)
            continue
        if exam is not None:
            yield exam
        elif folder not in named and _holds_exams(inner):
            error = FileError(
                f"{folder} holds exams of its own, which were not screened; name it as an INPUT too"
            )
            yield Found(folder, folder.name, error=error, is_exam=False)


def _holds_exams(inside: _Inside) -> bool:
    """Whether there could be an exam in a folder, however deep."""
    if inside.films:
        return True
    folders = list(inside.folders)
    while folders:
        try:
            deeper = _look_into(folders.pop())
        except FileError:
            return True  # there could be
        if deeper.images or deeper.films:
            return True
        folders += deeper.folders
    return False


def _image_exam(folder: Path, inside: _Inside) -> Found | None:
    """Return the exam whose images a folder holds, in it or in a folder for each head."""
    heads = _head_folders(inside)
    if inside.images:
        others = [*inside.films, *heads.values()]
        if others:
            raise FileError(
                f"{folder} holds images and also {others[0].name}: which is the exam cannot be "
                "told; move them into folders of their own, or name the one that is meant"
            )
        names = name_heads(inside.images, where=str(folder))
    elif heads and not inside.films and len(inside.folders) == len(heads):
        names = {head: f"{heads[head].name}/" for head in sorted(heads)}
    else:
        return None
    places = [Place("folder", str(folder), head=head, names=names[head]) for head in names]
    return Found(folder, folder.name, tuple(places))


def _head_folders(inside: _Inside) -> dict[int, Path]:
    """Return the folders called head-0 and head-1 that hold images."""
    heads: dict[int, Path] = {}
    for folder in inside.folders:
        rest, head = split_head(folder.name)
        if head is not None and not rest and _holds_images(folder):
            heads[head] = folder
    return heads


def _holds_images(folder: Path) -> bool:
    try:
        return bool(list_images(folder))
    except FileError:
        return False


def _nothing_in(folder: Path, inside: _Inside) -> str:
    message = f"{folder} holds no exam; give {_TAKEN}"
    for inner in inside.folders:
        try:
            deeper = _look_into(inner)
        except FileError:
            continue
        if deeper.films or any(map(_holds_images, deeper.folders)):
            return f"{message}: perhaps {inner}"
    return message
