"""The page itself: its keys, its names, its words for those who do not see it."""

import re
from pathlib import Path

import pytest

from browser.exams import TWO_HEADS, VIDEO, events_of

pytestmark = pytest.mark.slow
KEYMAP = Path(__file__).parents[2] / "web" / "src" / "keymap.ts"
# What a browser takes for the name of a control; its own computation is not open to scripts.
NAMELESS = """() => [...document.querySelectorAll("button, a[href], input, select, textarea")]
  .filter((one) => one.getClientRects().length > 0)
  .filter((one) => {
    const labels = [...(one.labels ?? [])].map((label) => label.innerText);
    const said = [one.ariaLabel, one.title, one.innerText, ...labels];
    return !said.some((words) => /[\\p{L}\\d]/u.test(words ?? ""));
  })
  .map((one) => one.outerHTML)"""


def test_the_overview_lists_every_key_of_the_keymap(serve, enter):
    bindings = re.findall(r"keys: \[(.*?)\], words: \"(.*?)\"", KEYMAP.read_text("utf-8"))
    assert len(bindings) > 40
    anna = enter(serve())
    anna.read(VIDEO)
    anna.press("?")
    anna.see("dialog .keys")
    shown = anna.page.eval_on_selector_all(
        "dialog dt", "all => all.map(dt => [dt.innerText, dt.nextElementSibling.innerText])"
    )
    expected = [[" ".join(re.findall(r'"(.*?)"', keys)), words] for keys, words in bindings]
    assert sorted(shown) == sorted(expected)
    anna.press("r")  # a key that decides does nothing behind the overview
    anna.press("Escape")
    anna.page.locator("dialog").wait_for(state="detached")
    assert anna.server.entries(VIDEO) == []


def test_everything_that_can_be_pressed_has_a_name(serve, enter):
    anna = enter(serve())
    anna.see("table.exams tbody tr")
    assert anna.page.evaluate(NAMELESS) == []
    anna.read(TWO_HEADS)
    anna.press("m")
    for tab in "1234":
        anna.press(tab)
        assert anna.page.evaluate(NAMELESS) == []
    anna.press("Control+Enter")
    anna.see("dialog")
    assert anna.page.evaluate(NAMELESS) == []


def test_what_happens_is_said_aloud(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    first, second, *_ = events_of(screened, VIDEO)
    anna.until_frame(first["best_frame"])
    says = "words => document.getElementById('live').textContent.includes(words)"
    anna.until(says, f"Frame {first['best_frame']}, ")
    anna.press("Shift+R")
    anna.until(says, "rejected")
    anna.press("n")
    anna.until(says, f"Frame {second['best_frame']}, ")


def test_a_reader_without_a_mouse_reaches_the_panel(serve, enter):
    anna = enter(serve())
    anna.read(VIDEO)
    for key, name in zip("1234", ("Why", "Findings", "Exam", "Threshold"), strict=True):
        anna.press(key)
        anna.see(f"[role=tab][aria-selected=true]:has-text('{name}')")
        anna.see(f"#part-{name}")


def test_the_threshold_tells_how_much_there_would_be_to_read(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.press("4")
    panel = anna.see("#part-Threshold")
    assert re.search(r"[^.]\. A frame is flagged from the threshold on\.", panel.inner_text())
    flagged = sum(event["frames"] for event in events_of(screened, VIDEO))
    anna.see(f".work:has-text('{flagged} frames')")
    slider = anna.page.get_by_role("slider", name="Threshold")
    slider.focus()
    anna.press("Home")
    anna.see(".work:has-text('+')")


def test_the_evidence_of_a_frame_is_shown_in_words_and_as_a_map(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.see("#part-Why table, #part-Why .values")
    with anna.page.expect_response(lambda answer: answer.url.endswith(".png") and answer.ok):
        anna.press("v", "x")
