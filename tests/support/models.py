"""The model file that the package ships."""

from pathlib import Path

import capsieve

__all__ = ["shipped_model"]


def shipped_model() -> Path:
    (path,) = Path(capsieve.__file__).parent.rglob("*.onnx")
    return path
