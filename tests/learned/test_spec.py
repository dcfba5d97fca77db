"""Inputs and outputs of a model as JSON and TOML."""

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
        spec(output=Output(name="y", kind="logit", calibration=(0.5, -0.2))),
    ],
)
def test_json_round_trip(made):
    assert ModelSpec.from_json(made.to_json()) == made


def test_toml_has_all_entries():
    found = ModelSpec.from_toml(TOML)
    assert found.image is not None
    assert (found.threshold, found.image.size, found.image.colour) == (0.4, 224, "bgr")
    assert found.image.mean == (0.485, 0.456, 0.406)
    assert (found.image.layout, found.image.crop, found.image.mask) == ("nhwc", "frame", False)
    assert (found.output.kind, found.output.class_index) == ("softmax", 1)


def test_an_integer_is_a_valid_number():
    assert ModelSpec.from_toml(changed("threshold = 0.4", "threshold = 1")).threshold == 1.0


def changed(old: str, new: str) -> str:
    assert old in TOML
    return TOML.replace(old, new)


@pytest.mark.parametrize(
    ("toml", "field"),
    [
        (changed("threshold = 0.4", ""), "threshold"),
        (changed('input = "pixels"', ""), "image.input"),
        (changed("size = 224", ""), "image.size"),
        (changed("class_index = 1", ""), "output.class_index"),
        (TOML.partition("[output]")[0], "output"),
        ('threshold = 0.5\n[output]\nname = "a"\nkind = "logit"\n', "image"),
        (changed("colour =", "color ="), "image.colour"),
        (changed('colour = "bgr"', 'colour = "bgr"\ncolor = "bgr"'), "image.color"),
        (changed("[image]", "[picture]"), "picture"),
        (changed("threshold = 0.4", "threshold = 0"), "threshold"),
        (changed("threshold = 0.4", "threshold = 1.5"), "threshold"),
        (changed("threshold = 0.4", "threshold = nan"), "threshold"),
        (changed("threshold = 0.4", 'threshold = "0.4"'), "threshold"),
        (changed("threshold = 0.4", "threshold = true"), "threshold"),
        (changed("threshold = 0.4", "threshold = 1979-05-27"), "threshold"),
        (changed("size = 224", "size = 224.5"), "image.size"),
        (changed("size = 224", "size = 3"), "image.size"),
        (changed('"bgr"', '"lab"'), "image.colour"),
        (changed('"nhwc"', '"hwc"'), "image.layout"),
        (changed("mask = false", "mask = 0"), "image.mask"),
        (changed("scale = 0.00392156862", "scale = -1.0"), "image.scale"),
        (changed("0.406]", "0.406, 1.0]"), "image.mean"),
        (changed("0.225]", "0.0]"), "image.std"),
        (changed("0.225]", '"a"]'), "image.std[2]"),
        (changed("class_index = 1", "class_index = -1"), "output.class_index"),
        (changed('"softmax"', '"mask"\nmap = "m"'), "output.map"),
        (changed('"softmax"', '"mask"\nlevel = 1.0'), "output.level"),
        (changed('"softmax"', '"logit"\ncalibration = [-1.0, 0.0]'), "output.calibration"),
        (TOML + '[values]\ninput = "pixels"\nnames = ["a"]\nversion = 2\n', "values.input"),
        (TOML + '[values]\ninput = "v"\nnames = []\nversion = 2\n', "values.names"),
        (TOML + '[values]\ninput = "v"\nnames = ["a", "a"]\nversion = 2\n', "values.names"),
        ("schema_version = 1\ncolour = 3\n" + TOML, "schema_version"),
        ("threshold = ", "TOML"),
        ("a = " + "[" * 5000, "TOML"),
    ],
)
def test_an_error_names_its_entry(toml, field):
    with pytest.raises(ParameterError) as caught:
        ModelSpec.from_toml(toml)
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


def test_equal_descriptions_have_equal_hashes():
    assert len({spec(), spec(), two_input_spec(), two_input_spec()}) == 2
