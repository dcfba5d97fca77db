"""Where the working frame lies on the source's pixels."""

from dataclasses import dataclass

__all__ = ["Placement"]


@dataclass(frozen=True, slots=True)
class Placement:
    """The affine map from the working grid to the source's pixels.

    Coordinates are 0-based and count pixel centres: source = offset + scale * working.

    Attributes
    ----------
    rows, cols
        Size of the working frame, Ny and Nx.
    row_scale, col_scale
        Source pixels per working pixel.
    row_offset, col_offset
        Source coordinates of the working frame's first pixel.
    """

    rows: int
    cols: int
    row_scale: float
    col_scale: float
    row_offset: float
    col_offset: float

    def to_source(self, row: float, col: float) -> tuple[float, float]:
        """Map a working position to the source's (row, col)."""
        return (
            self.row_offset + self.row_scale * row,
            self.col_offset + self.col_scale * col,
        )

    def length_to_source(self, length: float) -> float:
        """Map a working length to source pixels (along a row: the width is what is fixed)."""
        return self.col_scale * length
