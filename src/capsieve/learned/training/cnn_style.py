"""The content of one frame with the look of another.

Mean and spread of each channel of early features carry the light, the colours and the contrast of
an exam or a device; what stands where in the picture is in the rest. A network that is shown frames
with the statistics of others learns not to rely on them.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["mix_styles"]

_LEAST = 1e-4  # added to spreads: a channel may be the same everywhere


def mix_styles(
    features: NDArray[np.float32], rng: np.random.Generator, *, chance: float, beta: float
) -> NDArray[np.float32]:
    """Move the statistics of frames towards those of others in the batch.

    Parameters
    ----------
    features
        N x C x H x W. They are left as they are.
    rng
        Where all chance comes from.
    chance
        Of a frame to be changed.
    beta
        Both parameters of the beta distribution of the share that a changed frame keeps of its own
        mean and spread; below 1 it keeps nearly all or nearly nothing.

    References
    ----------
    K. Zhou, Y. Yang, Y. Qiao and T. Xiang, "Domain generalization with MixStyle", ICLR 2021,
    arXiv:2104.02008.
    """
    each = (len(features), 1, 1, 1)
    mean = features.mean((2, 3), keepdims=True)
    spread = features.std((2, 3), keepdims=True) + np.float32(_LEAST)
    other = rng.permutation(len(features))
    share = rng.beta(beta, beta, each)
    own = np.where(rng.random(each) < chance, share, 1).astype(np.float32)
    new_mean = own * mean + (1 - own) * mean[other]
    new_spread = own * spread + (1 - own) * spread[other]
    return (features - mean) / spread * new_spread + new_mean
