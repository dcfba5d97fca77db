"""Deciding by keyboard alone: what is in the database is what was typed."""

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow


@pytest.fixture
def events(screened):
    return events_of(screened, VIDEO)


@pytest.fixture
def anna(serve, enter, events):
    person = enter(serve())
    person.read(VIDEO)
    person.until_frame(events[0]["best_frame"])
    return person


def name(event):
    return f"event:{event['head']}:{event['first_frame']}-{event['last_frame']}"


def told(person):
    """What the database has, in short."""
    entries = person.server.entries(VIDEO)
    return [(entry.kind, entry.subject, entry.undoes) for entry in entries]


def test_an_event_is_accepted_with_its_finding_size_and_type(anna, events):
    anna.press("a", "s", "2", "t", "3")
    anna.until_saved()
    entries = anna.server.entries(VIDEO)
    assert [entry.kind for entry in entries] == ["finding", "verdict", "finding", "finding"]
    assert {(entry.reader, entry.role, entry.version) for entry in entries} == {
        ("anna", "reader", 1)
    }
    best = events[0]["best_frame"]
    verdict, finding = entries[1], entries[3]
    assert verdict.subject == name(events[0])
    assert verdict.content["verdict"] == "accept"
    assert finding.subject == f"finding:{verdict.content['finding']}" == entries[0].subject
    typed = {"size": "small", "size_frame": best, "paris": "0-Is", "best_frame": best}
    assert typed.items() <= finding.content.items()
    assert finding.content["missed_by_sieve"] is False


def test_verdicts_follow_one_another_and_the_next_event_comes_by_itself(anna, events):
    for key, event in zip("ru", events, strict=False):
        anna.until_frame(event["best_frame"])
        anna.press(key)
    anna.until_frame(events[2]["best_frame"])
    anna.press("Shift+A")
    anna.until_saved()
    said = [(entry.subject, entry.content["verdict"]) for entry in anna.server.entries(VIDEO)]
    frame = f"frame:0:{events[2]['best_frame']}"
    assert said == [(name(events[0]), "reject"), (name(events[1]), "unsure"), (frame, "accept")]


def test_undo_and_redo_are_entries_of_their_own(anna, events):
    anna.press("r")
    anna.until_frame(events[1]["best_frame"])
    anna.press("Control+z")
    anna.see(".toast:has-text('Undone')")
    card = anna.page.locator(".card").first
    assert "no verdict" in card.get_attribute("aria-label")
    anna.press("Control+Shift+z")
    anna.see(".toast:has-text('Done again')")
    assert "rejected" in card.get_attribute("aria-label")
    anna.until_saved()
    subject = name(events[0])
    assert told(anna) == [("verdict", subject, None), ("undo", subject, 1), ("undo", subject, 2)]


def test_undo_pressed_twice_takes_back_two_actions(anna, events):
    anna.press("Shift+R", "!", "Control+z", "Control+z")
    anna.page.locator(".toast:has-text('Undone')").nth(1).wait_for()
    anna.until_saved()
    frame = f"frame:0:{events[0]['best_frame']}"
    assert told(anna)[2:] == [("undo", "exam", 2), ("undo", frame, 1)]


def test_undoing_an_accepted_event_takes_its_finding_along(anna):
    anna.press("a")
    anna.until_saved()
    anna.see(".findings fieldset")
    anna.press("Control+z")
    anna.see(".findings:has-text('No findings yet')")
    anna.see(".toast:has-text('Undone')")
    anna.press("Control+Shift+z")
    anna.see(".findings fieldset, .findings .finding")
    anna.see(".toast:has-text('Done again')")
    reading = anna.page.request.get(f"{anna.server.address}/api/exams/{VIDEO}/reading").json()
    assert len(reading["findings"]) == 1
    assert [each["verdict"] for each in reading["verdicts"].values()] == ["accept"]


def test_accepted_rejected_and_accepted_again_is_one_finding(anna, events):
    anna.page.get_by_role("checkbox", name="go on after a verdict").uncheck()
    for key, wanted in zip("ara", ("accept", "reject", "accept"), strict=True):
        anna.press(key)
        anna.see(f".card:first-child .badge.{wanted}")
        anna.until_saved()
    first, last = events[0]["first_frame"], events[0]["last_frame"]
    finding = f"finding:e0-{first}-{last}"
    verdict = name(events[0])
    assert [subject for _, subject, _ in told(anna)] == [finding, verdict] * 3
    anna.see(".findings fieldset")
    anna.press("Control+z")
    anna.page.locator(".findings fieldset, .findings .finding").first.wait_for(state="detached")


def test_a_removed_finding_comes_back_with_accept(anna, events):
    anna.press("a")
    anna.see(".findings fieldset").get_by_role("button", name="Remove").click()
    anna.until_saved()
    anna.press("a")
    anna.see(".findings fieldset")
    anna.until_saved()
    kinds = [kind for kind, *_ in told(anna)]
    assert kinds == ["finding", "verdict", "finding", "finding", "verdict"]


def test_an_answer_from_before_does_not_take_an_action_back(anna, events):
    anna.page.get_by_role("checkbox", name="go on after a verdict").uncheck()
    held = []
    anna.page.route("**/reading", lambda route: held.append((route, route.fetch())))
    anna.press("a")
    anna.until_saved()
    while not held:
        anna.page.wait_for_timeout(50)
    anna.press("r")
    anna.see(".card:first-child .badge.reject")
    anna.until_saved()
    route, from_before = held.pop(0)  # the event is accepted, it says
    with anna.page.expect_response("**/reading"):
        route.fulfill(response=from_before)
    anna.page.wait_for_timeout(500)
    anna.press("r")  # still rejected: nothing is written
    anna.press("a")
    anna.see(".card:first-child .badge.accept")
    anna.until_saved()
    said = [entry.content for entry in anna.server.entries(VIDEO)]
    assert [content["verdict"] for content in said[1::2]] == ["accept", "reject", "accept"]
    assert ["removed" in content for content in said[::2]] == [False, True, False]
    for route, answer in held:
        route.fulfill(response=answer)
    anna.page.unroute_all(behavior="ignoreErrors")


def test_landmarks_cleanliness_a_missed_polyp_and_urgency_by_keyboard(anna):
    anna.press("Home")
    anna.until_frame(0)
    anna.press("m", "o", "0", "Escape", "g", "2", "c", "1", "3", "c", "2", "2", "c", "3", "3", "!")
    anna.until_saved()
    said = {entry.subject: entry.content for entry in anna.server.entries(VIDEO)}
    (finding,) = [content for subject, content in said.items() if subject.startswith("finding:")]
    assert finding["missed_by_sieve"]
    assert (finding["frames"], finding["segment"]) == ([0], "rectum")
    assert said["landmark:caecum"] == {"head": 0, "frame": 0}
    grades = [said[f"segment:{each}"]["grade"] for each in ("right", "transverse", "left")]
    assert grades == [3, 2, 3]
    assert said["exam"]["urgent"]
    anna.press("3")
    anna.see(".clear:has-text('8 of 9: excellent')")


def test_keys_for_a_finding_do_not_reach_one_that_was_left(anna, events):
    anna.press("a")
    anna.until_saved()
    anna.press("Home")
    anna.until_frame(0)
    anna.see(".finding")  # the first one's form has closed
    anna.press("s", "2", "t", "1", "b")
    anna.press("Enter")
    anna.until_frame(events[1]["best_frame"])
    anna.press("s", "2", "t", "1", "b")
    anna.until_saved()
    assert [kind for kind, *_ in told(anna)] == ["finding", "verdict"]


def test_keys_for_a_finding_do_not_reach_one_that_redo_brings_back_elsewhere(anna):
    anna.press("a", "Control+z")
    anna.page.locator(".findings fieldset").wait_for(state="detached")
    anna.press("Home")
    anna.until_frame(0)
    anna.press("Control+Shift+z")
    anna.see(".finding")
    anna.press("s", "2")
    anna.until_saved()
    assert [kind for kind, *_ in told(anna)] == ["finding", "verdict", *["undo"] * 4]


def test_a_menu_of_a_finding_closes_when_its_frame_is_left(anna, events):
    anna.press("a", "s")
    anna.see("[role=menu]")
    frame_on = anna.page.get_by_role("button", name="One frame on")
    for frame in range(events[0]["best_frame"] + 1, events[0]["last_frame"] + 2):
        frame_on.click()
        anna.until_frame(frame)
    anna.page.locator("[role=menu]").wait_for(state="detached")
    anna.press("2")
    anna.until_saved()
    assert [kind for kind, *_ in told(anna)] == ["finding", "verdict"]


def test_a_note_that_was_begun_outlives_a_look_at_the_list(anna):
    anna.press("3")
    anna.page.get_by_label("A new note").fill("not yet")
    anna.press("Escape", "Escape")
    anna.see("table.exams tbody tr")
    anna.read(VIDEO)
    anna.press("3")
    assert anna.page.get_by_label("A new note").input_value() == "not yet"


def test_letters_in_a_note_are_letters(anna):
    anna.press("3")
    anna.page.locator("textarea[aria-label='A new note']").click()
    anna.page.keyboard.type("a rum mass u r")
    anna.page.get_by_role("button", name="Add to the exam").click()
    anna.until_saved()
    (entry,) = anna.server.entries(VIDEO)
    assert (entry.kind, entry.content) == ("note", {"text": "a rum mass u r"})
