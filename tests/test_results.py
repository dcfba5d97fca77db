import dataclasses
import inspect
import pickle
from typing import Any

import numpy as np
import pytest

from capsieve import Explanation, Feature, FrameResult, Placement, results

PLACEMENT = Placement(rows=4, cols=4, row_scale=2.0, col_scale=2.0, row_offset=0.5, col_offset=0.5)


def a_feature(**changes: Any) -> Feature:
    values: dict[str, Any] = {
        "number": 1,
        "size": 300,
        "eccentricity": 1.5,
        "row": 1.0,
        "col": 2.0,
        "ball_row": 1.1,
        "ball_col": 2.1,
        "radius": 40,
        "rejected": "",
        "moment_rr": 10.0,
        "moment_rc": 0.0,
        "moment_cc": 12.0,
    }
    return Feature(**(values | changes))


def a_result(*features: Feature) -> FrameResult:
    return FrameResult(
        label="polyp",
        reason="polyp",
        score=40.0,
        texture_max=5.0,
        radius_max=40,
        features=features,
        placement=PLACEMENT,
        midpass_max=0.2,
        segmentation_threshold=0.11,
    )


def an_explanation(gray: float) -> Explanation:
    image = np.full((4, 4), gray, np.float32)
    result = a_result(a_feature())
    return Explanation(
        **{each.name: getattr(result, each.name) for each in dataclasses.fields(result)},
        frame=np.zeros((4, 4, 3), np.uint8),
        gray=image,
        corrected=image,
        extended=image,
        texture=image,
        energy=image,
        midpass=image,
        segmentation=np.zeros((4, 4), np.bool_),
        labels=np.zeros((4, 4), np.int32),
        mask=np.ones((4, 4), np.bool_),
    )


def test_best_is_the_feature_with_the_largest_ball() -> None:
    features = [a_feature(number=k, radius=radius) for k, radius in enumerate((0, 36, 52, 41), 1)]
    best = a_result(*features).best
    assert best is features[2]


def test_best_is_the_first_of_equals() -> None:
    features = [a_feature(number=k, radius=36) for k in (1, 2)]
    assert a_result(*features).best is features[0]


@pytest.mark.parametrize("features", [(), (a_feature(radius=0, rejected="size-low"),)])
def test_best_is_none_where_there_is_no_ball(features: tuple[Feature, ...]) -> None:
    assert a_result(*features).best is None


def test_the_place_is_the_best_ball_in_the_sources_pixels() -> None:
    best = a_feature(ball_row=1.0, ball_col=3.0, radius=2)
    # source = offset + scale * working, as the placement states it
    assert a_result(best).place == results.Spot(0.5 + 2 * 1, 0.5 + 2 * 3, 2 * 2)


def test_the_place_is_where_the_detector_points_if_it_does() -> None:
    spot = results.Spot(3.0, 4.0, 5.0)
    assert dataclasses.replace(a_result(a_feature()), found=spot).place == spot


def test_there_is_no_place_without_ball_and_spot() -> None:
    assert a_result().place is None


def test_results_compare_by_value_and_survive_the_way_between_processes() -> None:
    result = a_result(a_feature(), a_feature(number=2, radius=0, rejected="eccentricity"))
    assert pickle.loads(pickle.dumps(result)) == result


def test_explanations_survive_the_way_between_processes() -> None:
    explanation = an_explanation(gray=7.0)
    copy = pickle.loads(pickle.dumps(explanation))
    assert isinstance(copy, Explanation)
    np.testing.assert_array_equal(copy.gray, explanation.gray)


def test_an_explanation_is_a_result() -> None:
    explanation = an_explanation(gray=7.0)
    assert isinstance(explanation, FrameResult)
    assert explanation.best == a_feature()


@pytest.mark.parametrize("value", [a_result(), a_feature(), PLACEMENT, an_explanation(0.0)])
def test_results_are_immutable(value: Any) -> None:
    name = next(iter(inspect.get_annotations(type(value))))
    with pytest.raises(AttributeError):
        setattr(value, name, None)


@pytest.mark.parametrize("kind", [Feature, FrameResult, Explanation, Placement])
def test_every_field_is_documented(kind: type[Any]) -> None:
    own = inspect.get_annotations(kind)
    assert kind.__doc__ is not None
    documented = kind.__doc__.partition("Attributes\n")[2]
    for name in own:
        assert name in documented.replace(",", " ").split(), name
