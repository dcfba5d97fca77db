"""Several readers: blind, and a pre-reader with a validator."""

import re

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow


@pytest.fixture
def best(screened):
    return [event["best_frame"] for event in events_of(screened, VIDEO)]


def decide(person, keys, best):
    """Decide the first events, as they come."""
    for key, frame in zip(keys, best, strict=False):
        person.until_frame(frame)
        person.press(key)
    person.until_saved()


def test_two_read_blind_and_meet_in_the_consensus(serve, enter, best):
    anna = enter(serve("--workflow", "blind"))
    bert = enter(serve("--workflow", "blind", reader="bert"))
    for person in (anna, bert):
        person.read(VIDEO)
    decide(anna, "rru", best)
    # What one has said, the other does not see: on no card, and not in what the server tells.
    bert.until_frame(best[0])
    bert.press("Shift+U")
    bert.until_saved()
    assert bert.page.locator(".card:has-text('rejected')").count() == 0
    entries = bert.page.request.get(f"{bert.server.address}/api/exams/{VIDEO}/entries").json()
    assert {entry["reader"] for entry in entries} == {"bert"}
    row = bert.window(bert.server.address).locator(f"tr[data-exam={VIDEO}]:has-text('bert')")
    row.wait_for()
    assert not re.search("anna|another reader", row.inner_text())
    bert.page.get_by_role("button", name="Differences").click()
    bert.see("dialog:has-text('visible when both are signed')")
    bert.expect("409")  # that is how the server says so
    bert.press("Escape")

    decide(bert, "rur", best)
    for person in (anna, bert):
        person.sign()
    for person in (anna, bert):
        person.page.get_by_role("button", name="Differences").click()
        person.see("dialog:has-text('Kappa')")
        assert person.page.locator("dialog table.differences tbody tr").count() >= 2

    carl = enter(serve("--workflow", "blind", "--role", "consensus", reader="carl"))
    carl.read(VIDEO)
    carl.until_frame(best[1])  # the first event on which they differ
    carl.page.locator(".card").first.click()
    carl.until_frame(best[0])
    carl.press("a")
    carl.see(".toast:has-text('Both readers agree')")
    carl.page.get_by_role("button", name="Differences").click()
    row = carl.see("dialog tr:has-text('event 2')")
    assert "open" in row.inner_text()
    row.get_by_role("button", name="Show").click()
    carl.until_frame(best[1])
    carl.press("r")
    carl.until_saved()
    last = carl.server.entries(VIDEO)[-1]
    assert (last.reader, last.role, last.content["decision"]) == ("carl", "consensus", "reject")


def test_a_pre_reader_decides_and_the_validator_validates_and_signs(serve, enter, best):
    pia = enter(serve("--workflow", "validated", reader="pia"))
    pia.read(VIDEO)
    pia.until_frame(best[0])
    pia.press("a", "s", "1")
    pia.until_saved()
    pia.press("n")
    pia.until_frame(best[1])
    pia.press("r")
    pia.until_saved()
    pia.press("Control+Enter")
    pia.see(".toast:has-text('The validator signs')")

    vera = enter(serve("--workflow", "validated", "--role", "validator", reader="vera"))
    vera.see("tr:has-text('2 to validate')")
    vera.read(VIDEO)
    vera.until_frame(best[0])
    vera.see(".strip:has-text('1 to validate')")
    vera.press("Control+Enter")
    vera.see("dialog:has-text('1 to validate'):has-text('Pre-read by pia')")
    vera.press("Enter")  # without a reason nothing is signed
    vera.see("dialog")
    vera.press("Escape")
    vera.page.locator("dialog").wait_for(state="hidden")
    vera.press("Enter")  # the next to validate: also a rejection
    vera.until_frame(best[1])
    vera.page.locator(".strip:has-text('to validate')").wait_for(state="detached")
    vera.press("u")
    vera.until_saved()
    # The pre-reader changes nothing that the validator decided; her window follows.
    pia.see(".card:nth-child(2) .badge.unsure")
    pia.page.locator(".card").nth(1).click()
    pia.until_frame(best[1])
    pia.expect("403")
    pia.press("a")
    pia.see(".save:has-text('1 action not taken')").get_by_role("button").click()
    pia.see("dialog:has-text('as validator')")
    vera.sign()
    kinds = [(entry.reader, entry.kind) for entry in vera.server.entries(VIDEO)]
    assert kinds == [
        ("pia", "finding"),
        ("pia", "decision"),
        ("pia", "finding"),
        ("pia", "decision"),
        ("vera", "decision"),
        ("vera", "sign"),
    ]
    statement = vera.server.entries(VIDEO)[-1].content["statement"]
    assert statement == "Pre-read by pia, validated by vera."
