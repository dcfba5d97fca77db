"""Names and passwords: in, out, and nobody decides in another one's name."""

import subprocess
import sys

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow
PASSWORD = "seven small boats"


@pytest.fixture
def room(serve, tmp_path):
    users = tmp_path / "users.json"
    for name in ("anna", "bert"):
        line = ["users", "add", name, "--role", "reader", "--users", str(users)]
        subprocess.run(
            [sys.executable, "-m", "capsieve", *line],
            input=f"{PASSWORD}\n{PASSWORD}\n",
            text=True,
            check=True,
            capture_output=True,
            start_new_session=True,  # no terminal: the password is read from stdin
        )
    return serve("--users", str(users), reader=None)


@pytest.fixture
def anna(room, enter):
    person = enter(room)
    person.log_in("anna", PASSWORD)
    return person


def out(person):
    person.page.get_by_role("button", name="Log out", exact=True).click()


def test_who_logs_out_is_out(anna, room):
    anna.expect("401")  # what the page asks for once more while it goes
    out(anna)
    anna.page.get_by_label("Password").wait_for()
    anna.page.goto(room.address)
    anna.page.get_by_label("Password").wait_for()
    assert anna.page.request.get(f"{room.address}/api/room").status == 401


def test_who_came_by_the_link_has_no_way_out(serve, enter):
    anna = enter(serve())
    anna.see("table.exams tbody tr")
    assert anna.page.get_by_role("button", name="Log out").count() == 0


def test_logging_out_tells_what_is_not_saved_and_loses_nothing(anna, room, screened):
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.refuse("**/entries", 503, "The database is busy.")
    anna.press("Shift+R")
    anna.see(".save:has-text('1 action waiting')")
    out(anna)
    anna.see("dialog:has-text('1 action is not saved on the server yet')")
    anna.press("Enter")  # stay
    anna.page.locator("dialog").wait_for(state="detached")
    anna.see(".exam")
    out(anna)
    anna.see("dialog")
    anna.expect("401")
    anna.page.get_by_role("button", name="Log out all the same").click()
    anna.page.get_by_label("Password").wait_for()
    assert room.entries(VIDEO) == []
    anna.listen("**/entries")
    anna.log_in("anna", PASSWORD)
    anna.until_saved()
    assert [entry.content["decision"] for entry in room.entries(VIDEO)] == ["reject"]


def test_nobody_decides_in_the_name_of_who_logs_in_next(anna, room, screened):
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.refuse("**/entries", 503, "The database is busy.")
    anna.press("Shift+R")
    anna.see(".save:has-text('1 action waiting')")
    anna.expect("401|ERR_INCOMPLETE_CHUNKED_ENCODING")
    first, anna.page = anna.page, anna.window(room.address)
    anna.see("table.exams tbody tr")
    out(anna)
    anna.page.get_by_role("button", name="Log out all the same").click()
    anna.log_in("bert", PASSWORD)
    first.get_by_text("bert has logged in here").wait_for()
    anna.listen("**/entries")
    first.wait_for_timeout(1500)
    assert room.entries(VIDEO) == []
