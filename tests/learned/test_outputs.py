"""What a model says, as probabilities: against closed forms."""

import math

import numpy as np
import pytest

from capsieve.errors import FileError
from capsieve.learned.outputs import map_of, mask_of, score_of
from capsieve.learned.spec import Output


def output(kind, **more):
    return Output(name="y", kind=kind, **more)


def test_a_logit_becomes_its_sigmoid():
    numbers = np.array([[-800.0], [-1.0], [0.0], [3.0], [800.0]], np.float32)
    scores, logits = score_of(numbers, output("logit"), name="m")
    expected = [0.0, 1 / (1 + math.e), 0.5, 1 / (1 + math.exp(-3)), 1.0]
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    np.testing.assert_array_equal(logits, numbers[:, 0])


def test_a_softmax_becomes_the_share_of_its_class():
    numbers = np.random.default_rng(0).normal(0, 3, (6, 4))
    scores, logits = score_of(numbers, output("softmax", class_index=2), name="m")
    expected = np.exp(numbers[:, 2]) / np.exp(numbers).sum(axis=1)
    np.testing.assert_allclose(scores, expected)
    np.testing.assert_allclose(logits, np.log(expected / (1 - expected)))


def test_a_probability_is_itself():
    numbers = np.array([[0.2, 0.8], [1.0, 0.0]])
    scores, logits = score_of(numbers, output("probability", class_index=1), name="m")
    np.testing.assert_array_equal(scores, [0.8, 0.0])
    assert logits[0] == pytest.approx(math.log(4))
    assert np.isfinite(logits).all()


def test_a_probability_beyond_one_is_told():
    with pytest.raises(FileError, match=r'gives 3.5, which is no probability; is it a "logit", or'):
        score_of(np.array([[3.5]]), output("probability"), name="m")


@pytest.mark.parametrize(
    ("numbers", "kind", "words"),
    [
        (np.zeros((1, 3)), output("logit"), "class_index is missing"),
        (np.zeros((1, 3)), output("logit", class_index=3), "3 classes, counted from 0"),
        (np.zeros((1, 1)), output("softmax", class_index=0), "always 1"),
    ],
)
def test_classes_that_do_not_fit_are_told(numbers, kind, words):
    with pytest.raises(FileError, match=words):
        score_of(numbers, kind, name="m")


@pytest.mark.parametrize("kind", ["logit", "probability"])
def test_no_number_stays_no_number(kind):
    scores, _ = score_of(np.array([[np.nan], [0.5]]), output(kind), name="m")
    assert np.isnan(scores[0])
    assert not np.isnan(scores[1])


MASK = np.array([[[[0.1, 0.2], [0.6, 0.9]]]], np.float32)


@pytest.mark.parametrize(("how", "score"), [("max", 0.9), ("mean", 0.45), ("area", 0.25)])
def test_the_score_of_a_mask(how, score):
    kind = output("mask", frame_score=how, level=0.7)
    found = mask_of(MASK, kind, nhwc=False, name="m")
    assert score_of(found, kind, name="m")[0] == pytest.approx(score)


def test_masks_come_in_every_order_of_axes():
    kind = output("mask", class_index=1)
    numbers = np.random.default_rng(0).random((2, 3, 4, 5))
    one = mask_of(numbers, kind, nhwc=False, name="m")
    other = mask_of(np.moveaxis(numbers, 1, 3), kind, nhwc=True, name="m")
    np.testing.assert_array_equal(one, other)
    np.testing.assert_allclose(one, numbers[:, 1], rtol=1e-6)
    bare = mask_of(numbers[:, 1], output("mask"), nhwc=False, name="m")
    np.testing.assert_array_equal(bare, one)


@pytest.mark.parametrize("pixels", ["logit", "softmax"])
def test_pixels_become_probabilities(pixels):
    kind = output("mask", pixels=pixels, class_index=0)
    numbers = np.random.default_rng(0).normal(0, 2, (2, 2, 3, 3))
    found = mask_of(numbers, kind, nhwc=False, name="m")
    over = numbers[:, 0] - numbers[:, 1] if pixels == "softmax" else numbers[:, 0]
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-over)), rtol=1e-5)


def test_a_mask_with_a_hole_has_no_score():
    holed = MASK.copy()
    holed[0, 0, 0, 0] = np.nan
    for how in ("max", "mean", "area"):
        kind = output("mask", frame_score=how)
        found = mask_of(holed, kind, nhwc=False, name="m")
        assert np.isnan(score_of(found, kind, name="m")[0])


def test_a_map_may_have_an_axis_for_its_only_channel():
    assert map_of(np.zeros((2, 1, 3, 4))).shape == map_of(np.zeros((2, 3, 4))).shape == (2, 3, 4)
