from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from capsieve.report.evaluation.galleries import Gallery, choose
from capsieve.report.evaluation.gallery_pictures import draw, gallery_figure
from capsieve.report.evaluation.rules import rule_words
from capsieve.report.style import DPI
from capsieve.statistics.judged import NORMAL, POLYP
from made_evaluation import made_evaluation
from made_judged import POLYP_FOUND


@pytest.fixture(scope="module")
def galleries() -> dict[str, Gallery]:
    return {gallery.key: gallery for gallery in choose(made_evaluation())}


def place_of(judged: Any, exam: str, frame: int) -> int:
    [place] = np.flatnonzero(
        (judged.exam == judged.exams.index(exam)) & (judged.frame == frame)
    ).tolist()
    return place


def test_missed_polyps_are_those_of_the_papers_table(galleries: dict[str, Gallery]) -> None:
    missed = [f"polyp {n + 1}" for n, found in enumerate(POLYP_FOUND) if not found]
    assert [tile.title for tile in galleries["missed"].tiles] == missed


def test_found_polyps_are_shown_at_their_best_frame(galleries: dict[str, Gallery]) -> None:
    judged = made_evaluation().judged
    assert len(galleries["found"].tiles) == 12
    assert galleries["found"].left_out == 1
    for tile in galleries["found"].tiles:
        code = judged.polyps.index(tile.title)
        place = place_of(judged, tile.exam, tile.frame)
        assert judged.polyp[place] == code
        assert judged.score[place] == judged.score[judged.polyp == code].max()
        assert tile.ball == (judged.row[place], judged.col[place], judged.radius[place])


def test_false_alarms_are_normal_flagged_and_spread_over_patients(
    galleries: dict[str, Gallery],
) -> None:
    judged = made_evaluation().judged
    tiles = galleries["false-alarms"].tiles
    places = [place_of(judged, tile.exam, tile.frame) for tile in tiles]
    assert (judged.truth[places] == NORMAL).all()
    assert (judged.score[places] >= 37).all()
    assert {tile.exam for tile in tiles} == set(judged.exams)
    for exam in judged.exams:
        frames = sorted(tile.frame for tile in tiles if tile.exam == exam)
        assert np.diff(frames, prepend=-100).min() >= 25
    assert galleries["false-alarms"].left_out == 1837 - 12


def test_texture_goes_from_low_to_high_as_in_the_paper(galleries: dict[str, Gallery]) -> None:
    judged = made_evaluation().judged
    places = [place_of(judged, t.exam, t.frame) for t in galleries["texture"].tiles]
    assert judged.texture_max[places] == pytest.approx([2.6, 6.5, 17.1], abs=0.2)
    assert judged.truth[places].tolist() == [NORMAL, POLYP, NORMAL]


def test_the_choice_is_always_the_same() -> None:
    assert choose(made_evaluation()) == choose(made_evaluation())


def test_a_missed_polyp_shows_the_frame_that_came_farthest() -> None:
    evaluation = made_evaluation()
    judged = evaluation.judged
    mine = np.flatnonzero(judged.polyp == 4)  # a polyp that is missed
    score, reason = judged.score.copy(), judged.reason.copy()
    score[mine] = 0
    reason[mine] = judged.reasons.index("texture-high")
    reason[mine[2]] = judged.reasons.index("no-feature")
    judged = replace(judged, score=score, reason=reason)
    chosen = {g.key: g for g in choose(replace(evaluation, judged=judged))}
    tile = next(tile for tile in chosen["missed"].tiles if tile.title == "polyp 5")
    assert tile.frame == judged.frame[mine[2]]
    assert tile.rule == "no feature passed the rules of size and shape"


@pytest.mark.parametrize(
    ("reason", "score", "texture", "words"),
    [
        ("polyp", 41.0, 5.0, "R_max 41 ≥ R_P 37"),
        ("radius-low", 36.0, 5.0, "R_max 36 < R_P 37"),
        ("texture-high", 0.0, 9.2, "T_max 9.20 above T_U 8"),
        ("texture-low", 0.0, 2.9996, "T_max 2.9996 below T_L 3"),
        ("no-feature", 0.0, 5.0, "no feature passed the rules of size and shape"),
        ("polyp", float("nan"), 5.0, "not scored"),
        ("texture-high", 0.0, float("nan"), "rejected: texture-high"),
    ],
)
def test_the_rule_that_decided_is_told_with_its_values(
    reason: str, score: float, texture: float, words: str
) -> None:
    evaluation = made_evaluation()
    judged = evaluation.judged.take(np.array([0]))
    judged.score[0], judged.texture_max[0] = score, texture
    judged.reason[0] = judged.reasons.index(reason)
    assert rule_words(replace(evaluation, judged=judged), 0) == words


def test_other_detectors_speak_of_their_score() -> None:
    evaluation = made_evaluation(detector={"name": "learned"})
    judged = evaluation.judged.take(np.array([0]))
    judged.score[0] = 36.5
    judged.reason[0] = judged.reasons.index("radius-low")
    words = rule_words(replace(evaluation, judged=judged), 0)
    assert words == "score 36.50 < the threshold 37"


def test_no_polyps_and_no_alarms_leave_their_galleries_out() -> None:
    evaluation = made_evaluation(parameters={})
    judged = evaluation.judged
    nothing = replace(judged, truth=np.full_like(judged.truth, -1))
    assert choose(replace(evaluation, judged=nothing)) == ()
    empty = judged.take(np.zeros(len(judged), bool))
    assert choose(replace(evaluation, judged=empty)) == ()


def test_a_source_that_is_not_there_leaves_a_tile_that_says_so(
    galleries: dict[str, Gallery],
) -> None:
    gallery = galleries["texture"]
    pictures = draw(gallery, lambda *_: None)
    assert [picture.pixels for picture in pictures] == [None] * 3
    assert pictures[0].jpeg() is None
    figure = gallery_figure(gallery, pictures)
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert len(words) == 3
    assert all("not there" in text for text in words)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(300, 600), (300, 600, 3), (20, 10, 4)])
def test_pictures_are_small_and_in_colour(
    galleries: dict[str, Gallery], dtype: Any, shape: tuple[int, ...]
) -> None:
    value = 200 if dtype == np.uint8 else 200 << 8
    frame = np.full(shape, value, dtype)
    picture = draw(galleries["texture"], lambda *_: frame)[0]
    assert picture.pixels is not None
    assert picture.pixels.shape == ((120, 240, 3) if shape[1] == 600 else (20, 10, 3))
    assert (picture.pixels == 200).all()
    assert (picture.jpeg() or b"").startswith(b"\xff\xd8")


def test_the_circle_lies_on_the_pictures_ball(galleries: dict[str, Gallery]) -> None:
    gallery = galleries["found"]
    tile = replace(gallery.tiles[0], shape=(480, 480), ball=(239.5, 119.5, 48.0))
    gallery = replace(gallery, tiles=(tile,))
    figure = gallery_figure(gallery, draw(gallery, lambda *_: np.zeros((480, 480, 3), np.uint8)))
    for circle in figure.axes[0].patches:
        assert circle.get_center() == (59.5, 119.5)  # pyright: ignore[reportAttributeAccessIssue]
        assert circle.get_radius() == 24.0  # pyright: ignore[reportAttributeAccessIssue]


LONG = (
    "W" * 40,
    "polyp of the ascending colon beside the valve, second visit in the year after surgery",
    "a_long/name_without_spaces-1234567890-abcdefghijklmnopqrstuvwxyz-1234567890",
    "T_max and R_P and sigma1 and $ and \N{CJK UNIFIED IDEOGRAPH-4E2D} and all the others again",
)


def long_figure(gallery: Gallery) -> Figure:
    tiles = tuple(
        replace(tile, title=name, rule=name, where=f"{name}, frame 3")
        for tile, name in zip(gallery.tiles, LONG, strict=False)
    )
    gallery = replace(gallery, tiles=tiles)
    return gallery_figure(gallery, draw(gallery, lambda *_: np.zeros((48, 48, 3), np.uint8)))


@pytest.mark.filterwarnings("ignore:Glyph")
def test_words_below_a_picture_stay_below_it(galleries: dict[str, Gallery]) -> None:
    figure = long_figure(galleries["found"])
    figure.set_dpi(DPI)  # as it is saved: letters are fitted to pixels
    FigureCanvasAgg(figure).draw()
    boxes = [axes.get_window_extent() for axes in figure.axes]
    below = [text for text in figure.texts if text.get_window_extent().y1 < boxes[0].y0]
    assert len(below) >= 4 * 4
    for text in below:
        extent = text.get_window_extent()
        [box] = [box for box in boxes if abs(box.x0 - extent.x0) < 3]
        assert extent.x1 <= box.x1
        assert extent.y0 > 0


def test_long_words_are_wrapped_and_then_cut(galleries: dict[str, Gallery]) -> None:
    lines = [text.get_text() for text in long_figure(galleries["found"]).texts]
    bold = [line for line in lines if line.startswith(("polyp of", "beside the valve, s"))]
    assert bold[0] == "polyp of the ascending colon"
    assert any(line.startswith("beside the valve") and line.endswith("…") for line in lines)
    assert any(line.endswith("frame 3") for line in lines)


def test_short_words_are_left_as_they_are(galleries: dict[str, Gallery]) -> None:
    gallery = galleries["missed"]
    figure = gallery_figure(gallery, draw(gallery, None))
    lines = [text.get_text() for text in figure.texts]
    assert all(tile.title in lines and tile.where in lines for tile in gallery.tiles)
