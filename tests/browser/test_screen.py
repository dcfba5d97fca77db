"""Nothing is decided that was not on the screen, and the page stays where the reader is."""

import json
import re
import shutil

import pytest

from browser.exams import IMAGES, TWO_HEADS, VIDEO, events_of, rows_of

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


def decided(person, exam=VIDEO):
    person.until_saved()
    return [
        (entry.subject, entry.content["decision"])
        for entry in person.server.entries(exam)
        if entry.kind == "decision"
    ]


def name(event):
    return f"event:{event['head']}:{event['best_frame']}"


def focused(person):
    return person.page.evaluate(
        "document.activeElement.className || document.activeElement.tagName"
    )


def test_a_frame_without_a_picture_is_not_decided_or_counted(serve, enter, screened, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(screened / IMAGES, out / IMAGES)  # its source is not found from here
    record = out / IMAGES / "exam.json"
    said = json.loads(record.read_text())
    for source in said["sources"]:
        source["path"] = source["relative"] = str(tmp_path / "missing")
    record.write_text(json.dumps(said))
    anna = enter(serve(out=out))
    anna.read(IMAGES)
    anna.see(".nopicture:has-text('missing')")
    anna.see(".decisions:has-text('No picture')")
    for button in anna.page.locator(".decisions button:visible").all():
        assert not button.is_enabled()
    anna.press("a", "r", "u", "Shift+A", "Shift+R", "m", "g", "2", "ArrowRight", "r", "End", "r")
    anna.press("Escape")
    anna.page.get_by_role("link", name="Exams").click()
    anna.see("table.exams tbody tr")
    assert anna.server.entries(IMAGES) == []
    told = anna.page.request.get(f"{anna.server.address}/api/exams/{IMAGES}/reading").json()
    assert told["progress"]["displayed"] == 0


@pytest.mark.parametrize("key", ["Space", "Enter"])
def test_after_a_click_the_next_press_decides_nothing(anna, events, key):
    anna.page.locator(".decisions button.reject").click()
    anna.until_frame(events[1]["best_frame"])
    anna.press(key)
    anna.page.wait_for_timeout(600)
    assert decided(anna) == [(name(events[0]), "reject")]


def test_after_a_click_the_focus_is_on_the_picture_and_after_tab_it_stays(anna):
    lanes = anna.see(".timeline canvas.lanes").bounding_box()
    for click in (
        lambda: anna.page.locator(".card").nth(2).click(),
        lambda: anna.page.get_by_role("slider", name="Frames per second").click(),
        lambda: anna.page.mouse.click(lanes["x"] + 30, lanes["y"] + 4),
        lambda: anna.page.get_by_role("button", name="Flagged", exact=True).click(),
        lambda: anna.page.get_by_role("checkbox", name="Next event").click(),
        lambda: anna.page.locator("[role=tab]").nth(1).click(),
    ):
        click()
        assert "stage" in focused(anna)
    anna.page.get_by_role("button", name="Keys").click()
    anna.see("dialog")
    anna.press("Escape")
    anna.page.locator("dialog").wait_for(state="detached")
    assert "stage" in focused(anna)
    slider = anna.page.get_by_role("slider", name="Frames per second")
    slider.focus()
    anna.press("ArrowRight")
    assert slider.evaluate("one => one === document.activeElement")


def test_letters_never_reach_a_list(anna, events):
    anna.press("a")
    anna.until_saved()
    before = anna.server.entries(VIDEO)
    lists = anna.page.locator("#part-Findings :is(select, [aria-haspopup])")
    assert lists.count() == 2
    for each in lists.all():
        each.focus()
        anna.press("s", "Escape", "c", "Escape")
    anna.until_saved()
    assert anna.server.entries(VIDEO) == before
    anna.page.get_by_role("button", name="Segment").click()
    anna.page.get_by_role("menuitem", name="rectum").click()
    anna.until_saved()
    assert anna.server.entries(VIDEO)[-1].content["segment"] == "rectum"


def test_a_key_pressed_three_times_decides_one_event(anna, events):
    anna.press("r", "r", "r")
    anna.until_frame(events[1]["best_frame"])
    assert decided(anna) == [(name(events[0]), "reject")]
    anna.see(".toast:has-text('Event 1 rejected. Ctrl-Z')")
    anna.press("r")  # it has been on the screen: now it counts
    assert decided(anna)[1:] == [(name(events[1]), "reject")]


def test_the_bar_shows_that_the_page_moved_by_itself_and_the_way_back(anna, events):
    anna.press("ArrowRight")
    anna.until_frame(events[0]["best_frame"] + 1)
    anna.until("() => document.querySelector('.decisions button.accept').disabled === false")
    anna.press("r")
    anna.see(".decisions.moved:has-text('look first')")
    anna.until_frame(events[1]["best_frame"])
    anna.page.get_by_role("button", name="Back to where I was").click()
    anna.until_frame(events[0]["best_frame"] + 1)


def test_undo_goes_to_its_place_and_a_held_key_undoes_once(anna, events):
    anna.press("r")
    anna.until_frame(events[1]["best_frame"])
    anna.press("u")
    anna.until_frame(events[2]["best_frame"])
    anna.page.keyboard.down("Control")
    for _ in range(5):
        anna.page.keyboard.down("z")  # held down: the key repeats
    anna.page.keyboard.up("z")
    anna.page.keyboard.up("Control")
    anna.see(".toast:has-text('Undone: event 2 unsure')")
    anna.until_frame(events[1]["best_frame"])
    anna.until_saved()
    assert [entry.kind for entry in anna.server.entries(VIDEO)] == ["decision", "decision", "undo"]


def test_accept_stays_and_enter_goes_on(anna, events):
    anna.press("a")
    anna.until_saved()
    anna.page.wait_for_timeout(400)
    anna.until_frame(events[0]["best_frame"])
    anna.press("Enter")
    anna.until_frame(events[1]["best_frame"])


def test_playback_goes_on_after_a_decision(anna, events):
    anna.press("-", "-", "-", "-", "-", "-", "Home")
    anna.until_frame(0)
    first = min(events, key=lambda event: event["first_frame"])
    anna.press("Space")
    anna.until(
        "number => document.querySelector('.decisions').textContent.includes(`Event ${number} of`)",
        first["event"],
    )
    anna.press("r")
    anna.see(".toast:has-text('rejected')")
    (subject, _), *more = decided(anna)
    assert subject in {name(event) for event in events}
    assert more == []
    anna.until_frame(first["last_frame"] + 4)


def test_a_reload_returns_to_the_place(anna, events):
    frame = events[2]["best_frame"]
    anna.page.locator(".card").nth(2).click()
    anna.until_frame(frame)
    anna.press("f", "z", "z")
    anna.until(
        "frame => location.hash.includes(`frame=${frame}`) && location.hash.includes('zoom=')",
        frame,
    )
    address = anna.page.url
    assert re.search(rf"#/exam/{VIDEO}\?head=0&frame={frame}&mode=flagged&zoom=", address)
    anna.page.reload()
    anna.until_frame(frame)
    anna.see("button[aria-pressed=true]:has-text('Flagged')")
    anna.page.wait_for_timeout(500)
    assert anna.page.url == address
    other = anna.window(address)  # a link that was sent
    other.locator(f".caption:has-text('frame {frame}')").wait_for()


def test_the_place_of_the_detector_is_drawn_without_evidence(serve, enter, events):
    anna = enter(serve())
    anna.page.route("**/evidence/**", lambda route: route.abort())
    anna.expect("ERR_FAILED|willReadFrequently")
    anna.read(VIDEO)
    anna.until_frame(events[0]["best_frame"])
    drawn = """() => {
      const canvas = document.querySelector(".above");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value) => value > 0);
    }"""
    anna.until(drawn)
    anna.press("v", "v")  # no marks
    anna.until(f"() => !({drawn})()")


def test_an_event_is_played_from_its_first_to_its_last_frame(anna, events):
    event = max(events, key=lambda each: each["last_frame"] - each["first_frame"])
    anna.page.locator(".card").nth(events.index(event)).click()
    anna.until_frame(event["best_frame"])

    def play():
        anna.press("q")
        anna.until_frame(event["last_frame"])
        anna.page.wait_for_timeout(600)

    assert anna.drawn(play) == list(range(event["first_frame"], event["last_frame"] + 1))
    assert rows_of(anna.server.out, VIDEO)[event["last_frame"]]["event"] is not None


def test_no_event_of_one_head_is_decided_while_the_other_has_no_picture(serve, enter, screened):
    anna = enter(serve())
    event = events_of(screened, TWO_HEADS)[0]
    anna.read(TWO_HEADS)
    anna.until_frame(event["best_frame"])
    anna.press("r")
    assert decided(anna, TWO_HEADS) == [(name(event), "reject")]


def test_a_page_at_rest_sends_nothing_and_does_not_prolong_the_session(anna):
    anna.press("ArrowRight")
    with anna.page.expect_response("**/viewed"):
        pass
    anna.page.wait_for_timeout(1000)
    sent = []

    def note(request):
        sent.append(request)

    anna.page.on("request", note)
    with anna.page.expect_response("**/reading"):  # the page looks for changes
        anna.page.wait_for_timeout(9000)
    assert {request.method for request in sent} == {"GET"}
    assert all("x-capsieve-automatic" in request.headers for request in sent)


def test_another_event_is_shown_as_a_whole(anna, events):
    anna.press("z", "z")
    anna.until("() => location.hash.includes('zoom=')")
    anna.press("n")
    anna.until_frame(events[1]["best_frame"])
    anna.until("() => location.hash.includes('frame=') && !location.hash.includes('zoom=')")
