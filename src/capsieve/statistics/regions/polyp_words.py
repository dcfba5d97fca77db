"""Which class of a file of boxes is the polyps: the one of that name, or the only one."""

from collections.abc import Mapping

__all__ = ["is_polyp", "polyp_classes"]


def is_polyp(name: str) -> bool:
    """Whether a class is called polyp or polyps, in letters of any case."""
    return name.strip().casefold() in ("polyp", "polyps")


def polyp_classes(names: Mapping[int, str]) -> set[int]:
    """Return the classes that are polyps: those of that name, and the only one of any name."""
    return set(names) if len(names) == 1 else {key for key, name in names.items() if is_polyp(name)}
