"""The list of exams, and the numbers that list, page, dialog and report share."""

import re

import pytest

from browser.exams import IMAGES, TWO_HEADS, VIDEO, events_of

pytestmark = pytest.mark.slow


def find(pattern, text):
    """Return the match of a pattern that the text must contain."""
    found = re.search(pattern, text)
    assert found is not None, (pattern, text)
    return found


def shown(person):
    """Return the exams of the list, in their order."""
    links = person.page.locator("table.exams tbody a[data-exam]")
    return links.evaluate_all("all => all.map(link => link.dataset.exam)")


def test_the_list_is_searched_filtered_and_sorted(serve, enter, screened):
    anna = enter(serve())
    anna.see("table.exams tbody tr")
    assert set(shown(anna)) == {IMAGES, TWO_HEADS, VIDEO}
    anna.page.get_by_role("button", name="Exam", exact=True).click()
    assert shown(anna) == sorted(shown(anna))
    anna.page.get_by_role("button", name="Events", exact=True).click()
    cells = anna.page.locator("td.col-events").all_inner_texts()
    counts = [int(find(r"^\d+", cell)[0]) for cell in cells]
    assert counts == sorted(counts, reverse=True)
    anna.press("/")
    anna.page.keyboard.type(f"?{VIDEO}")  # letters in the search are letters
    anna.see("text=No exam matches")
    anna.press("Home", "Delete")
    assert shown(anna) == [VIDEO]
    anna.press("ArrowDown", "Enter")
    anna.see(".exam .caption:has-text('frame')")
    anna.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    anna.press("r")
    anna.until_saved()
    anna.page.get_by_role("link", name="Exams").click()
    anna.see(f"tr[data-exam={VIDEO}]:has-text('by anna')")
    assert shown(anna) == [VIDEO]  # search and order are unchanged
    anna.page.get_by_label("Search exams").fill("")
    anna.page.get_by_role("button", name=re.compile("^In reading")).click()
    assert shown(anna) == [VIDEO]
    anna.page.get_by_role("button", name=re.compile("^Unread")).click()
    assert set(shown(anna)) == {IMAGES, TWO_HEADS}


def test_the_list_follows_what_another_reader_does(serve, enter, screened):
    anna = enter(serve())
    anna.see("table.exams tbody tr")
    bert = enter(serve(reader="bert"))
    bert.read(VIDEO)
    bert.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    bert.press("r")
    bert.until_saved()
    anna.see(f"tr[data-exam={VIDEO}]:has-text('by bert')")


def test_list_page_dialog_and_report_show_the_same_numbers(serve, enter, screened):
    anna = enter(serve())
    anna.read(VIDEO)
    first, second, *_ = events = [e["best_frame"] for e in events_of(screened, VIDEO)]
    anna.until_frame(first)
    anna.press("r")
    anna.until_frame(second)
    anna.press("ArrowRight")
    anna.until_frame(second + 1)
    anna.until_saved()
    anna.press("Control+Enter")
    dialog = anna.see("dialog:has-text('Signing freezes')").inner_text()
    anna.press("Escape", "3")
    panel = anna.see("#part-Exam").inner_text()
    strip = anna.see(".strip header").inner_text()
    report = anna.page.request.get(
        f"{anna.server.address}/api/exams/{VIDEO}/export/report.html"
    ).text()
    anna.page.goto(f"{anna.server.address}/#/")
    row = anna.see(f"tr[data-exam={VIDEO}] .col-decided").inner_text()

    pattern = r"([<>]? ?[\d.]+ %) of all frames displayed \((\d+) of (\d+)\)"
    displayed = [find(pattern, dialog), find(pattern, panel)]
    share, number, frames = displayed[0].groups()
    assert displayed[1].groups() == (share, number, frames)
    assert f"Displayed: {number} of {frames} frames ({share})" in report
    assert frames == "40"
    assert int(number) >= 3

    decided = find(r"(\d+) of (\d+) events decided", dialog)
    assert decided.groups() == ("1", str(len(events)))
    assert find(r"^1 of (\d+)", row.strip())[1] == decided[2]
    assert f"{len(events) - 1} of {len(events)} open" in strip
    assert f"flagged {len(events)} events: 1 no polyp, {len(events) - 1} undecided" in report
    opened = find(r"(\d+) of (\d+) offered events opened", dialog)
    assert f"Offered: {opened[2]} of {len(events)} events" in report
    assert f"{opened[1]} of them were opened and 1 decided" in report

    to_read = find(r"(\d+) of (\d+) frames to read displayed, (\d+) viewed", dialog)
    assert to_read[0] in panel
    assert to_read[0] in row
    assert f"{to_read[1]} of {to_read[2]} were displayed and {to_read[3]} viewed" in report
