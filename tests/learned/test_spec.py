"""What goes into a model and what comes out, as JSON and TOML."""

import json

import pytest

from capsieve.errors import ParameterError
from capsieve.learned.spec import ModelSpec, Output
from made_models import image_spec, spec, two_input_spec

TOML = """
threshold = 0.4

[image]
input = "pixels"
size = 224
colour = "bgr"
scale = 0.00392156862
mean = [0.485, 0.456, 0.406]
std = [0.229, 0.224, 0.225]
layout = "nhwc"
crop = "frame"
mask = false

[output]
name = "scores"
kind = "softmax"
class_index = 1
"""


@pytest.mark.parametrize(
    "made",
    [
        spec(),
        two_input_spec(),
        spec(image=image_spec(mean=(1.0, 2.0, 3.0), std=2.0, colour="bgr", mask=False)),
        spec(output=Output(name="m", kind="mask", frame_score="area", level=0.3)),
    ],
)
def test_json_reads_back(made):
    assert ModelSpec.from_json(made.to_json()) == made
    assert ModelSpec.from_dict(json.loads(json.dumps(made.to_dict()))) == made


def test_toml_says_everything():
    found = ModelSpec.from_toml(TOML)
    assert found.image is not None
    assert (found.threshold, found.image.size, found.image.colour) == (0.4, 224, "bgr")
    assert found.image.mean == (0.485, 0.456, 0.406)
    assert (found.image.layout, found.image.crop, found.image.mask) == ("nhwc", "frame", False)
    assert (found.output.kind, found.output.class_index) == ("softmax", 1)


def test_a_whole_number_may_stand_for_a_number():
    assert ModelSpec.from_toml(TOML.replace("threshold = 0.4", "threshold = 1")).threshold == 1.0


def changed(old: str, new: str) -> str:
    assert old in TOML
    return TOML.replace(old, new)


@pytest.mark.parametrize(
    ("toml", "field", "words"),
    [
        (changed("threshold = 0.4", ""), "threshold", "is missing; it says the least score"),
        (changed('input = "pixels"', ""), "image.input", "is missing"),
        (changed("size = 224", ""), "image.size", "is missing"),
        (changed('colour = "bgr"', ""), "image.colour", "is missing"),
        (changed("scale = 0.00392156862", ""), "image.scale", "is missing"),
        (changed('name = "scores"', ""), "output.name", "is missing"),
        (changed('kind = "softmax"', ""), "output.kind", "is missing"),
        (changed("class_index = 1", ""), "output.class_index", "which class is the polyp"),
        (TOML.partition("[output]")[0], "output", "is missing; it says what comes out"),
        (
            'threshold = 0.5\n[output]\nname = "a"\nkind = "logit"\n',
            "image",
            "say what goes into the model",
        ),
        (changed("colour =", "color ="), "image.color", "did you mean 'colour'"),
        (changed("[image]", "[picture]"), "picture", "no such entry"),
        (changed("threshold = 0.4", "threshold = 0"), "threshold", "above 0 and at most 1"),
        (changed("threshold = 0.4", "threshold = 1.5"), "threshold", "above 0 and at most 1"),
        (changed("threshold = 0.4", "threshold = nan"), "threshold", "finite"),
        (changed("threshold = 0.4", 'threshold = "0.4"'), "threshold", "must be a number"),
        (changed("threshold = 0.4", "threshold = true"), "threshold", "must be a number"),
        (changed("size = 224", "size = 224.5"), "image.size", "must be a whole number"),
        (changed("size = 224", "size = 3"), "image.size", "from 8 to 2048"),
        (changed("size = 224", "size = [224, 224]"), "image.size", "must be a whole number"),
        (changed('"bgr"', '"lab"'), "image.colour", 'one of "rgb", "bgr", "gray"'),
        (changed('"nhwc"', '"hwc"'), "image.layout", 'one of "nchw", "nhwc"'),
        (changed('"frame"', '"centre"'), "image.crop", 'one of "view", "frame"'),
        (changed("mask = false", "mask = 0"), "image.mask", "true or false"),
        (changed("scale = 0.00392156862", "scale = -1.0"), "image.scale", "above 0"),
        (changed("0.406]", "0.406, 1.0]"), "image.mean", "one number, or a list of 3"),
        (changed("0.225]", "0.0]"), "image.std", "above 0"),
        (changed("0.225]", '"a"]'), "image.std[2]", "must be a number"),
        (changed('"softmax"', '"odds"'), "output.kind", '"probability", "logit"'),
        (changed("class_index = 1", "class_index = -1"), "output.class_index", "0 or more"),
        (changed("class_index = 1", 'map = "m"\nclass_index = "1"'), "output.class_index", "whole"),
        (changed('"softmax"', '"mask"\nmap = "m"'), "output.map", "its own map"),
        (changed('"softmax"', '"mask"\nlevel = 1.0'), "output.level", "between 0 and 1"),
        ("image = 3\n" + TOML.replace("[image]", "[other]"), "other", "no such entry"),
        ("schema = 2\n" + TOML, "schema", "reads schema 1, not 2"),
        ("threshold = ", "TOML", "not a valid TOML"),
        ("a = " + "[" * 5000, "TOML", "not a valid TOML"),
    ],
)
def test_each_mistake_has_its_sentence(toml, field, words):
    with pytest.raises(ParameterError) as caught:
        ModelSpec.from_toml(toml)
    assert caught.value.field == field
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"input": "image", "names": ["a"], "version": 1}, "values.input"),
        ({"input": "v", "names": [], "version": 1}, "values.names"),
        ({"input": "v", "names": ["a", "a"], "version": 1}, "values.names"),
        ({"input": "v", "names": "ab", "version": 1}, "values.names"),
        ({"input": "v", "names": ["a"]}, "values.version"),
    ],
)
def test_values_are_checked(values, field):
    with pytest.raises(ParameterError) as caught:
        ModelSpec.from_dict(spec().to_dict() | {"values": values})
    assert caught.value.field == field


def test_equal_descriptions_are_one_key():
    assert len({spec(), spec(), two_input_spec(), two_input_spec()}) == 2
