"""Deciding by keyboard alone: what is in the database is what was typed."""

import pytest

from browser.exams import VIDEO, events_of, free_frame

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


@pytest.fixture
def free(screened):
    return free_frame(screened, VIDEO)


def name(event):
    return f"event:{event['head']}:{event['best_frame']}"


def told(person):
    """What the database has, in short."""
    entries = person.server.entries(VIDEO)
    return [(entry.kind, entry.subject, entry.content.get("action")) for entry in entries]


def test_an_event_is_accepted_with_its_finding_size_and_type(anna, events):
    anna.press("a", "s", "2", "t", "3")
    anna.until_saved()
    entries = anna.server.entries(VIDEO)
    assert [entry.kind for entry in entries] == ["finding", "decision", "finding", "finding"]
    assert {(entry.reader, entry.role, entry.revision) for entry in entries} == {
        ("anna", "reader", 1)
    }
    best = events[0]["best_frame"]
    decision, finding = entries[1], entries[3]
    assert entries[0].action == decision.action
    assert decision.subject == name(events[0])
    assert decision.content["decision"] == "accept"
    assert finding.subject == decision.content["finding"] == entries[0].subject
    here = {"head": 0, "frame": best}
    typed = {"size": "small", "size_on": here, "paris": "0-Is", "best": here}
    assert typed.items() <= finding.content.items()
    assert finding.content["missed"] is False


def test_decisions_follow_one_another_and_the_next_event_comes_by_itself(anna, events):
    for key, event in zip("ru", events, strict=False):
        anna.until_frame(event["best_frame"])
        anna.press(key)
    anna.until_frame(events[2]["best_frame"])
    anna.press("Shift+R")
    anna.until_saved()
    said = [(entry.subject, entry.content["decision"]) for entry in anna.server.entries(VIDEO)]
    frame = f"frame:0:{events[2]['best_frame']}"
    assert said == [(name(events[0]), "reject"), (name(events[1]), "unsure"), (frame, "reject")]


def test_undo_and_redo_are_entries_of_their_own(anna, events):
    anna.press("r")
    anna.until_frame(events[1]["best_frame"])
    anna.press("Control+z")
    anna.see(".toast:has-text('Undone')")
    card = anna.page.locator(".card").first
    assert "no decision" in card.text_content()
    anna.press("Control+Shift+z")
    anna.see(".toast:has-text('Done again')")
    assert "rejected" in card.text_content()
    anna.until_saved()
    subject = name(events[0])
    assert told(anna) == [("decision", subject, None), ("undo", "", 1), ("undo", "", 2)]


def test_undo_pressed_twice_takes_back_two_actions(anna, events):
    anna.press("Shift+R", "!", "Control+z", "Control+z")
    anna.page.locator(".toast:has-text('Undone')").nth(1).wait_for()
    anna.until_saved()
    assert told(anna)[2:] == [("undo", "", 2), ("undo", "", 1)]


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
    decisions = [each["content"]["decision"] for each in reading["decisions"].values()]
    assert decisions == ["accept"]
    assert [kind for kind, *_ in told(anna)] == ["finding", "decision", "undo", "undo"]


def test_accepted_rejected_and_accepted_again_is_one_finding(anna, events):
    anna.page.get_by_role("checkbox", name="Next event after reject or unsure").uncheck()
    for key, wanted in zip("ara", ("accept", "reject", "accept"), strict=True):
        anna.press(key)
        anna.see(f".card:first-child .badge.{wanted}")
        anna.until_saved()
    finding = f"finding:e0-{events[0]['best_frame']}"
    assert [subject for _, subject, _ in told(anna)] == [finding, name(events[0])] * 3
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
    assert kinds == ["finding", "decision", "removed", "finding", "decision"]


def test_an_answer_from_before_does_not_take_an_action_back(anna, events):
    anna.page.get_by_role("checkbox", name="Next event after reject or unsure").uncheck()
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
    assert [content["decision"] for content in said[1::2]] == ["accept", "reject", "accept"]
    assert [content["kind"] for content in said[::2]] == ["finding", "removed", "finding"]
    for route, answer in held:
        route.fulfill(response=answer)
    anna.page.unroute_all(behavior="ignoreErrors")


def test_landmarks_cleanliness_a_missed_polyp_and_urgency_by_keyboard(anna, free):
    anna.go(free)
    anna.press("m", "o", "0", "Escape", "g", "2", "c", "1", "3", "c", "2", "2", "c", "3", "3", "!")
    anna.until_saved()
    said = {entry.subject: entry.content for entry in anna.server.entries(VIDEO)}
    (finding,) = [content for subject, content in said.items() if subject.startswith("finding:")]
    assert finding["missed"]
    assert (finding["spans"], finding["segment"]) == (
        [{"head": 0, "first": free, "last": free}],
        "rectum",
    )
    assert (said["landmark:caecum"]["head"], said["landmark:caecum"]["frame"]) == (0, free)
    grades = [said[f"segment:{each}"]["grade"] for each in ("right", "transverse", "left")]
    assert grades == [3, 2, 3]
    assert said["exam"]["kind"] == "urgent"
    anna.press("3")
    anna.see(".clear:has-text('8 of 9: excellent')")


def test_keys_for_a_finding_do_not_reach_one_that_was_left(anna, events):
    anna.press("a")
    anna.until_saved()
    anna.press("Home")
    anna.until_frame(0)
    anna.see(".finding")  # the first one's form has closed
    anna.press("s", "2", "t", "1", "b")
    anna.page.locator(".card").nth(1).click()
    anna.until_frame(events[1]["best_frame"])
    anna.press("s", "2", "t", "1", "b")
    anna.until_saved()
    assert [kind for kind, *_ in told(anna)] == ["finding", "decision"]


def test_keys_for_a_finding_do_not_reach_one_that_redo_brings_back_elsewhere(anna):
    anna.press("a", "Control+z")
    anna.page.locator(".findings fieldset").wait_for(state="detached")
    anna.press("Home")
    anna.until_frame(0)
    anna.press("Control+Shift+z")
    anna.see(".finding")
    anna.press("s", "2")
    anna.until_saved()
    assert [kind for kind, *_ in told(anna)] == ["finding", "decision", "undo", "undo"]


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
    assert [kind for kind, *_ in told(anna)] == ["finding", "decision"]


def test_a_note_that_was_begun_outlives_a_look_at_the_list(anna):
    anna.press("3")
    anna.page.get_by_label("A new note").fill("not yet")
    anna.page.get_by_role("link", name="Exams").click()
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
    assert (entry.kind, entry.content["text"]) == ("note", "a rum mass u r")


def test_a_polyp_on_a_flagged_frame_is_offered_as_its_event_and_is_not_missed(anna, events):
    anna.press("m")
    anna.see("dialog:has-text('This frame is in event 1')")
    anna.press("Enter")
    anna.until_saved()
    entries = anna.server.entries(VIDEO)
    assert [entry.kind for entry in entries] == ["finding", "decision"]
    assert entries[0].content["missed"] is False
    assert entries[1].subject == name(events[0])
    for key in ("m", "Shift+A"):  # marked again it is no second finding
        anna.press(key)
        anna.see(".toast:has-text('finding 1 already')")
    anna.until_saved()
    assert anna.server.entries(VIDEO) == entries


def test_an_undo_that_changes_nothing_says_so(anna, serve, enter):
    bert = enter(serve(reader="bert"))
    anna.press("r")
    anna.until_saved()
    bert.read(VIDEO)
    bert.see(".notice:has-text('anna decided in this exam, too')")
    bert.page.locator(".card").first.click()
    bert.see(".decisions:has-text('Event 1 of')")
    bert.press("u")
    bert.until_saved()
    anna.see(".card:first-child .badge.unsure")
    anna.press("Control+z")
    anna.see(".toast:has-text('Nothing changed by it')")
    anna.see(".card:first-child .badge.unsure")


def test_times_and_numbers_of_findings_are_those_of_the_report(anna, events):
    late, early = sorted(events[:2], key=lambda event: -event["best_frame"])
    for event in (late, early):
        anna.page.locator(".card").nth(events.index(event)).click()
        anna.until_frame(event["best_frame"])
        anna.press("a")
        anna.see(f".card[data-place='{events.index(event)}'] .badge.accept")
        anna.until_saved()
    anna.press("2")
    anna.see(".findings fieldset")
    anna.press("Escape")
    anna.until("() => document.querySelectorAll('.finding .text').length === 2")
    rows = anna.page.locator(".finding .text").all_inner_texts()
    report = anna.page.request.get(f"{anna.server.address}/api/exams/{VIDEO}/export/report.html")
    reading = anna.page.request.get(f"{anna.server.address}/api/exams/{VIDEO}/reading").json()
    frames = [finding["content"]["best"]["frame"] for finding in reading["findings"]]
    assert frames == sorted(frames) == [early["best_frame"], late["best_frame"]]
    for number, row in enumerate(rows, start=1):
        time = row.splitlines()[-1].partition(" ")[0]
        assert row.startswith(f"{number} ")
        assert time in report.text()
