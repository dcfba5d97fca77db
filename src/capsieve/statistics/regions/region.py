"""The outline of a polyp on a frame: a box, a polygon or a mask."""

from dataclasses import dataclass

from capsieve.statistics.labels.label_set import LabelProblem

__all__ = ["Box", "MaskFile", "Polygon", "Region", "RegionSet"]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in pixels: a centre is inside where row0 <= row <= row1 and likewise columns.

    Pixel centres have whole coordinates, so a box around the pixels 3 to 5 is 2.5 to 5.5.
    `relative` boxes are in shares of the frame's size (YOLO), from its outer edges.
    """

    row0: float
    col0: float
    row1: float
    col1: float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Polygon:
    """One or several closed lines in pixels: a centre is inside where any of them encloses it.

    Attributes
    ----------
    rings
        Each one a tuple of corners (row, column).
    relative
        As of :class:`Box`.
    """

    rings: tuple[tuple[tuple[float, float], ...], ...]
    relative: bool = False


@dataclass(frozen=True, slots=True)
class MaskFile:
    """A picture of the frame in which the polyp's pixels are not black.

    `value` picks one polyp of several; None takes every value above 0 for one polyp.
    """

    path: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class Region:
    """One polyp on one frame.

    Attributes
    ----------
    exam, head, frame, file
        Which frame, as in labels; None where not stated. A file without an image's ending names
        any image of that stem.
    shape
        Its outline.
    polyp
        Its name, or None.
    size
        Rows and columns of the picture that it was drawn on, or None.
    where
        Where it was read, as a person would name it: "image 12", "line 3 of 0007.txt".
    """

    exam: str | None
    head: int | None
    frame: int | None
    file: str | None
    shape: Box | Polygon | MaskFile
    polyp: str | None = None
    size: tuple[int, int] | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class RegionSet:
    """All outlines of a study.

    Attributes
    ----------
    regions
        One per polyp and frame.
    problems
        What was not clear.
    layout
        What was recognised: "COCO", "YOLO", "masks", ...
    path
        Where it was read.
    """

    regions: tuple[Region, ...]
    problems: tuple[LabelProblem, ...]
    layout: str
    path: str
