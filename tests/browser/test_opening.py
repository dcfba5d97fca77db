"""The way in, and the first frame."""

from urllib.parse import urlsplit

import pytest

from browser.exams import (
    IMAGES,
    TWO_HEADS,
    VIDEO,
    decoded_video,
    digest,
    events_of,
    nearest,
    rows_of,
)

pytestmark = pytest.mark.slow


def test_the_link_opens_the_room_and_the_token_leaves_the_address(serve, enter):
    server = serve()
    assert "token=" in server.link
    anna = enter(server)
    anna.see("table.exams tbody tr")
    assert anna.page.url.rstrip("/#") == server.address
    assert "token" not in anna.page.evaluate("document.cookie + location.href + history.state")
    stranger = enter(server)
    stranger.page.context.clear_cookies()
    stranger.expect("401")
    stranger.page.goto(server.address)
    assert "needs its link" in stranger.page.inner_text("body")


def test_from_the_list_to_an_exam_and_back_by_keyboard(serve, enter):
    anna = enter(serve())
    names = anna.see("table.exams tbody") and anna.page.eval_on_selector_all(
        "table.exams tbody tr", "rows => rows.map(row => row.dataset.exam)"
    )
    assert sorted(names) == sorted([VIDEO, IMAGES, TWO_HEADS])
    anna.until("() => document.activeElement.dataset.exam !== undefined")
    anna.press("Home", "ArrowDown", "Enter")
    anna.see(f".exam h1:has-text('{names[1]}')")
    anna.press("Escape")  # an exam is not left by it
    anna.see(".exam")
    anna.page.get_by_role("link", name="Exams").focus()
    anna.press("Enter")
    anna.see("table.exams tbody tr")


def test_the_picture_of_an_image_is_to_the_bit_what_was_scored(serve, enter, screened):
    anna = enter(serve())
    best = events_of(screened, IMAGES)[0]["best_frame"]
    pictures = anna.pictures(lambda: (anna.read(IMAGES), anna.until_frame(best)))
    assert digest(pictures[-1]) == rows_of(screened, IMAGES)[best]["pixel_hash"]


def test_the_first_frame_of_a_video_is_the_one_that_was_scored(serve, enter, screened):
    anna = enter(serve())
    best = events_of(screened, VIDEO)[0]["best_frame"]
    pictures = anna.pictures(lambda: (anna.read(VIDEO), anna.until_frame(best)))
    answer = anna.page.request.get(f"{anna.server.address}/api/exams/{VIDEO}/frames/0/{best}")
    assert answer.headers["x-pixel-hash"] == rows_of(screened, VIDEO)[best]["pixel_hash"]
    source = decoded_video(screened)
    assert digest(source[best]) == answer.headers["x-pixel-hash"]
    assert nearest(pictures[-1], source) == best


def test_nothing_is_left_of_the_token_in_what_the_browser_remembers(serve, enter):
    server = serve()
    anna = enter(server)
    anna.see("table.exams tbody tr")
    token = urlsplit(server.link).query.removeprefix("token=")
    kept = anna.page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])")
    cookies = str(anna.page.context.cookies())
    assert token not in kept + cookies


def test_the_page_cannot_reach_another_host_even_if_it_wanted_to(serve, enter):
    anna = enter(serve())
    anna.see("table.exams tbody tr")
    assert anna.complaints() == []
    anna.page.evaluate("fetch('https://other.example/').catch(() => null)")
    assert any("connect-src https://other.example" in each for each in anna.complaints())
    anna.expect("other.example")
