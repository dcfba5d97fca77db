"""Step 1 of Algorithm 1: grey, even light, extension beyond the mask."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsieve.frames import Placement
from capsieve.paper.disc import Disc
from capsieve.paper.extension import extend
from capsieve.paper.gray import channel_of
from capsieve.paper.resample import resample
from capsieve.paper.scratch import scratch
from capsieve.paper.vignetting import correct_vignetting
from capsieve.parameters import Channel, Parameters

__all__ = ["preprocess"]


def preprocess(
    pixels: NDArray[Any],
    placement: Placement,
    disc: Disc,
    parameters: Parameters,
    *,
    out: NDArray[np.float32],
    images: dict[str, Any] | None = None,
) -> NDArray[np.float32]:
    """Return f, the pre-processed frame.

    Parameters
    ----------
    pixels
        Checked pixels of the source.
    placement, disc
        Where the working frame lies, and its mask.
    parameters
        Of them channel, vignetting and extension_slope count here.
    out
        Where to write; of the mask's size.
    images
        Where to keep gray, corrected, falloff, mask and extended; None keeps none.
    """
    gray = _channel(pixels, placement, parameters.channel)
    log_falloff = np.zeros(1)
    if parameters.vignetting:
        _, log_falloff = correct_vignetting(gray, disc, out=out)
    else:
        out[...] = gray
    if images is not None:
        images["gray"] = gray.copy()
        images["corrected"] = np.where(disc.mask, out, gray)
        images["falloff"] = np.exp(log_falloff)
        images["mask"] = disc.mask
    extend(out, disc, slope=parameters.extension_slope, out=out)
    if images is not None:
        images["extended"] = out.copy()
    return out


def _channel(pixels: NDArray[Any], placement: Placement, channel: Channel) -> NDArray[np.float32]:
    """The channel of the working frame, in a scratch buffer.

    The paper's way is to bring the colours to the working width and then take the channel. Where
    the working frame is a mean over areas and the channel a weighted sum, the order does not
    matter, and one channel is a third of the work.
    """
    out = scratch("gray", (placement.rows, placement.cols))
    averaged = placement.row_scale > 1.0 and placement.col_scale > 1.0
    if averaged and channel != "lab-a" and pixels.ndim == 3:
        first = channel_of(pixels, channel=channel, out=scratch("source gray", pixels.shape[:2]))
        out[...] = resample(first, placement)
        return out
    return channel_of(resample(pixels, placement), channel=channel, out=out)
