"""Which reading a report shows, and which revision."""

import pytest

from capsieve.decisions.agreement import Agreement
from capsieve.decisions.model import Decision, Finding, said
from capsieve.errors import FileError, ParameterError
from capsieve.report.reading_facts import ReadingFacts, gather_reading
from support.readings import ExamReader, choose_workflow
from support.small_exam import write_small_exam

EVENT = "event:0:0"


@pytest.fixture
def exam(tmp_path):
    return write_small_exam(tmp_path / "out", tmp_path / "source")


@pytest.fixture
def blind(exam):
    """An exam that anna has signed and boris has not."""
    choose_workflow(exam, "blind")
    for name, decision in (("anna", "accept"), ("boris", "reject")):
        ExamReader(exam, name).decide(EVENT, decision)
    ExamReader(exam, "anna").sign()
    return exam


def chosen(exam, **options):
    return gather_reading(exam, **options)


def decided(reading):
    return said(reading.decisions[EVENT], Decision).decision


def displayed(facts: ReadingFacts) -> int:
    assert facts.progress is not None
    return facts.progress.displayed


def test_an_exam_without_decisions_is_unread_and_stays_without(exam):
    assert chosen(exam).reading.state == "unread"
    assert not (exam.parent / "decisions.sqlite").exists()


def test_readers_who_work_together_have_one_reading(exam):
    ExamReader(exam, "anna").decide(EVENT, "accept")
    ExamReader(exam, "boris").add_finding("b", 20)
    reading = chosen(exam).reading
    assert list(reading.decisions) == [EVENT]
    assert len(reading.findings) == 1


def test_a_blind_reading_contains_nothing_of_the_other(blind):
    for name, decision in (("anna", "accept"), ("boris", "reject")):
        found = chosen(blind, reader=name)
        assert decided(found.reading) == decision
        assert {entry.reader for entry in found.entries} == {name}


def test_the_account_is_the_reader_if_none_is_named(blind):
    assert chosen(blind, account="boris").reader == "boris"


def test_names_stay_hidden_until_both_have_signed(blind):
    with pytest.raises(ParameterError, match="name the reader") as error:
        chosen(blind, account="carla")
    assert "anna" not in str(error.value)
    ExamReader(blind, "boris").sign()
    with pytest.raises(ParameterError, match="anna or boris"):
        chosen(blind, account="carla")


def test_agreement_is_available_only_when_both_have_signed(blind):
    assert gather_reading(blind, reader="anna").agreement is None
    ExamReader(blind, "boris").sign()
    found = gather_reading(blind, reader="anna").agreement
    assert isinstance(found, Agreement)
    assert found.readers == ("anna", "boris")
    assert [one.subject for one in found.differences] == [EVENT]


def test_the_consensus_comes_before_the_account(blind):
    ExamReader(blind, "boris").sign()
    ExamReader(blind, "carla", "consensus").decide(EVENT, "unsure")
    found = chosen(blind, account="anna")
    assert found.role == "consensus"
    assert decided(found.reading) == "unsure"


def test_an_older_revision_is_shown_as_it_was_signed(exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3, size="small")
    anna.see([1, 2])
    anna.sign()
    anna.reopen("the size was wrong")
    anna.add_finding("a", 3, size="large")
    anna.see([7])
    first, newest = (gather_reading(exam, revision=revision) for revision in (1, None))

    def size(facts):
        return said(facts.reading.findings[0], Finding).size

    assert first.reading.state == "signed"
    assert (size(first), size(newest)) == ("small", "large")
    assert first.reopened is not None
    assert (displayed(first), displayed(newest)) == (2, 3)
    assert newest.reading.state == "in reading"


def test_what_is_displayed_after_signing_is_not_under_the_signature(exam):
    anna = ExamReader(exam)
    anna.see([1, 2], viewed=[2])
    anna.sign()
    anna.see(range(20), viewed=range(20))
    facts = gather_reading(exam)
    assert (displayed(facts), facts.progress and facts.progress.viewed) == (2, 1)
    assert [(one.displayed, one.viewed) for one in facts.seen] == [(2, 1)]


def test_a_consensus_has_the_frames_that_were_displayed_to_it(blind):
    ExamReader(blind, "anna").see(range(20))
    ExamReader(blind, "boris").sign()
    carla = ExamReader(blind, "carla", "consensus")
    carla.see(range(3))
    carla.decide(EVENT, "unsure")
    assert displayed(gather_reading(blind)) == 3
    carla.sign()
    assert displayed(gather_reading(blind)) == 3


def test_frames_that_were_displayed_to_two_readers_count_once(exam):
    choose_workflow(exam, "validated")
    ExamReader(exam, "anna", "pre-reader").see(range(10))
    ExamReader(exam, "boris", "validator").see(range(5, 15))
    facts = gather_reading(exam)
    assert displayed(facts) == 15
    assert [(one.reader, one.displayed) for one in facts.seen] == [("anna", 10), ("boris", 10)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reader": "anna"}, "leave --reader out"),
        ({"revision": 2}, "there is only revision 1"),
    ],
)
def test_what_does_not_exist_is_named(exam, options, words):
    ExamReader(exam).decide(EVENT, "accept")
    with pytest.raises(ParameterError, match=words):
        gather_reading(exam, **options)


def test_a_blind_reader_who_wrote_nothing_has_no_report(blind):
    with pytest.raises(ParameterError, match="carla has written nothing"):
        gather_reading(blind, reader="carla")


def test_the_folder_of_all_exams_is_told_from_one(exam):
    with pytest.raises(FileError, match="give the folder of one"):
        gather_reading(exam.parent)


def test_a_database_that_is_named_must_exist(exam, tmp_path):
    with pytest.raises(FileError, match="no such file"):
        gather_reading(exam, database=str(tmp_path / "absent.sqlite"))
    assert not (tmp_path / "absent.sqlite").exists()
