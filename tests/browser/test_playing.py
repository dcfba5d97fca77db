"""Playback: every frame once, in order, and nothing that was not asked for."""

import base64
from itertools import groupby

import numpy as np
import pytest

from browser.exams import (
    IMAGES,
    TWO_HEADS,
    VIDEO,
    decoded_video,
    digest,
    key_frames_of,
    nearest,
    rows_of,
)

pytestmark = pytest.mark.slow


def fastest(person):
    """30 frames per second."""
    person.press(*["+"] * 30)
    person.see(".rate:has-text('30 fps')")


def test_playback_draws_every_frame_once_and_in_order(serve, enter):
    anna = enter(serve())
    anna.read(VIDEO)
    fastest(anna)
    anna.press("Home")
    anna.until_frame(0)
    assert anna.drawn(lambda: (anna.press("Space"), anna.until_frame(39))) == list(range(1, 40))
    assert anna.drawn(lambda: (anna.press("j"), anna.until_frame(0))) == list(range(38, -1, -1))


def test_what_playback_draws_is_to_the_bit_what_was_scored(serve, enter, screened):
    anna = enter(serve())
    anna.read(IMAGES)
    fastest(anna)
    anna.press("Home")
    anna.until_frame(0)
    pictures = anna.pictures(lambda: (anna.press("Space"), anna.until_frame(23)))
    expected = [row["pixel_hash"] for row in rows_of(screened, IMAGES)]
    assert [digest(each) for each in pictures][-23:] == expected[1:]


def test_dragging_shows_key_frames_under_their_numbers_and_then_the_exact_frame(
    serve, enter, screened
):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.press("Home")
    anna.until_frame(0)
    source, keys = decoded_video(screened), key_frames_of(screened, VIDEO)
    last = next(frame for frame in range(36, 39) if frame not in keys)
    lanes = anna.see(".timeline canvas.lanes").bounding_box()
    mouse, drawn = anna.page.mouse, []

    def move(frame: int) -> None:
        mouse.move(lanes["x"] + (frame + 0.1) / 39 * lanes["width"], lanes["y"] + 4)

    def drag() -> None:
        move(5)
        mouse.down()
        anna.until_frame(5)
        for frame in (12, 19, 27, 33, last):
            with anna.page.expect_response(lambda answer: "snap=key" in answer.url):
                move(frame)
        mouse.up()
        anna.until_frame(last)

    images = anna.pictures(lambda: drawn.extend(anna.drawn(drag)))
    assert drawn[0] == 5
    assert drawn[-1] == last
    assert set(drawn[1:-1]) <= keys
    numbers = [frame for frame, _ in groupby(drawn)]
    assert [nearest(image, source) for image in images] == numbers


def test_flagged_only_shows_the_flagged_frames_alone(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    flagged = [row["frame"] for row in rows_of(screened, VIDEO) if row["flagged"]]
    anna.press("f")
    anna.see("button[aria-pressed=true]:has-text('Flagged')")
    fastest(anna)
    anna.press("End")  # the page may have opened on the first flagged frame
    anna.until_frame(flagged[-1])
    anna.press("Home")
    anna.until_frame(flagged[0])
    drawn = anna.drawn(lambda: (anna.press("Space"), anna.until_frame(flagged[-1])))
    assert drawn == flagged[1:]


def test_every_frame_that_was_played_is_in_the_ledger(serve, enter):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.press("Home")
    anna.until_frame(0)
    anna.drawn(lambda: (anna.press("Space"), anna.until_frame(39)))
    with anna.page.expect_response(lambda answer: answer.url.endswith("/viewed") and answer.ok):
        anna.page.get_by_role("link", name="Exams").click()  # the page sends what it has
    anna.see("table.exams tbody tr")
    told = anna.page.request.get(f"{anna.server.address}/api/exams/{VIDEO}/viewed").json()
    bits = np.frombuffer(base64.b64decode(told["0"]["displayed"]), np.uint8)
    assert told["0"]["frames"] == 40
    assert np.unpackbits(bits, bitorder="little").sum() == 40


def test_two_heads_stand_side_by_side_and_keep_in_step(serve, enter):
    anna = enter(serve())
    anna.read(TWO_HEADS)
    shown = "n => document.querySelectorAll('figure.frame:not([hidden])').length === n"
    anna.until(shown, 2)
    anna.press("Shift+H")
    anna.until(shown, 1)
    anna.press("Shift+H")
    anna.until(shown, 2)
    boxes = [anna.page.locator("figure.frame").nth(head).bounding_box() for head in (0, 1)]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"] + 1
    anna.press("Home")
    anna.until_frame(0)
    drawn = anna.drawn(lambda: (anna.press("Space"), anna.until("() => noted.frames.length >= 22")))
    assert drawn[0::2] == drawn[1::2] == list(range(1, 12))


def test_the_colours_can_be_changed_and_the_page_says_so(serve, enter):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.press("e", "]", "}")
    anna.see(".changed:has-text('0 switches it off')")
    anna.press("0")
    anna.page.locator(".changed").wait_for(state="hidden")
