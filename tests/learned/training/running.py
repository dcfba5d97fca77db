"""A model run by onnxruntime."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from capsieve.learned.training.assemble import assemble
from capsieve.learned.training.trainer import GraphPart

__all__ = ["run", "run_part"]


def run(model: object, **inputs: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return the outputs of a model by name."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(),  # pyright: ignore[reportAttributeAccessIssue]
        options,
        providers=["CPUExecutionProvider"],
    )
    names = [output.name for output in session.get_outputs()]
    found: Sequence[NDArray[np.float32]] = session.run(names, inputs)  # pyright: ignore
    return dict(zip(names, found, strict=True))


def run_part(part: GraphPart, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the logits of one part on features alone."""
    model = assemble(part, 1.0, 0.0, image_size=None, value_count=values.shape[1])
    return run(model, values=values)["logit"]
