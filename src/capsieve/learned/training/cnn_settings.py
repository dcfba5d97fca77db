"""Every choice in the training of the network, in one place."""

from dataclasses import asdict, dataclass, field
from typing import Any

from capsieve.errors import ParameterError
from capsieve.learned.network.architecture import BLOCKS, STRIDE
from capsieve.learned.training.augmentation import Augmentation
from capsieve.learned.training.balance import OTHER_SHARE

__all__ = ["NetworkSettings"]


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    """How the network is trained.

    Attributes
    ----------
    size
        Side of the crops in pixels; a multiple of 32.
    frozen
        The stem and so many of the 16 bottlenecks keep the weights of everyday images. What they
        give is computed once per version of a frame and kept.
    polyp_versions, normal_versions, other_versions, foreign_versions
        Versions per frame of each kind, about in proportion to how often one is drawn; foreign are
        negatives of a source without polyps.
    augmentation, augmentation_seed
        How the versions differ from the frame.
    steps, batch
        Steps of the optimiser, and frames in each.
    rate, warm_up
        Highest learning rate, and the share of the steps in which it rises (one cycle).
    decay
        Weight decay of all but offsets and factors.
    average
        Of the running mean of the weights, which is what is kept in the end.
    dropout
        Share of the 1280 features that the head does not see in a step.
    drop_path
        Share of frames for which the last bottleneck is skipped; in proportion for those before.
    polyps, foreign
        Shares of a batch: polyp frames, and frames of sources without polyps. The rest are
        negatives.
    others
        Share of the negatives that other findings have; the rest is normal.
    run_balance
        0 draws all polyp frames alike, 1 all polyps alike.
    auxiliary
        Weight of the loss that tells the other findings apart; 0 for none.
    style, style_beta
        Chance of a frame to be shown with the look of another, and how much of it; 0 for none. See
        :func:`~capsieve.learned.training.cnn_style.mix_styles`.
    mixup
        Parameter of the beta distribution by which pairs of frames are mixed; 0 for none.
    smoothing
        What the truth of 0 and 1 is drawn in by.
    checkpoint
        Steps from one checkpoint to the next.
    threads
        The same number gives the same weights; another may differ in the last digits.
    """

    size: int = 160
    frozen: int = 5
    polyp_versions: int = 16
    normal_versions: int = 4
    other_versions: int = 1
    foreign_versions: int = 1
    augmentation: Augmentation = field(default_factory=Augmentation)
    augmentation_seed: int = 0
    steps: int = 900
    batch: int = 32
    rate: float = 6e-4
    warm_up: float = 0.15
    decay: float = 1e-2
    average: float = 0.99
    dropout: float = 0.3
    drop_path: float = 0.0
    polyps: float = 0.5
    foreign: float = 0.0
    others: float = OTHER_SHARE
    run_balance: float = 0.0
    auxiliary: float = 0.9
    style: float = 0.5
    style_beta: float = 0.3
    mixup: float = 0.0
    smoothing: float = 0.0
    checkpoint: int = 100
    threads: int = 2

    def __post_init__(self) -> None:
        if self.size < 2 * STRIDE or self.size % STRIDE:
            raise ParameterError("size", f"must be a multiple of {STRIDE}, at least {2 * STRIDE}")
        if not 0 <= self.frozen <= len(BLOCKS):
            raise ParameterError("frozen", f"must be 0 to {len(BLOCKS)}")
        for name in ("polyp_versions", "normal_versions", "other_versions", "foreign_versions"):
            _at_least(name, getattr(self, name), 1)
        for name in ("steps", "batch", "checkpoint", "threads"):
            _at_least(name, getattr(self, name), 1)
        for name in ("rate", "decay", "auxiliary", "mixup", "run_balance", "augmentation_seed"):
            _at_least(name, getattr(self, name), 0)
        for name in ("average", "dropout", "drop_path", "foreign", "smoothing"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(name, "must be at least 0 and below 1")
        if not 0 <= self.others <= 1:
            raise ParameterError("others", "must be between 0 and 1")
        if not 0 <= self.style <= 1:
            raise ParameterError("style", "must be between 0 and 1")
        if not self.style_beta > 0:
            raise ParameterError("style_beta", "must be above 0")
        for name in ("warm_up", "polyps"):
            if not 0 < getattr(self, name) < 1:
                raise ParameterError(name, "must be above 0 and below 1")
        counts = self.counts()
        if counts["polyps"] < 1 or counts["negatives"] < 1:
            raise ParameterError(
                "batch", "must have room for a polyp and for a negative; change the shares"
            )

    def counts(self) -> dict[str, int]:
        """Return the frames of each kind in a batch; others are among the negatives."""
        polyps = round(self.batch * self.polyps)
        foreign = round(self.batch * self.foreign)
        return {"polyps": polyps, "negatives": self.batch - polyps - foreign, "foreign": foreign}

    def as_dict(self) -> dict[str, Any]:
        """Return all settings as plain values, for records and digests."""
        return asdict(self)


def _at_least(name: str, value: float, lowest: float) -> None:
    if not value >= lowest:
        raise ParameterError(name, f"must be at least {lowest}")
