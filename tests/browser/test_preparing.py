"""An exam whose index is being made says so, on its page and on the list."""

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow


@pytest.fixture
def told():
    """What the server is made to say; a test changes it as it goes."""
    return {"state": "working", "words": "making a proxy", "done": 40, "of": 100}


@pytest.fixture
def anna(serve, enter, told):
    person = enter(serve())
    person.page.route("**/preparing", lambda route: route.fulfill(json=told))
    person.read(VIDEO)
    return person


def test_progress_is_told_on_the_page_and_on_the_list_until_it_is_ready(anna, told):
    anna.see(".exam .preparing:has-text('making a proxy 40 %')")
    told["done"] = 70
    anna.see(".exam .preparing:has-text('70 %')")
    anna.press("Escape")
    anna.see(f"tr[data-exam='{VIDEO}'] .preparing:has-text('70 %')")
    told["state"] = "ready"
    anna.page.locator(f"tr[data-exam='{VIDEO}'] .preparing").wait_for(state="hidden")


def test_reading_goes_on_meanwhile(anna, screened):
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.press("Shift+R")
    anna.until_saved()
    assert len(anna.server.entries(VIDEO)) == 1


def test_a_failure_is_told_in_its_sentence_and_can_be_tried_again(anna, told):
    anna.see(".preparing:has-text('40 %')")
    told |= {"state": "failed", "words": "Cannot write the index: the disk is full."}
    anna.see(".preparing.trouble:has-text('the disk is full')")
    told |= {"state": "ready", "words": ""}
    anna.page.get_by_role("button", name="Try again").click()
    anna.page.locator(".exam .preparing").wait_for(state="hidden")
