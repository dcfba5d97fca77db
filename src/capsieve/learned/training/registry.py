"""The trainers on features by the names that ``capsieve train --model`` takes."""

from collections.abc import Callable

from capsieve.learned.training.forest import ForestTrainer
from capsieve.learned.training.svm import SvmTrainer
from capsieve.learned.training.trainer import Trainer

__all__ = ["TRAINERS"]

TRAINERS: dict[str, Callable[[], Trainer]] = {"svm": SvmTrainer, "forest": ForestTrainer}
