"""A small study of the phantom."""

from capsieve.reproduce.options import ReproduceOptions

__all__ = ["small_options"]

_COMPOSITION = ((12, (2,)), (10, ()), (14, (3, 1)), (40, (4,)))
"""Normal frames and polyps of four patients."""


def small_options(**changes: object) -> ReproduceOptions:
    """Return the options of the small study."""
    small = {"composition": _COMPOSITION, "size": 192, "normals": 1000, "workers": 1}
    return ReproduceOptions(**small | changes)  # pyright: ignore[reportArgumentType]
