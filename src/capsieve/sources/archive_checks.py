"""What is refused about a ZIP archive as a whole, before anything in it is read."""

import re
import stat
import struct
import zipfile
from collections.abc import Sequence
from typing import IO

from capsieve.errors import FileError
from capsieve.sources.image_list import LARGEST_IMAGE
from capsieve.sources.image_names import is_image_name

__all__ = ["check_directory", "check_entries"]

_MOST_ENTRIES = 1_000_000
_LARGEST_DIRECTORY = 500_000_000

# An image of zeros may be packed a thousandfold. A large one that is was made to fill a memory.
_MOST_PACKED = 1000
_LARGE = 50_000_000

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1  # a bit of the general-purpose flags
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

_END, _END_64 = b"PK\x05\x06", b"PK\x06\x06"
_ENTRY, _FIRST = b"PK\x01\x02", b"PK\x03\x04"
_END_SIZE, _END_64_SIZE, _LOCATOR_SIZE, _ENTRY_SIZE, _LOCAL_SIZE = 22, 56, 20, 46, 30
_LONGEST_COMMENT = 65535


def check_directory(file: IO[bytes], path: str) -> None:
    """Refuse what is no whole ZIP archive, and directories that would fill the memory.

    :class:`zipfile.ZipFile` makes an object of every entry that the directory holds, however many
    it says that it holds: so they are counted first.

    Raises
    ------
    FileError
        It is not a ZIP archive, it is cut off, or its directory is absurd.
    """
    file.seek(0)
    begins_well = file.read(4) == _FIRST
    size = file.seek(0, 2)
    end = _find_end(file, size)
    if end is None:
        if size == 0:
            raise FileError(f"cannot read {path}: the file is empty; get a fresh copy")
        if begins_well:
            raise FileError(
                f"cannot read {path}: the archive is cut off, its directory is missing; "
                "get a fresh copy"
            )
        raise FileError(f"cannot read {path}: it is not a ZIP archive")
    stop, length = end
    if length > stop:
        raise FileError(
            f"cannot read {path}: the archive is damaged or cut off, its directory is not whole; "
            "get a fresh copy"
        )
    if length > _LARGEST_DIRECTORY:
        raise FileError(f"{path} is refused: its directory has {length // 10**6} MB")
    file.seek(stop - length)
    if _count_entries(file.read(length)) > _MOST_ENTRIES:
        raise FileError(
            f"{path} is refused: it holds more than {_MOST_ENTRIES} files, which no exam has"
        )


def _find_end(file: IO[bytes], size: int) -> tuple[int, int] | None:
    """Return where the directory ends and how long it claims to be, as zipfile will see it."""
    start = max(0, size - _END_SIZE - _LONGEST_COMMENT)
    file.seek(start)
    tail = file.read()
    # Without a comment the end is at the end, whatever its bytes look like.
    place = len(tail) - _END_SIZE
    if not (place >= 0 and tail.startswith(_END, place) and tail.endswith(b"\0\0")):
        place = tail.rfind(_END)
    if place < 0 or len(tail) < place + _END_SIZE:
        return None
    stop = start + place
    (length,) = struct.unpack_from("<L", tail, place + 12)
    large = stop - _LOCATOR_SIZE - _END_64_SIZE
    if large >= 0:
        file.seek(large)
        record = file.read(_END_64_SIZE)
        if record.startswith(_END_64):
            (length,) = struct.unpack_from("<Q", record, 40)
            stop = large
    return stop, length


def _count_entries(directory: bytes) -> int:
    count = place = 0
    while directory.startswith(_ENTRY, place) and place + _ENTRY_SIZE <= len(directory):
        place += _ENTRY_SIZE + sum(struct.unpack_from("<HHH", directory, place + 28))
        count += 1
        if count > _MOST_ENTRIES:
            break
    return count


def check_entries(entries: Sequence[zipfile.ZipInfo], path: str, *, directory: int) -> None:
    """Refuse an archive with entries that lie, climb out or hide.

    Parameters
    ----------
    entries
        All of them.
    path
        The archive, for messages.
    directory
        Where its directory begins.

    Raises
    ------
    FileError
        The first thing that is wrong.
    """
    seen: set[str] = set()
    for entry in entries:
        problem = _problem(entry)
        if entry.filename in seen:
            problem = "is there twice"
        seen.add(entry.filename)
        if problem:
            raise FileError(
                f"{path} is refused: its entry {entry.orig_filename!r} {problem}; "
                "pack the images of one exam anew"
            )
    _check_overlaps(entries, path, directory)


def _problem(entry: zipfile.ZipInfo) -> str:
    name = entry.orig_filename
    if name.startswith("/") or _DRIVE.match(name):
        return "has an absolute path"
    if "\\" in name:
        return "has a backslash in its name"
    if ".." in name.split("/"):
        return "climbs out of the archive"
    if _CONTROL.search(name):
        return "has control characters in its name"
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "is a symbolic link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a special file"
    if entry.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if entry.compress_type not in _METHODS:
        return "is packed in an uncommon way"
    if not is_image_name(name):
        return ""  # it is never read
    size = max(entry.file_size, entry.compress_size)
    if size > LARGEST_IMAGE:
        return f"claims {size // 10**6} MB, which no capsule frame has"
    if entry.file_size > _LARGE and entry.file_size > _MOST_PACKED * entry.compress_size:
        return f"claims to be packed more than {_MOST_PACKED} times"
    return ""


def _check_overlaps(entries: Sequence[zipfile.ZipInfo], path: str, directory: int) -> None:
    """Refuse entries that share bytes: that is how a small archive unpacks to a huge one."""
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < end:
            raise FileError(
                f"{path} is refused: its entry {entry.orig_filename!r} overlaps another one; "
                "pack the images of one exam anew"
            )
        end = entry.header_offset + _LOCAL_SIZE + len(entry.orig_filename) + entry.compress_size
    if end > directory:
        raise FileError(
            f"cannot read {path}: the archive is damaged or cut off, its entries reach beyond its "
            "end; get a fresh copy"
        )
