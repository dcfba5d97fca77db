"""The page of a reading."""

import base64
import io
import re
import shutil
import sqlite3

import numpy as np
import pytest
from PIL import Image

from capsieve.decisions.database import ENTRIES
from capsieve.decisions.model import Signature, Urgent, said
from support.html_page import Page
from support.readings import ExamReader, choose_workflow, made_report
from support.small_exam import small_frame, write_small_exam

HOSTILE = '<script>alert("x")</script>\nsecond line \u202etxt.exe'


@pytest.fixture
def exam(tmp_path):
    return write_small_exam(tmp_path / "out", tmp_path / "source")


def page_of(exam, **options):
    return Page(made_report(exam, **options)[1].html)


def classes(page):
    return {name for value in page.values("class") for name in value.split()}


def test_the_report_of_an_unread_exam_has_no_empty_sections(exam):
    page = page_of(exam)
    assert "NOT READ" in page.text
    assert "No decisions yet." in page.text
    ids = set(page.values("id"))
    assert not ids & {"findings", "landmarks", "cleanliness", "events", "seen", "agreement"}
    assert "provenance" in ids


def test_an_unsigned_reading_is_marked_as_a_draft(exam):
    anna = ExamReader(exam)
    anna.decide("event:0:0", "reject")
    page = page_of(exam)
    assert "DRAFT" in page.text
    assert "not signed" in page.text
    assert "draft" in classes(page)
    anna.sign()
    page = page_of(exam)
    assert "DRAFT" not in page.text
    assert "signed by anna" in page.text
    assert "checked: valid" in page.text
    assert "signed" in classes(page)


def test_an_invalid_signature_is_the_first_thing_in_the_report(exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3, note="small")
    signed = anna.sign()
    with sqlite3.connect(exam.parent / "decisions.sqlite") as database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(f"UPDATE {ENTRIES.name} SET content = replace(content, 'small', 'big')")
    database.close()
    page = page_of(exam)
    assert "The signature is not valid" in page.text
    assert "Entries were changed after signing." in page.text
    assert "checked: valid" not in page.text
    assert said(signed, Signature).hash in page.text
    assert "broken" in classes(page)


def test_texts_of_readers_are_escaped(exam):
    anna = ExamReader(exam, reader="<b>anna</b>")
    anna.add_finding("a", 3, note=HOSTILE)
    anna.note(HOSTILE)
    anna.note(HOSTILE, "frame:0:4")
    anna.act(Urgent(text=HOSTILE))
    page = page_of(exam)
    tags = {tag for tag, _ in page.attributes}
    assert not tags & {"script", "b"}
    assert page.text.count('<script>alert("x")</script>') == 4
    assert "\u202e" not in page.text
    assert "<b>anna</b>" in page.text


def test_the_page_fetches_nothing(exam):
    ExamReader(exam).add_finding("a", 3)
    page = page_of(exam)
    assert all(value.startswith("data:image/") for value in page.values("src"))
    assert all(value.startswith(("data:image/", "#")) for value in page.values("href"))
    policies = [each for each in page.values("content") if "default-src" in each]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]
    assert not page.values("style")


def test_the_picture_is_the_frame_that_the_reader_chose(exam):
    ExamReader(exam).add_finding("a", 7, 8)
    (address,) = page_of(exam).values("src")
    content = base64.b64decode(address.partition(",")[2])
    shown = np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), float)
    apart = [np.abs(shown - small_frame(number)).mean() for number in (6, 7, 8)]
    assert apart[1] < 3 < min(apart[0], apart[2])


def test_unsure_events_and_frames_are_pictured_in_the_order_of_the_exam(exam):
    anna = ExamReader(exam)
    anna.decide("event:0:20", "unsure")
    anna.decide("frame:0:7", "unsure")
    anna.decide("event:0:0", "reject")
    page = page_of(exam)
    assert len(page.values("src")) == 2
    assert [each for each in page.values("alt") if "unsure" in each] == [
        "Frame 7, unsure",
        "Frame 20, unsure",
    ]


def test_a_source_that_is_gone_leaves_a_report_without_images(exam, tmp_path):
    ExamReader(exam).add_finding("a", 7, size="small")
    shutil.rmtree(tmp_path / "source")
    _, made = made_report(exam)
    page = Page(made.html)
    assert "This report has no images." in page.text
    assert "small (6 to 9 mm)" in page.text
    assert not page.values("src")
    assert list(made.without_image) == [1]
    assert str(tmp_path) not in made.html


def test_a_frame_that_differs_from_the_scored_one_is_never_shown(exam, tmp_path):
    anna = ExamReader(exam)
    anna.add_finding("a", 3)
    anna.add_finding("b", 9)
    Image.fromarray(small_frame(20)).save(tmp_path / "source" / "frame9.png")
    _, made = made_report(exam)
    assert list(made.without_image) == [2]
    assert len(Page(made.html).values("src")) == 1


def test_findings_are_numbered_in_the_order_of_the_exam(exam):
    anna = ExamReader(exam)
    anna.add_finding("late", 21, segment="rectum", urgent=True)
    anna.add_finding("early", 2, segment="caecum", paris="0-Is", missed=True)
    text = page_of(exam).text
    assert text.index("0-Is, sessile") < text.index("rectum")
    assert "2 findings: 2 without a size. Urgent: 1. Missed by the detector: 1." in text


def test_undone_findings_are_absent(exam):
    anna = ExamReader(exam)
    done = anna.add_finding("a", 3, note="a mistake")
    anna.undo(done.action)
    text = page_of(exam).text
    assert "a mistake" not in text
    assert "No finding was described in this reading." in text


def test_the_report_names_pre_reader_and_validator_and_the_decisions_to_validate(exam):
    choose_workflow(exam, "validated")
    nora, paul = ExamReader(exam, "nora", "pre-reader"), ExamReader(exam, "paul", "validator")
    nora.add_finding("a", 3, size="large")
    nora.decide("event:0:20", "reject")
    text = page_of(exam).text
    assert "To validate: 2 pre-reader decisions." in text
    assert "pre-read by nora" in text
    paul.see([3, 20])
    assert "To validate:" not in page_of(exam).text.replace("To validate: not displayed", "")
    paul.sign()
    text = page_of(exam).text
    assert "Pre-read by nora, validated by paul." in text


def test_reasons_for_what_was_not_displayed_are_in_the_report(exam):
    choose_workflow(exam, "validated")
    ExamReader(exam, "nora", "pre-reader").decide("event:0:20", "reject")
    ExamReader(exam, "paul", "validator").sign(pre_reader_decisions="an obvious bubble")
    text = page_of(exam).text
    assert "1 of 1 pre-reader decisions were not displayed to paul" in text
    assert "an obvious bubble" in text


def test_a_blind_report_has_nothing_of_the_other_reader(exam):
    choose_workflow(exam, "blind")
    ExamReader(exam, "anna").add_finding("a", 3, note="from anna")
    ExamReader(exam, "boris").add_finding("b", 9, note="from boris")
    ExamReader(exam, "boris").see(range(10))
    _, made = made_report(exam, reader="anna")
    assert "from anna" in made.html
    assert "boris" not in made.html
    assert "kappa" not in made.html


def test_a_signed_blind_pair_has_its_agreement_in_the_report(exam):
    choose_workflow(exam, "blind")
    for name, second in (("anna", "reject"), ("boris", "reject")):
        hand = ExamReader(exam, name)
        hand.decide("event:0:0", "accept")
        hand.decide("event:0:20", second)
        hand.sign()
    text = page_of(exam, reader="boris").text
    assert "Cohen's kappa is 1.00" in text
    assert "There are no differences." in text


def test_an_older_revision_names_the_newer_one(exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3)
    anna.sign()
    anna.reopen("second look")
    text = page_of(exam, revision=1).text
    assert "There is a newer revision." in text
    assert "Reason: second look" in text
    assert "There is a newer revision." not in page_of(exam).text


def test_provenance_names_hashes_and_no_folder(exam, tmp_path):
    _, made = made_report(exam)
    assert "0" * 64 in made.html
    assert "radius_threshold" in made.html
    assert "Research software, not a medical device" in made.html
    assert str(tmp_path) not in made.html


def test_the_same_decisions_give_the_same_bytes(exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3, place={"row": 40.0, "col": 50.0})
    anna.sign()
    first, second = (made_report(exam)[1].html for _ in range(2))
    assert first == second
    assert re.search(r'<svg class="pointer" viewBox="0 0 96 96"', first)
