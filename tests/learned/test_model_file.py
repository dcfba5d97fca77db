"""Model files: written, read, and refused."""

import errno
import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from capsieve.errors import FileError
from capsieve.learned.model_file import read_model, write_model
from capsieve.learned.onnx_wire import metadata_entry, survey
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
    written = write_model(path, two_input_model(), two_input_spec(), CARD)
    found = read_model(path)
    assert found.spec == two_input_spec()
    assert found.card == written
    assert replace(written, hashes=CARD.hashes) == CARD
    assert found.sha256 == sha256(path.read_bytes()).hexdigest()


def test_it_stays_an_onnx_file_that_others_read(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    loaded = onnx.load(path)
    onnx.checker.check_model(loaded)
    assert loaded.graph == brightness_model().graph
    names = [each.key for each in loaded.metadata_props]
    assert names == ["capsieve.spec", "capsieve.card", "capsieve.sha256"]


def test_the_same_model_gives_the_same_bytes(tmp_path):
    first, second = (own_file(tmp_path / name).read_bytes() for name in ("a.onnx", "b.onnx"))
    assert first == second


def test_the_walk_agrees_with_onnx():
    content = brightness_model().SerializeToString() + metadata_entry("ä" * 200, "x" * 20000)
    loaded = onnx.load_from_string(content)
    found = survey(content)
    assert found.metadata == {each.key: each.value for each in loaded.metadata_props}
    assert found.nodes == len(loaded.graph.node)


def test_every_changed_byte_is_noticed(tmp_path):
    whole = own_file(tmp_path / "whole.onnx").read_bytes()
    path = tmp_path / "changed.onnx"
    for place in range(0, len(whole), 10):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
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


@pytest.mark.parametrize("more", [b"\0", b"abc", metadata_entry("note", "mine")])
def test_an_appended_file_is_noticed(tmp_path, more):
    path = own_file(tmp_path / "model.onnx")
    path.write_bytes(path.read_bytes() + more)
    with pytest.raises(FileError):
        read_model(path)


def test_a_new_checksum_does_not_hide_another_graph(tmp_path):
    one, other = own_file(tmp_path / "a.onnx"), brightness_model()
    other.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array(51, np.float32), "fifty"))
    metadata = survey(one.read_bytes()).metadata
    body = other.SerializeToString()
    for name in ("capsieve.spec", "capsieve.card"):
        body += metadata_entry(name, metadata[name])
    one.write_bytes(body + metadata_entry("capsieve.sha256", sha256(body).hexdigest()))
    with pytest.raises(FileError, match="another graph than its card says"):
        read_model(one)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"just a text, nothing more\n", "it is a text"),
        (b"PK\x03\x04" + bytes(50), "ZIP archive"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git lfs pull"),
        (b"<!DOCTYPE html><html>404</html>", "web page"),
        (bytes(1000), "copy it again"),
        (b"\x80\x04\x95" + bytes(50), "pickle"),
        (b"\x89HDF\r\n\x1a\n" + bytes(50), "HDF5"),
        (bytes(100), "no ONNX file"),
        (b"\x08\x08", "no ONNX file"),
        (b"\xff" * 100, "no ONNX file"),
    ],
)
def test_other_files_are_refused_with_a_sentence(tmp_path, content, words):
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


def test_an_absent_file_a_folder_and_a_pipe_are_told(tmp_path):
    with pytest.raises(FileError, match="No such file"):
        read_model(tmp_path / "absent.onnx")
    with pytest.raises(FileError, match="is a folder"):
        read_model(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="no regular file"):
        read_model(tmp_path / "pipe")
    with pytest.raises(FileError, match="cannot read"):
        read_model("a\0b")


def test_a_file_that_may_not_be_read_is_told(tmp_path, monkeypatch):
    path = own_file(tmp_path / "model.onnx")

    def refuse(_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)  # root may read everything
    with pytest.raises(FileError, match="Permission denied"):
        read_model(path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.onnx"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)  # sparse: it takes no room
    with pytest.raises(FileError, match=r"has 3.0 GB"):
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


def test_functions_that_the_file_defines_itself_are_its_own(tmp_path):
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


def test_functions_that_call_functions_without_end_are_refused(tmp_path):
    made = brightness_model()
    opset = [helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)]
    before, domain = "Relu", ""
    for level in range(8):  # ten to the eighth nodes, written out
        nodes = [helper.make_node(before, ["a"], [f"b{n}"], domain=domain) for n in range(10)]
        before, domain = f"F{level}", "mine"
        made.functions.append(helper.make_function("mine", before, ["a"], ["b9"], nodes, opset))
    made.graph.node.append(helper.make_node(before, ["logit"], ["x"], domain="mine"))
    with pytest.raises(FileError, match="ONNX"):
        read_model(foreign_file(tmp_path / "model.onnx", made, TOML))


def test_graphs_nested_without_end_are_refused(tmp_path):
    graph = helper.make_graph([], "inner", [], [])
    for _ in range(20):
        node = helper.make_node("If", ["x"], ["y"], then_branch=graph)
        graph = helper.make_graph([node], "outer", [], [])
    path = tmp_path / "model.onnx"
    path.write_bytes(helper.make_model(graph).SerializeToString())
    with pytest.raises(FileError, match="no ONNX file"):
        read_model(path)


def test_somebody_elses_model_has_a_description_beside_it(tmp_path):
    found = read_model(foreign_file(tmp_path / "model.onnx", brightness_model(), TOML))
    assert found.spec == spec()
    assert found.card is None


def test_without_a_description_it_is_told_what_to_write(tmp_path):
    path = foreign_file(tmp_path / "model.onnx", red_segmenter(), TOML)
    path.with_suffix(".toml").unlink()
    with pytest.raises(FileError, match=r"there is no model.toml beside it.*foreign-models"):
        read_model(path)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (TOML.replace("size = 32", ""), r"model\.toml: image\.size: is missing"),
        (TOML.replace("size", "sice"), r"model\.toml: image\.sice: no such entry"),
        ("a = ", r"model\.toml: TOML: not a valid"),
    ],
)
def test_a_wrong_description_names_its_file(tmp_path, toml, words):
    path = foreign_file(tmp_path / "model.onnx", brightness_model(), toml)
    with pytest.raises(FileError, match=words):
        read_model(path)


def test_a_description_that_is_no_text_is_told(tmp_path):
    path = foreign_file(tmp_path / "model.onnx", brightness_model(), "")
    path.with_suffix(".toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="not UTF-8"):
        read_model(path)


def test_two_descriptions_of_one_model_are_told(tmp_path):
    path = own_file(tmp_path / "model.onnx")
    path.with_suffix(".toml").write_text(TOML)
    with pytest.raises(FileError, match="remove or rename"):
        read_model(path)


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileError, match="there is no folder"):
        own_file(tmp_path / "absent" / "model.onnx")


def test_notes_of_the_graphs_maker_are_not_kept(tmp_path):
    noted = made_model([], {}, {})
    noted.CopyFrom(brightness_model())
    entry = noted.metadata_props.add()
    entry.key, entry.value = "capsieve.spec", "{}"
    assert read_model(own_file(tmp_path / "model.onnx", noted)).spec == spec()
