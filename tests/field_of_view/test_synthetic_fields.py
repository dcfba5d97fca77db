"""Synthetic exams of every kind: the circle is found to a fraction of a pixel."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsieve import FieldOfView, find_field_of_view

BLACK, DARK, GREY, PALE = (0, 0, 0), (45, 45, 48), (105, 105, 105), (150, 150, 155)
BLUE, SKY, WHITE = (20, 40, 120), (70, 110, 180), (235, 235, 235)

DISCS: dict[str, dict[str, Any]] = {
    "black": {},
    "grey": {"surround": GREY},
    "pale": {"surround": PALE},
    "blue": {"surround": BLUE},
    "sky": {"surround": SKY},
    "white": {"surround": WHITE},
    "off centre": {"centre": (130.3, 105.7), "half": (90.4, 90.4), "surround": DARK},
    "small": {"size": (240, 320), "centre": (120.0, 200.0), "half": (45.0, 45.0)},
    "static text": {"text": "static"},
    "changing text": {"text": "changing", "surround": BLUE},
    "text over the edge": {"text": "overlapping", "surround": GREY, "logo": True},
    "text over the edge, black": {"text": "overlapping", "logo": True},
    "cut by four borders": {"half": (128.0, 128.0)},
    "cut by one border": {"centre": (80.0, 119.5), "half": (95.0, 95.0)},
    "cut by two borders": {"centre": (90.0, 85.0), "half": (105.0, 105.0), "surround": GREY},
    "touching the border": {"half": (120.0, 120.0)},
    "cut left and right": {"size": (300, 240), "centre": (149.5, 119.5), "half": (135.0, 135.0)},
    "cut, with a line": {"half": (128.0, 128.0), "border_line": 1.0, "jpeg": 75},
    "flattened": {"half": (110.0, 110.0), "flat": -10.0},
    "flattened, grey": {"half": (110.0, 110.0), "flat": -12.0, "surround": GREY},
    "dark": {"brightness": 0.15},
    "very dark": {"brightness": 0.06, "noise": 1.0},
    "vignetted": {"fall_off": 1.1},
    "vignetted, grey": {"fall_off": 1.1, "surround": GREY},
    "soft edge": {"soft": 5.0},
    "white ring": {"ring": 2.0, "surround": GREY},
    "black ring": {"ring": 2.0, "surround": GREY, "ring_colour": BLACK},
    "strong compression": {"jpeg": 40, "surround": BLUE},
    "a title page": {"title_page": True},
    "noise": {"noise": 5.0, "surround": DARK},
    "line along the border": {"border_line": 2.0, "surround": GREY},
    "two colours": {"band": BLUE, "half": (85.0, 85.0), "text": "static"},
    "100 pixels": {"size": (100, 100), "centre": (50.0, 49.0), "half": (44.0, 44.0)},
}

SQUARES: dict[str, dict[str, Any]] = {
    "black": {"half": (105.0, 105.0), "cut": 35.0},
    "grey": {"half": (105.0, 105.0), "cut": 35.0, "surround": GREY, "text": "changing"},
    "to the border": {"half": (120.0, 120.0), "cut": 38.0},
    "with a line": {"half": (120.0, 120.0), "cut": 38.0, "border_line": 1.0},
    "octagon": {"half": (100.0, 100.0), "cut": 58.0, "surround": BLUE},
    "off centre": {
        "centre": (125.0, 112.0),
        "half": (98.0, 98.0),
        "cut": 40.0,
        "surround": DARK,
        "logo": True,
        "text": "overlapping",
    },
}

RECTANGLES: dict[str, dict[str, Any]] = {
    "black": {"half": (90.0, 110.0)},
    "grey": {
        "half": (90.0, 100.0),
        "centre": (110.0, 125.0),
        "surround": GREY,
        "text": "changing",
    },
    "bars left and right": {"size": (240, 320), "centre": (119.5, 159.5), "half": (120.0, 120.0)},
}


def miss(seen: FieldOfView, truth: tuple[float, float, float]) -> float:
    """Error of the centre or of the radius, whichever is larger, in pixels."""
    row, col, radius = truth
    return max(np.hypot(seen.row - row, seen.col - col), abs(seen.radius - radius))


@pytest.mark.parametrize("name", DISCS)
def test_discs_are_found(workshop: Any, name: str) -> None:
    scene = workshop.scene(frames=7, **DISCS[name])
    seen = find_field_of_view(workshop.make(scene))
    assert seen.shape == "circle"
    # A ring of 2 pixels around the disc counts as part of it.
    assert miss(seen, workshop.truth(scene)) < (2.5 if scene.ring else 1.0)
    assert seen.confidence > 0.75


@pytest.mark.parametrize("name", SQUARES)
def test_cut_squares_are_found(workshop: Any, name: str) -> None:
    scene = workshop.scene(kind="cut-square", frames=7, **SQUARES[name])
    seen = find_field_of_view(workshop.make(scene))
    assert seen.shape == "cut-square"
    assert miss(seen, workshop.truth(scene)) < 1.0
    assert seen.confidence > 0.75


@pytest.mark.parametrize("name", RECTANGLES)
def test_rectangles_are_found(workshop: Any, name: str) -> None:
    scene = workshop.scene(kind="rectangle", frames=7, **RECTANGLES[name])
    seen = find_field_of_view(workshop.make(scene))
    assert seen.shape == "rectangle"
    assert miss(seen, workshop.truth(scene)) < 1.0
    assert seen.confidence > 0.75


@pytest.mark.parametrize("size", [(240, 240), (240, 320), (320, 240)])
def test_no_surround_is_the_full_frame(workshop: Any, size: tuple[int, int]) -> None:
    scene = workshop.scene(kind="full", size=size, frames=10, fall_off=0.3)
    seen = find_field_of_view(workshop.make(scene))
    assert seen.shape == "full"
    assert miss(seen, workshop.truth(scene)) < 0.5
    assert seen.confidence > 0.75


@pytest.mark.parametrize("cut", [20.0, 50.0])
def test_rounded_corners_do_not_matter(workshop: Any, cut: float) -> None:
    scene = workshop.scene(kind="rounded", half=(105.0, 105.0), cut=cut, frames=10)
    assert miss(find_field_of_view(workshop.make(scene)), workshop.truth(scene)) < 1.0


@pytest.mark.parametrize("kind", ["circle", "cut-square"])
def test_a_capsule_at_rest_counts_as_one_view(workshop: Any, kind: str) -> None:
    scene = workshop.scene(kind=kind, cut=35.0, still=True, surround=GREY, frames=10)
    seen = find_field_of_view(workshop.make(scene))
    assert miss(seen, workshop.truth(scene)) < 1.0
    assert seen.confidence <= 2 / 3


@pytest.mark.parametrize("kind", ["circle", "cut-square"])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_frames_are_enough_but_less_sure(workshop: Any, kind: str, count: int) -> None:
    scene = workshop.scene(kind=kind, cut=35.0, text="changing", frames=10)
    frames = workshop.make(scene)
    few, many = find_field_of_view(frames[:count]), find_field_of_view(frames)
    assert miss(few, workshop.truth(scene)) < 1.0
    assert few.confidence < many.confidence


@pytest.mark.parametrize(
    ("size", "centre", "radius"),
    [
        ((1080, 1920), (520.0, 960.0), 480.0),
        ((720, 1280), (320.0, 500.0), 230.0),
        ((512, 512), (255.5, 255.5), 290.0),
    ],
)
def test_large_frames_are_as_precise(
    workshop: Any, size: tuple[int, int], centre: tuple[float, float], radius: float
) -> None:
    scene = workshop.scene(size=size, centre=centre, half=(radius, radius), frames=2, jpeg=0)
    scene = replace(scene, text="static", surround=DARK)
    assert miss(find_field_of_view(workshop.make(scene)), workshop.truth(scene)) < 1.0


@settings(max_examples=10, deadline=None, derandomize=True)
@given(
    radius=st.floats(60, 105),
    row=st.floats(105, 135),
    col=st.floats(105, 135),
    surround=st.sampled_from([BLACK, DARK, GREY, BLUE, SKY]),
    text=st.sampled_from(["none", "static", "changing", "overlapping"]),
    seed=st.integers(0, 99),
)
def test_any_disc_is_found(
    workshop: Any,
    radius: float,
    row: float,
    col: float,
    surround: tuple[int, int, int],
    text: str,
    seed: int,
) -> None:
    scene = workshop.scene(
        centre=(row, col),
        half=(radius, radius),
        surround=surround,
        text=text,
        seed=seed,
        frames=6,
    )
    seen = find_field_of_view(workshop.make(scene))
    assert miss(seen, workshop.truth(scene)) < 1.0
