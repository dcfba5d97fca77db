"""Signing freezes, opening again is a new version, and decisions leave as files."""

import csv
import io
import re

import pytest

from browser.exams import VIDEO, events_of

pytestmark = pytest.mark.slow


@pytest.fixture
def anna(serve, enter, screened):
    person = enter(serve())
    person.read(VIDEO)
    person.until_frame(events_of(screened, VIDEO)[0]["best_frame"])
    return person


def test_a_signed_exam_takes_nothing_until_it_is_opened_again(anna):
    anna.press("Shift+R")
    anna.sign()
    before = anna.server.entries(VIDEO)
    assert [entry.kind for entry in before] == ["decision", "sign"]
    assert len(before[-1].content["hash"]) == 64
    for key in ("a", "m", "!"):
        anna.press(key)
        anna.page.locator(".toast:has-text('This exam is signed')").last.wait_for()
    assert anna.server.entries(VIDEO) == before

    anna.press("Control+Enter")
    anna.see("dialog input")
    anna.page.keyboard.type("a second look")
    anna.press("Enter")
    anna.see(".examstate:has-text('revision 2')")
    anna.press("Shift+U")
    anna.until_saved()
    after = anna.server.entries(VIDEO)[2:]
    assert [(entry.kind, entry.revision) for entry in after] == [("reopen", 2), ("decision", 2)]
    assert after[0].content == {"kind": "reopen", "reason": "a second look"}


def test_decisions_and_labels_leave_as_files(anna, screened, tmp_path):
    first, second, *_ = events_of(screened, VIDEO)
    anna.press("a")
    anna.until_saved()
    anna.press("n")
    anna.until_frame(second["best_frame"])
    anna.press("r")
    anna.until_saved()
    anna.press("3")
    files = {}
    for link in ("Decisions (CSV)", "Labels for evaluate and train (CSV)"):
        with anna.page.expect_download() as download:
            anna.page.get_by_role("link", name=link).click()
        # The server names the file: with the exam and the date.
        found = re.fullmatch(
            rf"{VIDEO}-(decisions|labels)-\d{{4}}-\d\d-\d\d\.csv", download.value.suggested_filename
        )
        assert found is not None
        name = f"{found[1]}.csv"
        files[name] = tmp_path / name
        download.value.save_as(files[name])
    rows = {name: list(csv.DictReader(io.StringIO(f.read_text()))) for name, f in files.items()}
    said = {(row["exam"], int(row["frame"])): row["label"] for row in rows["labels.csv"]}
    assert said[VIDEO, first["best_frame"]] == "polyp"
    assert said[VIDEO, second["best_frame"]] == "normal"
    assert [row["kind"] for row in rows["decisions.csv"]] == ["finding", "decision", "decision"]


def test_what_another_window_added_is_looked_at_before_it_is_signed(anna, screened):
    frame = events_of(screened, VIDEO)[0]["best_frame"]
    anna.ask_to_sign()
    other = anna.window(f"{anna.server.address}/#/exam/{VIDEO}")
    other.locator(".exam .caption:has-text('frame')").wait_for()
    other.wait_for_function("frame => window.noted.frames.at(-1) === frame", arg=frame)
    other.keyboard.press("Shift+R")
    other.locator(".save:has-text('✓ saved')").wait_for()

    anna.expect("409")
    anna.press("Enter")
    told = anna.see("dialog:has-text('Not signed')")
    assert f"decision, frame {frame} of head 0: rejected (anna)" in told.inner_text()
    anna.press("Enter")  # I have read this
    assert [entry.kind for entry in anna.server.entries(VIDEO)] == ["decision"]
    anna.sign()
    assert [entry.kind for entry in anna.server.entries(VIDEO)] == ["decision", "sign"]


def test_frames_that_were_just_seen_are_part_of_what_is_signed(anna, screened):
    best = events_of(screened, VIDEO)[0]["best_frame"]
    for frame in (best + 1, best + 2, best + 3):
        anna.press("ArrowRight")
        anna.until_frame(frame)
    anna.sign()
    (signature,) = anna.server.entries(VIDEO)
    assert signature.content["displayed_frames"] >= 4


def test_what_is_left_open_is_signed_only_with_a_reason(anna, screened):
    first, *others = events_of(screened, VIDEO)
    anna.press("a")
    anna.until_saved()
    anna.press("Control+Enter")
    dialog = anna.see("dialog:has-text('Signing freezes')")
    assert f"1 of {len(others) + 1} events decided" in dialog.inner_text()
    assert "✓ 1 of" not in dialog.inner_text()
    anna.press("Enter")
    anna.see(f"dialog:has-text('{len(others)} reasons missing')")
    dialog.get_by_role("button", name="Event 2, ").click()  # each line leads to its place
    anna.until_frame(others[0]["best_frame"])
    anna.press("Control+Enter")
    anna.page.locator("dialog .reason input").first.fill("only a bubble")
    anna.page.locator("dialog [data-field=all]").fill("seen at high speed")
    anna.press("Enter")
    anna.see("dialog:has-text('The exam is signed')")
    signature = anna.server.entries(VIDEO)[-1].content
    subjects = [f"event:0:{event['best_frame']}" for event in others]
    assert signature["reasons"] == dict.fromkeys(subjects, "seen at high speed")
    assert signature["offered"] == [f"event:0:{first['best_frame']}", *subjects]
    assert signature["opened"] == [f"event:0:{e['best_frame']}" for e in (first, others[0])]
    anna.press("Enter")  # the next exam
    anna.page.wait_for_function(f"location.hash !== '' && !location.hash.includes('{VIDEO}')")


def test_a_text_that_was_not_added_outlives_a_reload_and_is_added_before_signing(anna):
    anna.press("3")
    anna.page.get_by_label("A new note").fill("a second look is needed")
    anna.see(".save:has-text('1 text not added')")
    anna.page.goto(f"{anna.server.address}/#/")
    anna.see(f"tr[data-exam={VIDEO}]:has-text('typed and not added')")
    anna.page.go_back()
    anna.see(".exam .caption:has-text('frame')")
    anna.page.reload()
    anna.see(".save:has-text('1 text not added')")
    anna.see(".exam .caption:has-text('frame')")
    anna.ask_to_sign()
    anna.see("dialog:has-text('a second look is needed')")
    assert anna.page.get_by_role("button", name="Sign as anna").is_disabled()
    anna.page.locator("dialog").get_by_role("button", name="Show").click()
    anna.page.get_by_role("button", name="Add to the exam").click()
    anna.see(".save:not(:has-text('not added'))")
    anna.sign()
    kinds = [entry.kind for entry in anna.server.entries(VIDEO)]
    assert kinds == ["note", "sign"]
