"""Model files: written, read, and refused."""

from hashlib import sha256

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from capsieve.errors import FileError
from capsieve.learned.model_file import read_model, write_model
from made_models import (
    CARD,
    brightness_model,
    foreign_file,
    own_file,
    red_segmenter,
    spec,
    two_input_model,
    two_input_spec,
)
from made_models import model as made_model

TOML = """
threshold = 0.5
[image]
input = "image"
size = 32
colour = "rgb"
scale = 1.0
[output]
name = "logit"
kind = "logit"
"""


def test_what_was_written_is_read(tmp_path):
    path = tmp_path / "model.onnx"
    phashes = np.random.default_rng(0).integers(0, 256, (9000, 2, 32)).astype(np.uint8)
    write_model(path, two_input_model(), two_input_spec(), CARD, phashes)
    found = read_model(path)
    assert (found.spec, found.card) == (two_input_spec(), CARD)
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()
    np.testing.assert_array_equal(found.training_phashes, phashes)


def test_a_model_without_training_frames_has_no_perceptual_hashes(tmp_path):
    own, foreign = tmp_path / "own.onnx", tmp_path / "foreign.onnx"
    foreign_file(foreign, brightness_model(), TOML)
    for path in (own_file(own), foreign):
        assert read_model(path).training_phashes.shape == (0, 2, 32)


def test_it_is_an_onnx_file_and_the_same_after_onnx_has_saved_it(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    loaded = onnx.load(path)
    onnx.checker.check_model(loaded)
    assert loaded.graph == brightness_model().graph
    onnx.save(loaded, tmp_path / "again.onnx")
    assert read_model(tmp_path / "again.onnx").card == CARD


def test_the_same_model_gives_the_same_bytes(tmp_path):
    first, second = (own_file(tmp_path / name).read_bytes() for name in ("a.onnx", "b.onnx"))
    assert first == second


def test_every_changed_byte_is_noticed(tmp_path):
    whole = own_file(tmp_path / "whole.onnx").read_bytes()
    path = tmp_path / "changed.onnx"
    for place in range(0, len(whole), 10):
        changed = bytearray(whole)
        changed[place] ^= 1 << place // 10 % 8
        path.write_bytes(changed)
        with pytest.raises(FileError) as caught:
            read_model(path)
        assert str(path) in str(caught.value)


def test_a_truncated_file_is_noticed_wherever_it_ends(tmp_path):
    whole = own_file(tmp_path / "whole.onnx").read_bytes()
    path = tmp_path / "short.onnx"
    for length in range(0, len(whole), 10):
        path.write_bytes(whole[:length])
        with pytest.raises(FileError):
            read_model(path)


def test_appended_bytes_are_noticed(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    whole, note = path.read_bytes(), onnx.ModelProto()
    note.metadata_props.add(key="note", value="mine")
    for more in (b"\0", b"abc", note.SerializeToString()):
        path.write_bytes(whole + more)
        with pytest.raises(FileError):
            read_model(path)


def test_a_card_is_refused_for_another_graph(tmp_path):
    path = own_file(tmp_path / "a.onnx")
    other = brightness_model()
    other.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(51, np.float32), "fifty"))
    other.metadata_props.extend(onnx.load(path).metadata_props)
    onnx.save(other, path)
    with pytest.raises(FileError, match="was changed"):
        read_model(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"just a text, nothing more\n", "not a complete ONNX file"),
        (b"PK\x03\x04" + bytes(50), "ZIP archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b"<!DOCTYPE html><html>404</html>", "web page"),
        (bytes(1000), "copy it again"),
        (b"\x80\x04\x95" + bytes(50), "pickle"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (b"\x08\x08", "not a complete ONNX file"),
        (b"\xff" * 100, "not a complete ONNX file"),
    ],
)
def test_other_files_are_refused(tmp_path, content, words):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        read_model(path)


def test_random_bytes_are_never_a_model(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "model.onnx"
    for _ in range(100):
        path.write_bytes(rng.bytes(int(rng.integers(1, 300))))
        with pytest.raises(FileError):
            read_model(path)


def external(tensor: TensorProto) -> TensorProto:
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"
    return tensor


def weights_elsewhere():
    made = brightness_model()
    external(made.graph.initializer[0])
    return made


def constant_elsewhere():
    made = brightness_model()
    value = external(numpy_helper.from_array(np.array(1, np.float32), "hidden"))
    made.graph.node.append(helper.make_node("Constant", [], ["unused"], value=value))
    return made


def constant_in_a_branch():
    inner = helper.make_graph(
        [
            helper.make_node(
                "Constant",
                [],
                ["c"],
                value=external(numpy_helper.from_array(np.array(1, np.float32), "hidden")),
            )
        ],
        "branch",
        [],
        [helper.make_tensor_value_info("c", TensorProto.FLOAT, [])],
    )
    made = brightness_model()
    node = helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner)
    made.graph.node.append(node)
    return made


@pytest.mark.parametrize("make", [weights_elsewhere, constant_elsewhere, constant_in_a_branch])
def test_weights_in_other_files_are_refused(tmp_path, make):
    path = foreign_file(tmp_path / "model.onnx", make(), TOML)
    with pytest.raises(FileError, match="in another file"):
        read_model(path)
    with pytest.raises(FileError, match="in another file"):
        write_model(tmp_path / "own.onnx", make(), spec(), CARD)
    assert not (tmp_path / "own.onnx").exists()


def test_operators_of_other_libraries_are_refused(tmp_path):
    made = brightness_model()
    made.graph.node.append(helper.make_node("Shell", ["image"], ["x"], domain="com.example"))
    path = foreign_file(tmp_path / "model.onnx", made, TOML)
    with pytest.raises(FileError, match=r"operator com\.example\.Shell"):
        read_model(path)


def test_functions_that_the_file_defines_are_accepted(tmp_path):
    made = brightness_model()
    opset = [helper.make_opsetid("", 17)]
    node = helper.make_node("Relu", ["a"], ["b"])
    made.functions.append(helper.make_function("mine", "Twice", ["a"], ["b"], [node], opset))
    made.graph.node.append(helper.make_node("Twice", ["logit"], ["x"], domain="mine"))
    assert read_model(foreign_file(tmp_path / "model.onnx", made, TOML)).card is None


def test_a_function_does_not_open_a_domain_for_other_operators(tmp_path):
    made = brightness_model()
    opset = [helper.make_opsetid("", 17)]
    node = helper.make_node("Relu", ["a"], ["b"])
    for domain in ("mine", "com.microsoft"):
        made.functions.append(helper.make_function(domain, "Mine", ["a"], ["b"], [node], opset))
    made.graph.node.append(helper.make_node("Mine", ["logit"], ["x"], domain="com.microsoft"))
    made.graph.node.append(helper.make_node("Other", ["logit"], ["y"], domain="mine"))
    with pytest.raises(FileError, match=r"com\.microsoft\.Mine"):
        read_model(foreign_file(tmp_path / "model.onnx", made, TOML))
    del made.functions[1], made.graph.node[-2]
    with pytest.raises(FileError, match=r"operator mine\.Other"):
        read_model(foreign_file(tmp_path / "model.onnx", made, TOML))


def test_functions_that_expand_exponentially_are_refused(tmp_path):
    made = brightness_model()
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    before, domain = "Relu", ""
    for level in range(8):  # ten to the eighth nodes, written out
        nodes = [helper.make_node(before, ["a"], [f"b{n}"], domain=domain) for n in range(10)]
        before, domain = f"F{level}", "mine"
        made.functions.append(helper.make_function("mine", before, ["a"], ["b9"], nodes, opset))
    made.graph.node.append(helper.make_node(before, ["logit"], ["x"], domain="mine"))
    with pytest.raises(FileError, match="too large"):
        read_model(foreign_file(tmp_path / "model.onnx", made, TOML))


def field(number, content):
    """Encode a field of a Protocol Buffers message."""
    length, size = len(content), b""
    while length > 127:
        size, length = size + bytes([length & 127 | 128]), length >> 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + content


def test_deeply_nested_graphs_are_refused(tmp_path):
    graph = b""
    for _ in range(5000):
        graph = field(1, field(5, field(6, graph)))  # a node with an attribute with a graph
    path = tmp_path / "model.onnx"
    path.write_bytes(field(7, graph))
    with pytest.raises(FileError, match="not a complete ONNX file"):
        read_model(path)


def test_a_foreign_model_has_a_description_next_to_it(tmp_path):
    found = read_model(foreign_file(tmp_path / "model.onnx", brightness_model(), TOML))
    assert found.spec == spec()
    assert found.card is None


def test_a_foreign_model_without_a_description_is_refused(tmp_path):
    path = foreign_file(tmp_path / "model.onnx", red_segmenter(), TOML)
    path.with_suffix(".toml").unlink()
    with pytest.raises(FileError, match=r"there is no model.toml next to it.*foreign-models"):
        read_model(path)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (TOML.replace("size = 32", "").encode(), r"model\.toml: image\.size: is missing"),
        (b"a = ", r"model\.toml: TOML: not a valid"),
        (b"\xff\xfe\x00", "not UTF-8"),
    ],
)
def test_an_error_in_the_description_names_its_file(tmp_path, toml, words):
    path = foreign_file(tmp_path / "model.onnx", brightness_model(), "")
    path.with_suffix(".toml").write_bytes(toml)
    with pytest.raises(FileError, match=words):
        read_model(path)


def test_two_descriptions_of_one_model_are_refused(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    path.with_suffix(".toml").write_text(TOML)
    with pytest.raises(FileError, match="remove or rename"):
        read_model(path)


def test_a_missing_folder_is_reported(tmp_path):
    with pytest.raises(FileError, match="folder"):
        own_file(tmp_path / "absent" / "model.onnx")


def test_metadata_of_the_graph_is_not_kept(tmp_path):
    noted = made_model([], {}, {})
    noted.CopyFrom(brightness_model())
    entry = noted.metadata_props.add()
    entry.key, entry.value = "capsieve.spec", "{}"
    assert read_model(own_file(tmp_path / "model.onnx", noted)).spec == spec()
