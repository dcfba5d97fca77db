"""Canvas, bar and stored entry belong to the same event, at every frame of an exam."""

import io
import re

import numpy as np
import pytest
from PIL import Image

from browser.exams import TWO_HEADS, VIDEO, events_of, rows_of

pytestmark = pytest.mark.slow

SIDE = 64
# The middle square of a head's canvas.
PICTURE = f"""head => {{
  const canvas = document.querySelector(`[aria-label="Frame of head ${{head}}"] .picture`);
  const side = Math.min(canvas.width, canvas.height);
  const [left, top] = [(canvas.width - side) / 2, (canvas.height - side) / 2];
  const small = new OffscreenCanvas({SIDE}, {SIDE}).getContext("2d");
  small.imageSmoothingQuality = "high";
  small.drawImage(canvas, left, top, side, side, 0, 0, {SIDE}, {SIDE});
  return [...small.getImageData(0, 0, {SIDE}, {SIDE}).data];
}}"""


class Reader:
    """Compares canvas, bar and entries with the tables of an exam."""

    def __init__(self, person, out, exam):
        self.person, self.exam = person, exam
        self.api = f"{person.server.address}/api/exams/{exam}"
        self.names = {
            event["event"]: f"{event['head']}:{event['best_frame']}"
            for event in events_of(out, exam)
        }
        self.rows = {head: rows_of(out, exam, head) for head in (0, 1)}
        self.spans = events_of(out, exam)
        self.pictures = {
            head: np.array([self._reference(row) for row in rows])
            for head, rows in self.rows.items()
        }
        self._last = 0
        person.read(exam)
        person.page.get_by_role("checkbox", name="Next event after reject or unsure").uncheck()
        person.press("Home")
        self.until_caption(0, 0)

    def _reference(self, row):
        answer = self.person.page.request.get(f"{self.api}/frames/{row['head']}/{row['frame']}")
        assert answer.headers["x-pixel-hash"] == row["pixel_hash"]
        picture = Image.open(io.BytesIO(answer.body())).convert("RGB")
        return np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BOX), np.float32)

    def until_caption(self, head, frame):
        self.person.until(
            "([head, frame]) => new RegExp(`frame ${frame}\\\\b`).test(document.querySelector("
            '`[aria-label="Frame of head ${head}"] .caption`).textContent)',
            [head, frame],
        )

    def event(self, head, frame):
        """Return the event of a frame: its own, or the shortest one around it."""
        own = self.rows[head][frame]["event"]
        around = [
            each
            for each in self.spans
            if each["head"] == head and each["first_frame"] <= frame <= each["last_frame"]
        ]
        shortest = min(around, key=lambda e: e["last_frame"] - e["first_frame"], default=None)
        return shortest["event"] if own is None and shortest is not None else own

    def drawn(self, head):
        """Return the frame of a head that is most similar to its canvas."""
        shown = np.reshape(self.person.page.evaluate(PICTURE, head), (SIDE, SIDE, 4))[..., :3]
        away = np.abs(self.pictures[head] - shown).mean(axis=(1, 2, 3))
        assert away.min() < 3
        return int(away.argmin())

    def bar(self):
        """Return the number of the event that the bar names; None: it names none."""
        found = re.search(r"Event (\d+) of", self.person.page.inner_text(".decisions"))
        return found and int(found[1])

    def choice(self):
        """Return whether the buttons that decide an event can be pressed."""
        buttons = self.person.page.locator(".decisions button:is(.accept, .reject, .unsure)")
        return {button.is_enabled() for button in buttons.all()}

    def stored(self, *keys):
        """Return the entries that some keys add."""
        self.person.press(*keys)
        self.person.until_saved()
        entries = self.person.page.request.get(f"{self.api}/entries?after={self._last}").json()
        self._last = entries[-1]["number"] if entries else self._last
        return entries

    def check(self, head, frame, key):
        """Press a key at a drawn frame, and compare canvas, bar and entry with the table."""
        event = self.event(head, frame)
        assert self.drawn(head) == frame
        assert self.bar() == event, f"head {head}, frame {frame}"
        assert self.choice() == {event is not None}
        entries = self.stored(key)
        if event is None:
            assert entries == [], f"head {head}, frame {frame}"
            return
        assert len({entry["action"] for entry in entries}) == 1
        *findings, decision = [entry["content"] for entry in entries]
        name = self.names[event]
        assert (decision["kind"], decision["subject"]) == ("decision", f"event:{name}")
        assert decision["frame"] == frame
        assert {each["subject"] for each in findings} <= {f"finding:e{name.replace(':', '-')}"}


@pytest.fixture
def reader(serve, enter, screened, request):
    return Reader(enter(serve()), screened, request.param)


def keys(reader):
    """Return a function that gives a key for a frame; it differs from the last one of its event."""
    count = dict.fromkeys([None, *reader.names], 0)

    def key(head, frame):
        event = reader.event(head, frame)
        count[event] += 1
        return "aru"[count[event] % 3]

    return key


@pytest.mark.parametrize("reader", [VIDEO], indirect=True)
def test_a_decision_goes_to_the_event_of_the_drawn_frame_or_to_none(reader):
    key = keys(reader)
    events = [row["event"] for row in reader.rows[0]]
    assert len(set(events)) > 5
    for frame in range(len(events)):
        reader.until_caption(0, frame)
        reader.check(0, frame, key(0, frame))
        reader.person.press("ArrowRight")


@pytest.mark.parametrize("reader", [TWO_HEADS], indirect=True)
def test_with_two_heads_it_goes_to_the_event_of_the_chosen_one(reader):
    key = keys(reader)
    events = [{row["event"] for row in rows} - {None} for rows in reader.rows.values()]
    assert all(len(each) > 2 for each in events)
    for frame in range(len(reader.rows[0])):
        for head in (0, 1):
            reader.until_caption(head, frame)
        for _ in range(2):
            words = reader.person.see(".frame.chosen").get_attribute("aria-label")
            head = int(words.removeprefix("Frame of head "))
            reader.check(head, frame, key(head, frame))
            reader.person.press("h")
        reader.person.press("ArrowRight")


@pytest.mark.parametrize("reader", [VIDEO], indirect=True)
def test_a_decision_key_pressed_again_stores_nothing(reader):
    best = events_of(reader.person.server.out, VIDEO)[0]["best_frame"]
    reader.person.page.locator(".card").first.click()
    reader.until_caption(0, best)
    for pressed, kinds in (
        ("aaaa", ["finding", "decision"]),
        ("rrrr", ["removed", "decision"]),  # the finding is removed
        ("uuuu", ["decision"]),
        (["Shift+R"] * 4, ["decision"]),
    ):
        assert [entry["kind"] for entry in reader.stored(*pressed)] == kinds
    accept = reader.person.page.locator(".decisions button.accept")
    entries = [accept.click() or reader.stored() for _ in range(4)]
    assert [len(each) for each in entries] == [2, 0, 0, 0]


@pytest.mark.parametrize("reader", [VIDEO], indirect=True)
def test_nothing_is_decided_before_the_frame_that_was_asked_for_is_drawn(reader):
    person = reader.person
    person.page.locator(".card").first.click()
    reader.until_caption(0, events_of(person.server.out, VIDEO)[0]["best_frame"])
    person.expect("ERR_FAILED")
    pack = re.compile(r"/frames/0\?")
    person.page.route(pack, lambda route: route.abort())
    person.press("End")
    assert reader.bar() == 1
    assert reader.stored("a", "r", "u", "Shift+A", "m", "g", "2") == []
    person.page.unroute(pack)
    reader.until_caption(0, len(reader.rows[0]) - 1)
    assert reader.stored("m") != []
