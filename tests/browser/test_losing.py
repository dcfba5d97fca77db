"""Nothing is lost when the server dies; other windows follow."""

import json

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow
DOWN = "net::ERR_|401"
"""What the console shows while the server is down, and before its link is opened again."""


@pytest.fixture
def anna(serve, enter, screened):
    """Somebody in front of the first event of an exam."""
    person = enter(serve())
    person.read(VIDEO)
    person.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    return person


def test_what_is_decided_while_the_server_is_dead_arrives_once(serve, enter, screened):
    server = serve()
    anna = enter(server)
    anna.read(VIDEO)
    best = [event["best_frame"] for event in events_of(screened, VIDEO)]
    anna.until_frame(best[0])
    anna.press("r")
    anna.until_frame(best[1])
    anna.until_saved()
    for key, frame in zip("nnpp", (best[2], best[3], best[2], best[1]), strict=True):
        anna.press(key)  # what was seen before can be seen again without a server
        anna.until_frame(frame)
    link = server.link
    anna.expect(DOWN)
    server.kill()
    for key, frame in zip("uru", best[1:], strict=False):
        anna.until_frame(frame)
        anna.press(key)
    anna.see(".save:has-text('3 actions waiting')")
    assert len(server.entries(VIDEO)) == 1
    server.start()
    assert server.link != link
    anna.see(".save:has-text('open the room')")
    anna.window(server.link)  # the reader opens the new link; the window that was open goes on
    anna.until_saved()
    entries = server.entries(VIDEO)
    said = [entry.content["decision"] for entry in entries]
    assert said == ["reject", "unsure", "reject", "unsure"]
    assert len({entry.subject for entry in entries}) == 4
    assert len({entry.key for entry in entries}) == 4


def test_what_waits_survives_the_end_of_the_window(anna):
    anna.expect(DOWN)
    anna.server.kill()
    anna.press("Shift+R")
    anna.see(".save:has-text('1 action waiting')")
    anna.page.close()
    anna.server.start()
    anna.page = anna.window(anna.server.link)
    anna.read(VIDEO)
    anna.until_saved()
    assert [entry.content["decision"] for entry in anna.server.entries(VIDEO)] == ["reject"]


@pytest.mark.parametrize("status", [500, 507])
def test_what_a_full_disk_refuses_waits_and_arrives(anna, status):
    anna.refuse("**/entries", status, "The disk is full.")
    anna.press("Shift+R")
    anna.see(".save:has-text('The disk is full: 1 action waiting')")
    anna.listen("**/entries")
    anna.until_saved()
    assert [entry.content["decision"] for entry in anna.server.entries(VIDEO)] == ["reject"]


def test_what_is_not_allowed_is_told_and_holds_nothing_up(anna):
    anna.refuse("**/entries", 403, "Only the validator signs the exam.")
    anna.press("Shift+R")
    anna.see(".save:has-text('1 action not taken')").get_by_role("button").click()
    anna.see("dialog:has-text('Only the validator signs the exam.')")
    anna.page.get_by_role("button", name="I have read this").click()
    anna.listen("**/entries")
    anna.press("Shift+U")
    anna.until_saved()
    assert [entry.content["decision"] for entry in anna.server.entries(VIDEO)] == ["unsure"]


def test_what_was_refused_is_told_after_a_reload_until_it_was_read(anna):
    anna.refuse("**/entries", 422, "There is no such frame.")
    anna.press("Shift+R")
    anna.see(".save:has-text('1 action not taken')")
    anna.listen("**/entries")
    for _ in range(2):
        anna.page.reload()
        anna.see(".save:has-text('1 action not taken')").get_by_role("button").click()
        anna.see("dialog:has-text('There is no such frame.')")
        anna.see("dialog:has-text('rejected')")
    anna.page.get_by_role("button", name="I have read this").click()
    anna.until_saved()
    anna.page.reload()
    anna.until_saved()
    assert anna.server.entries(VIDEO) == []


def test_an_exam_that_was_screened_again_is_opened_again(serve, enter, screened):
    server = serve()
    anna = enter(server)
    anna.read(VIDEO)
    best = events_of(screened, VIDEO)[0]["best_frame"]
    anna.until_frame(best)
    record = screened / VIDEO / "exam.json"
    before = record.read_text()
    said = json.loads(before)
    try:
        # Another screening with the same events, by another version.
        said["versions"] = {**said["versions"], "capsieve": "another"}
        record.write_text(json.dumps(said))
        anna.expect("409")
        anna.press("Shift+R")
        anna.see(".save:has-text('1 action not taken')").get_by_role("button").click()
        anna.see("dialog:has-text('screened again')")
        again = anna.page.get_by_role("button", name=f"Open {VIDEO} again")
        anna.drawn(again.click)
        anna.until_frame(best)
        anna.press("Shift+U")
        anna.see(".save:has-text('not taken')").get_by_role("button").click()
        anna.page.get_by_role("button", name="I have read this").click()
        anna.until_saved()
        assert [each.content["decision"] for each in server.entries(VIDEO)] == ["unsure"]
    finally:
        record.write_text(before)


def test_an_ended_room_has_another_link(serve):
    server = serve()
    link = server.link
    server.stop()
    server.start()
    assert server.link != link


def test_a_second_window_follows_the_first(anna):
    other = anna.window(f"{anna.server.address}/#/exam/{VIDEO}")
    first = other.locator(".card").first
    first.wait_for()
    anna.press("r")
    other.locator(".card:has-text('rejected')").wait_for()
    listed = anna.window(anna.server.address)
    listed.locator("tr:has-text('in reading')").wait_for()
