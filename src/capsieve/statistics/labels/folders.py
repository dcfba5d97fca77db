"""What lies in folders, in natural order; an absent or locked folder holds nothing."""

import os
from pathlib import Path

from capsieve.errors import FileError
from capsieve.sources.base import natural_key

__all__ = ["images_in", "subfolders"]


def subfolders(folder: Path) -> list[str]:
    """Return the names of the folders in a folder; hidden ones are left out."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir()]
    except OSError:
        return []
    return sorted((name for name in names if not name.startswith(".")), key=natural_key)


def images_in(folder: Path) -> list[str]:
    """Return the names of the images directly in a folder."""
    from capsieve.sources.image_source import list_images  # it brings decoders along

    try:
        return list_images(folder)
    except FileError:
        return []
