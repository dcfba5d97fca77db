"""Two heads side by side: in step by time, and every decision on the head that is chosen."""

import pytest

from browser.exams import TWO_HEADS, events_of

pytestmark = pytest.mark.slow


@pytest.fixture
def anna(serve, enter, screened):
    person = enter(serve())
    person.read(TWO_HEADS)
    person.until_frame(events_of(screened, TWO_HEADS)[0]["best_frame"])
    person.see(".frame.chosen")
    return person


def captions(person):
    """Head, time and frame of each picture, as the page tells them."""
    texts = person.page.locator(".frame .caption").all_inner_texts()
    return [text.replace("head", "").replace("frame", "").split()[:3] for text in texts]


def chosen(person):
    return int(person.see(".frame.chosen .caption").inner_text().split()[1])


def test_both_heads_stand_at_the_same_time_wherever_one_goes(anna):
    steps = {"Home": 0, "ArrowRight": 1, "Shift+ArrowRight": 11, "ArrowLeft": 10}
    for key, frame in steps.items():
        anna.press(key)
        anna.see(f".frame .caption:has-text('frame {frame}')")
        (one, time, here), (other, same, there) = captions(anna)
        assert (one, other) == ("0", "1")
        assert (time, here) == (same, there)


def test_an_event_belongs_to_its_head(anna, screened):
    event = events_of(screened, TWO_HEADS)[0]
    assert chosen(anna) == event["head"]
    anna.see(f".decisions:has-text('Event 1 of'):has-text('head {event['head']}')")
    anna.press("r")
    anna.until_saved()
    (entry,) = anna.server.entries(TWO_HEADS)
    assert entry.subject == f"event:{event['head']}:{event['best_frame']}"


def test_what_is_marked_goes_to_the_chosen_head(anna):
    first = chosen(anna)
    anna.press("h")
    other = 1 - first
    anna.see(f".frame.chosen .caption:has-text('head {other}')")
    anna.press("Shift+R", "m")
    anna.page.get_by_role("button", name="Another polyp").click()  # the frame is in an event
    anna.press("Escape", "g", "2")
    anna.press("h")
    anna.see(f".frame.chosen .caption:has-text('head {first}')")
    anna.press("Shift+U")
    anna.until_saved()
    rejected, finding, landmark, unsure = anna.server.entries(TWO_HEADS)
    assert rejected.subject.startswith(f"frame:{other}:")
    assert finding.content["best"]["head"] == landmark.content["head"] == other
    assert unsure.subject.startswith(f"frame:{first}:")


def test_a_polyp_that_both_heads_show_is_one_finding(anna):
    first = chosen(anna)
    anna.press("a")
    anna.see(".findings fieldset").get_by_role("button", name=f"Also on head {1 - first}").click()
    anna.until_saved()
    finding, _, changed = anna.server.entries(TWO_HEADS)
    assert changed.subject == finding.subject
    assert {span["head"] for span in changed.content["spans"]} == {0, 1}
    anna.press("h")  # it stays open on the other head, and is not marked again there
    anna.see(f".frame.chosen .caption:has-text('head {1 - first}')")
    anna.see(".findings fieldset")
    anna.press("m")
    anna.see(".toast:has-text('finding 1 already')")
    assert len(anna.server.entries(TWO_HEADS)) == 3


def test_the_event_of_one_head_is_not_decided_from_the_other(anna, screened):
    event = events_of(screened, TWO_HEADS)[0]
    anna.press("h")
    anna.see(f".frame.chosen .caption:has-text('head {1 - event['head']}')")
    words = anna.see(".decisions").inner_text()
    assert f"Event 1 of {len(events_of(screened, TWO_HEADS))}" not in words


def test_one_head_or_both_by_keyboard(anna):
    assert anna.page.locator(".frame:visible").count() == 2
    anna.press("Shift+H")
    anna.until("() => document.querySelectorAll('.frame:not([hidden])').length === 1")
    other = 1 - chosen(anna)
    anna.press("h")
    anna.see(f"button[aria-pressed=true]:has-text('Head {other}'):visible")
    anna.press("Shift+H")
    anna.until("() => document.querySelectorAll('.frame:not([hidden])').length === 2")
