"""Which names are frames, and which of them belong to a head."""

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

from capsieve.errors import FileError
from capsieve.sources.head_names import split_head

__all__ = ["belongs", "count_kinds", "is_image_name", "name_heads"]

_KINDS = {
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".png": "PNG",
    ".bmp": "BMP",
    ".tif": "TIFF",
    ".tiff": "TIFF",
}


def is_image_name(name: str) -> bool:
    """Whether a file is a frame by its name: an image's ending, and neither hidden nor a shadow.

    What macOS packs beside every file (``__MACOSX/``, ``._name``) has the endings of images.
    """
    path = PurePosixPath(name)
    if any(part.startswith(".") and part != ".." for part in path.parts):
        return False
    return path.suffix.lower() in _KINDS and "__MACOSX" not in path.parts


def belongs(name: str, names: str) -> bool:
    """Whether a file is one of a head's, by :attr:`capsieve.sources.source.Place.names`."""
    if names.endswith("/"):
        folder, _, _ = name.rpartition("/")
        return f"{folder}/" == names
    if names:
        return split_head(PurePosixPath(name).stem)[1] == split_head(names)[1]
    return True


def name_heads(names: Sequence[str], *, where: str) -> dict[int, str]:
    """Return what selects each head's images among the images of one exam.

    Parameters
    ----------
    names
        Image files, below one folder or in one archive.
    where
        The folder or archive, for messages.

    Returns
    -------
    dict
        For each head the value of :attr:`capsieve.sources.source.Place.names`; one head and ""
        where the names tell of no other.

    Raises
    ------
    FileError
        The images are not those of one exam, or only some say their head.
    """
    folders = {name.rpartition("/")[0] for name in names}
    if len(folders) > 1:
        return _folder_heads(folders, where)
    heads = Counter(split_head(PurePosixPath(name).stem)[1] for name in names)
    if not (heads[0] and heads[1]):
        return {0: ""}
    if heads[None]:
        raise FileError(
            f"{where} holds images of two heads and {heads[None]} that say no head in their names; "
            "move those elsewhere, or name them like the others"
        )
    return {0: "-head-0", 1: "-head-1"}


def _folder_heads(folders: set[str], where: str) -> dict[int, str]:
    heads = {split_head(PurePosixPath(folder).name)[1]: f"{folder}/" for folder in folders}
    rests = {
        (PurePosixPath(folder).parent, split_head(PurePosixPath(folder).name)[0])
        for folder in folders
    }
    if len(folders) == 2 and heads.keys() == {0, 1} and len(rests) == 1:
        return {head: heads[head] for head in (0, 1)}
    some = ", ".join(sorted(folder or "the top" for folder in folders)[:3])
    raise FileError(
        f"{where} holds images in {len(folders)} folders ({some}{', ...' * (len(folders) > 3)}); "
        "there can be one exam per archive, with its images in one folder or in head-0 and head-1"
    )


def count_kinds(names: Sequence[str]) -> str:
    """Say how many images of each kind there are, by their endings: "12 PNG, 3 JPEG"."""
    counts = Counter(_KINDS[PurePosixPath(name).suffix.lower()] for name in names)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count} {kind}" for kind, count in ranked)
