"""Nothing is lost when the server dies; other windows follow."""

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow
DOWN = "net::ERR_|401"
"""What the console shows while the server is down, and before its link is opened again."""


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
    assert server.link == link
    anna.see(".save:has-text('open the room')")
    anna.window(link)  # the reader opens the same link again; the window that was open goes on
    anna.until_saved()
    entries = server.entries(VIDEO)
    said = [entry.content["verdict"] for entry in entries]
    assert said == ["reject", "unsure", "reject", "unsure"]
    assert len({entry.subject for entry in entries}) == 4
    assert len({entry.key for entry in entries}) == 4


def test_what_waits_survives_the_end_of_the_window(serve, enter, screened):
    server = serve()
    anna = enter(server)
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.expect(DOWN)
    server.kill()
    anna.press("Shift+R")
    anna.see(".save:has-text('1 action waiting')")
    anna.page.close()
    server.start()
    anna.page = anna.window(server.link)
    anna.read(VIDEO)
    anna.until_saved()
    assert [entry.content["verdict"] for entry in server.entries(VIDEO)] == ["reject"]


def test_an_ended_room_has_another_link(serve):
    server = serve()
    link = server.link
    server.stop()
    server.start()
    assert server.link != link


def test_a_second_window_follows_the_first(serve, enter, screened):
    server = serve()
    anna = enter(server)
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    other = anna.window(f"{server.address}/#/exam/{VIDEO}")
    first = other.locator(".card").first
    first.wait_for()
    anna.press("r")
    other.locator(".card[aria-label*='rejected']").wait_for()
    listed = anna.window(server.address)
    listed.locator("tr:has-text('in reading')").wait_for()
