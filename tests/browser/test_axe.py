"""Accessibility: axe-core finds no violation in any state of the page, light and dark."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from browser.exams import TWO_HEADS, VIDEO, events_of

pytestmark = pytest.mark.slow
AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
TABLET = {"width": 768, "height": 1024}


@pytest.fixture(scope="module")
def axe():
    if not AXE.exists():
        pytest.skip("axe-core is not installed: make web")
    return AXE.read_text("utf-8")


@pytest.fixture
def check(axe):
    """Return what runs axe over the present page, and asserts that it finds nothing."""

    def run(person):
        person.page.evaluate(axe)  # not a script of the page: its content policy does not apply
        options = json.dumps({"runOnly": RULES})
        found = person.page.evaluate(f"axe.run(document, {options})")
        assert [
            (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]])
            for each in found["violations"]
        ] == []

    return run


def test_log_in(serve, enter, check, tmp_path):
    users = tmp_path / "users.json"
    command = [sys.executable, "-m", "capsieve", "users", "add", "anna", "--role", "reader"]
    subprocess.run(
        [*command, "--users", str(users)],
        input="seven small boats\n" * 2,
        text=True,
        check=True,
        capture_output=True,
        start_new_session=True,  # no terminal: the password is read from stdin
    )
    anna = enter(serve("--users", str(users), reader=None))
    check(anna)
    anna.expect("401")
    anna.page.get_by_label("Name").fill("anna")
    anna.page.get_by_label("Password").fill("wrong")
    anna.page.get_by_role("button", name="Log in").click()
    anna.see(".problem")
    check(anna)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_list_exam_and_dialogs(serve, enter, check, screened, colours):
    anna = enter(serve(), color_scheme=colours)
    anna.see("table.exams tbody tr")
    check(anna)
    anna.read(VIDEO)
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    check(anna)
    anna.press("a", "2")
    anna.until_saved()
    check(anna)
    anna.press("3")
    anna.page.get_by_label("A new note").fill("not added")
    check(anna)
    anna.page.keyboard.press("Escape")
    anna.press("?")
    anna.see("dialog .keys")
    check(anna)
    anna.press("Escape")
    anna.page.get_by_role("button", name="Discard").click()
    anna.ask_to_sign()
    check(anna)
    anna.press("Enter")
    anna.see("dialog:has-text('The exam is signed')")
    check(anna)
    anna.press("Escape")
    check(anna)
    anna.press("Control+Enter")
    anna.see("dialog:has-text('Reopen')")
    check(anna)


@pytest.mark.parametrize("exam", [VIDEO, TWO_HEADS])
def test_tablet(serve, enter, check, exam):
    anna = enter(serve(), viewport=TABLET, has_touch=True)
    anna.see("table.exams tbody tr")
    check(anna)
    anna.read(exam)
    check(anna)


def test_consensus(serve, enter, check, screened):
    best = [event["best_frame"] for event in events_of(screened, VIDEO)]
    for reader, key in (("anna", "a"), ("bert", "r")):
        person = enter(serve("--workflow", "blind", reader=reader))
        person.read(VIDEO)
        person.until_frame(best[0])
        person.press(key)
        person.sign()
    carl = enter(serve("--workflow", "blind", "--role", "consensus", reader="carl"))
    carl.read(VIDEO)
    carl.page.get_by_role("button", name="Differences").click()
    carl.see("dialog table.differences")
    check(carl)
