"""The page itself: its keys, its names, its words for those who do not see it."""

import re
from pathlib import Path

import pytest

from browser.exams import TWO_HEADS, VIDEO, events_of

pytestmark = pytest.mark.slow
KEYMAP = Path(__file__).parents[2] / "web" / "src" / "keymap.ts"
CONTROLS = {
    *("button", "link", "checkbox", "radio", "textbox", "combobox", "slider", "tab", "option"),
    *("listbox", "dialog", "tabpanel", "group", "menuitem", "progressbar", "table", "image"),
}


def nameless(person):
    """Return what the browser tells a screen reader of, and has no name for."""
    session = person.page.context.new_cdp_session(person.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    shown = [node for node in nodes if not node["ignored"] and node["role"]["value"] in CONTROLS]
    assert shown
    return [
        node for node in shown if not re.search(r"\w", str(node.get("name", {}).get("value", "")))
    ]


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
    assert nameless(anna) == []
    anna.read(TWO_HEADS)
    anna.press("m")
    for tab in "123":
        anna.press(tab)
        assert nameless(anna) == []
    anna.press("g")
    assert nameless(anna) == []
    anna.press("Escape", "Control+Enter")
    anna.see("dialog")
    assert nameless(anna) == []


def test_a_dialog_keeps_the_focus_and_gives_it_back(serve, enter):
    anna = enter(serve())
    anna.read(VIDEO)
    keys = anna.page.get_by_role("button", name="Keys")
    keys.focus()
    anna.press("Enter")
    anna.see("dialog")
    for _ in range(5):
        anna.press("Tab")
        # Between the last and the first the browser's own bar may have it: never the page behind.
        assert anna.page.evaluate(
            "document.activeElement === document.body || "
            "document.activeElement.closest('dialog') !== null"
        )
    anna.press("Escape")
    anna.page.locator("dialog").wait_for(state="detached")
    assert keys.evaluate("one => one === document.activeElement")


def test_a_decision_made_by_tab_and_enter_keeps_the_focus(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.page.get_by_role("button", name="? Unsure").focus()
    anna.press("Enter")
    anna.until_saved()
    assert "Unsure" in anna.page.evaluate("document.activeElement.textContent")


def test_playback_says_nothing_until_it_rests(serve, enter):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.press("Home")
    anna.until_frame(0)
    says = "words => document.getElementById('live').textContent.includes(words)"
    anna.until(says, "Frame 0")
    anna.page.evaluate("""() => {
      window.noted.said = [];
      const live = "[aria-live], [role=status], [role=alert], output";
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const heard = target.parentElement?.closest(live) ?? target.closest?.(live);
          if (heard) window.noted.said.push(heard.textContent);
        }
      }).observe(document, { childList: true, characterData: true, subtree: true });
    }""")
    anna.press("Space")
    anna.until_frame(39)
    anna.until(says, "Frame 39")
    assert anna.page.evaluate("window.noted.said.filter((words) => /Frame/.test(words))") == [
        anna.page.evaluate("document.getElementById('live').textContent")
    ]


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
    for key, name in zip("123", ("Why", "Findings", "Exam"), strict=True):
        anna.press(key)
        anna.see(f"[role=tab][aria-selected=true]:has-text('{name}')")
        anna.see(f"#part-{name}")


def test_the_evidence_of_a_frame_is_shown_in_words_and_as_a_map(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.see("#part-Why:has-text('A round bulge: size')")
    anna.page.locator("#part-Why summary").click()
    anna.see("#part-Why table.values")
    with anna.page.expect_response(lambda answer: answer.url.endswith(".png") and answer.ok):
        anna.press("v", "x")
