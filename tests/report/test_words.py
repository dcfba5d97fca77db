import math
import re
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from capsieve import Parameters
from capsieve.report.words import decision, feature_words, frame_flag, step_words, why

PAPER = Parameters()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"reason": "texture-low", "label": "normal", "texture_max": 2.9},
            "Not flagged: the texture is too weak. T_max = 2.90, below T_L = 3.",
        ),
        (
            {"reason": "texture-high", "label": "normal", "texture_max": 11.015},
            "Not flagged: the texture is too strong. T_max = 11.02, above T_U = 8.",
        ),
        (
            {"reason": "radius-low", "label": "normal", "radius_max": 35},
            "Not flagged: the bulge is too small. R_max = 35, below R_P = 37.",
        ),
        (
            {"reason": "no-feature", "label": "normal", "features": (), "midpass_max": 0.1099},
            "Not flagged: nothing stands out. max u = 0.110, below Theta = 0.125.",
        ),
        ({}, "Flagged: a round bulge was found. R_max = 54, at least R_P = 37."),
    ],
)
def test_decision_names_the_rule_the_value_and_the_bound(make_result, changes, sentence):
    assert decision(make_result(**changes), PAPER) == sentence


def test_decision_of_a_single_rejected_feature_tells_its_rule(make_result, make_feature):
    feature = make_feature(size=112, rejected="size-low", radius=0)
    result = make_result(reason="no-feature", label="normal", features=(feature,))
    assert decision(result, PAPER).endswith("Feature 1: size 112 is below S_L = 292.")


def test_decision_of_several_rejected_features_tells_all_bounds(make_result, make_feature):
    features = tuple(make_feature(number=n, rejected="size-low", radius=0) for n in (1, 2))
    text = decision(make_result(reason="no-feature", label="normal", features=features), PAPER)
    for bound in ("None of 2", "S_L = 292", "S_U = 3237", "E_max = 6.5"):
        assert bound in text


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"size": 70, "rejected": "size-low"}, "Feature 2: size 70 is below S_L = 292."),
        ({"size": 3430, "rejected": "size-high"}, "Feature 2: size 3430 is above S_U = 3237."),
        (
            {"eccentricity": 6.5000001, "rejected": "eccentricity"},
            "Feature 2: eccentricity 6.5000001 is above E_max = 6.5.",
        ),
        (
            {"eccentricity": math.inf, "rejected": "eccentricity"},
            "Feature 2: eccentricity infinite is above E_max = 6.5.",
        ),
        (
            {"size": 342, "eccentricity": 2.806, "radius": 54},
            "Feature 2: passes with size 342, eccentricity 2.81; R = 54.",
        ),
    ],
)
def test_feature_names_the_rule_at_which_it_fell(make_feature, changes, sentence):
    assert feature_words(make_feature(number=2, **changes), PAPER) == sentence


def test_bounds_are_those_of_the_parameters_used(make_feature):
    feature = make_feature(size=90, rejected="size-low")
    assert "S_L = 100" in feature_words(feature, Parameters(size_low=100))
    assert "S_L = 1166" in feature_words(feature, Parameters(width=512))


def test_flagged_frame_tells_where_in_source_pixels(make_result):
    words = " ".join(step_words(make_result(), PAPER))
    # The placement is 0.5 + 2 * working.
    assert "feature 1" in words
    assert "row 202, column 242, radius 108" in words


def test_ball_is_named_by_its_shape(make_result):
    words = " ".join(step_words(make_result(), Parameters.inferred()))
    assert "hemisphere" in words
    assert "hemisphere" not in " ".join(step_words(make_result(), PAPER))


@pytest.mark.parametrize(
    ("radius", "says"),
    [(54, "would flag it: R_max would be 54, at least"), (30, "would not flag it: R_max")],
)
def test_preselected_frame_tells_what_geometry_would_have_said(
    make_result, make_feature, radius, says
):
    result = make_result(
        label="normal",
        reason="texture-low",
        texture_max=2.0,
        radius_max=0,
        features=(make_feature(radius=radius),),
    )
    assert says in why(result, PAPER)


def test_preselected_frame_without_geometry_claims_nothing_about_it(make_result):
    result = make_result(
        label="normal",
        reason="texture-high",
        texture_max=12.0,
        features=(),
        midpass_max=None,
        segmentation_threshold=None,
    )
    words = why(result, PAPER)
    assert "its geometry was not computed" in words
    assert "Segmentation" not in words


def test_every_feature_has_its_line(make_result, make_feature):
    features = tuple(make_feature(number=n) for n in range(1, 6))
    lines = why(make_result(features=features), PAPER).splitlines()
    assert [line.split(":")[0] for line in lines[-5:]] == [f"Feature {n}" for n in range(1, 6)]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_counts_and_verbs_agree(make_result, make_feature, count):
    features = [make_feature(number=n + 1) for n in range(count)]
    features.append(make_feature(number=9, rejected="size-low", radius=0))
    text = " ".join(step_words(make_result(features=tuple(features)), PAPER))
    assert ["none passes the", "1 passes the", "2 pass the"][count] in text


def test_words_are_plain_sentences(make_result, make_feature):
    features = (make_feature(), make_feature(number=2, rejected="size-high", radius=0))
    for line in why(make_result(features=features), PAPER).splitlines():
        assert re.fullmatch(r"[A-Z][ -~]*\.", line), line


LISTED = [
    # head, frame, score, reason, duplicate_of
    (0, 0, 5.0, "polyp", None),
    (0, 1, 9.0, "polyp", 0),
    (0, 2, 0.0, "texture-low", None),
    (0, 3, None, None, None),
    (0, 4, 9.0, "radius-low", None),
    (1, 0, 9.0, "polyp", None),
    (1, 1, 7.0, "polyp", None),
]


@pytest.mark.parametrize(
    ("row", "position", "duplicate_of"),
    [(0, 1, 1), (1, 1, None), (2, None, None), (4, 2, None), (5, 3, None), (6, 4, None)],
)
def test_position_on_the_list_counts_near_duplicates_once(row, position, duplicate_of):
    names = ("head", "frame", "score", "reason", "duplicate_of")
    table = pa.table(dict(zip(names, map(list, zip(*LISTED, strict=True)), strict=True)))
    flagging = {"rule": "count", "value": 2.0, "frames": 2, "last_score": 9.0}
    exam: Any = SimpleNamespace(
        record={"flagging": flagging}, columns=lambda *chosen: table.select(chosen)
    )
    values = table.slice(row, 1).to_pylist()[0] | {"flagged": True}
    flag = frame_flag(exam, values)
    assert flag is not None
    assert (flag.position, flag.duplicate_of) == (position, duplicate_of)


def test_a_threshold_reads_no_other_frame():
    flagging = {"rule": "threshold", "value": 37.0, "last_score": None}
    exam = cast("Any", SimpleNamespace(record={"flagging": flagging}))
    row = dict(zip(("head", "frame", "score", "reason", "duplicate_of"), LISTED[0], strict=True))
    flag = frame_flag(exam, row | {"flagged": True})
    assert flag is not None
    assert (flag.position, flag.bound) == (None, 37.0)
