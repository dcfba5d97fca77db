"""Gaussian filters: the paper's L_sigma and the G of the cartoon + texture split.

They differ in where the kernel is cut: L_sigma at ceil(sigma), G at 2 ceil(sigma) pixels.
"""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.errors import FrameError
from capsieve.paper.disc import Disc, Spans, grown, whole
from capsieve.paper.kernels import gaussian as kernels
from capsieve.paper.kernels.strips import STRIP
from capsieve.paper.scratch import scratch

__all__ = ["Smoother", "gaussian_taps", "smooth", "smoother"]

_ZEROS = np.zeros((1, STRIP), np.float32)


@lru_cache(maxsize=256)  # a search over parameters tries many
def gaussian_taps(sigma: float, half: int) -> NDArray[np.float32]:
    """Return k_0 .. k_half of a kernel exp(-m^2 / (2 sigma^2)) on 2 half + 1 taps with sum 1.

    An odd half gets one zero more, because the compiled filter takes the taps in twos.
    """
    if sigma == 0:
        return np.ones(1, np.float32)
    taps = np.exp(-(np.arange(half + 1) ** 2) / (2.0 * sigma**2))
    taps /= taps[0] + 2.0 * taps[1:].sum()
    return np.pad(taps, (0, half % 2)).astype(np.float32)


class Smoother:
    """A Gaussian on frames of one size, with the result wanted in some spans only.

    Parameters
    ----------
    rows, cols
        Size of the frames.
    taps
        Half of the symmetric kernel, from its centre.
    wanted
        Where the result is wanted. The whole frame by default.
    """

    __slots__ = ("cols", "half", "lines", "minus_taps", "rows", "taps", "wanted")

    def __init__(
        self, rows: int, cols: int, taps: NDArray[np.float32], wanted: Spans | None = None
    ) -> None:
        self.rows, self.cols, self.taps = rows, cols, taps
        self.minus_taps = -taps
        self.half = len(taps) - 1
        self.wanted = wanted or whole(rows, cols)
        self.lines = grown(self.wanted, cols, by_rows=self.half, by_cols=0)
        smallest = max(self.half, STRIP)
        if min(rows, cols) < smallest:
            raise FrameError(
                f"a working frame of {rows} x {cols} pixels is too small for a filter of "
                f"{2 * self.half + 1} taps; {smallest} each way are needed"
            )

    def __call__(self, frame: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """Write the smoothed frame into `out` where it is wanted."""
        self._run(frame, self.taps, _ZEROS, out)

    def residual(self, frame: NDArray[np.float32], out: NDArray[np.float32]) -> None:
        """Write frame - smoothed frame into `out` where it is wanted."""
        self._run(frame, self.minus_taps, frame, out)

    def _run(
        self,
        frame: NDArray[np.float32],
        column_taps: NDArray[np.float32],
        base: NDArray[np.float32],
        out: NDArray[np.float32],
    ) -> None:
        kernels.smooth(
            frame,
            self.taps,
            column_taps,
            self.wanted.starts,
            self.wanted.stops,
            self.lines.starts,
            self.lines.stops,
            base,
            self.block(),
            self.plane(),
            out,
        )

    def block(self) -> NDArray[np.float32]:
        """Return the kernels' buffer for some rows."""
        return scratch("block", kernels.block_shape(self.cols, self.half))

    def plane(self) -> NDArray[np.float32]:
        """Return the kernels' buffer for the row-filtered frame."""
        return scratch("plane", kernels.scratch_shape(self.rows, self.cols, self.half))


@lru_cache(maxsize=256)
def smoother(rows: int, cols: int, sigma: float, wanted: Disc | None = None) -> Smoother:
    """Return L_sigma on frames of that size, with the result wanted in a disc or everywhere."""
    spans = wanted.spans if wanted else None
    return Smoother(rows, cols, gaussian_taps(sigma, math.ceil(sigma)), spans)


def smooth(frame: NDArray[Any], *, sigma: float) -> NDArray[np.float32]:
    r"""Apply the paper's :math:`L_\sigma`.

    A one-dimensional Gaussian on :math:`2 \lceil\sigma\rceil + 1` pixels that sums to one, along
    the rows and then along the columns, with mirrored (half-sample symmetric) borders. sigma = 0
    leaves the frame as it is.
    """
    frame = np.ascontiguousarray(frame, np.float32)
    out = np.empty_like(frame)
    smoother(*frame.shape, sigma)(frame, out)
    return out
