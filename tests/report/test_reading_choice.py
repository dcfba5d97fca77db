"""Whose reading is told, and which version."""

import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.report.reading_facts import gather_reading
from support.readings import ExamReader, choose_workflow
from support.small_exam import write_small_exam

EVENT = "event:0:0-5"


@pytest.fixture
def exam(tmp_path):
    return write_small_exam(tmp_path / "out", tmp_path / "source")


@pytest.fixture
def blind(exam):
    """An exam that anna has signed and boris has not."""
    choose_workflow(exam, "blind")
    for name, verdict in (("anna", "accept"), ("boris", "reject")):
        ExamReader(exam, name).write("verdict", EVENT, verdict=verdict)
    ExamReader(exam, "anna").sign()
    return exam


def chosen(exam, **options):
    return gather_reading(exam, **options).chosen


def test_an_exam_without_decisions_is_unread_and_stays_without(exam):
    assert chosen(exam).reading.state == "unread"
    assert not (exam.parent / "decisions.sqlite").exists()


def test_readers_who_work_together_have_one_reading(exam):
    ExamReader(exam, "anna").write("verdict", EVENT, verdict="accept")
    ExamReader(exam, "boris").add_finding("b", 20)
    reading = chosen(exam).reading
    assert list(reading.verdicts) == [EVENT]
    assert len(reading.findings) == 1


def test_a_blind_reading_holds_nothing_of_the_other(blind):
    for name, verdict in (("anna", "accept"), ("boris", "reject")):
        found = chosen(blind, reader=name)
        assert found.reading.verdicts[EVENT].verdict == verdict
        assert {entry.reader for entry in found.entries} == {name}


def test_the_account_is_the_reader_where_none_is_named(blind):
    assert chosen(blind, account="boris").reader == "boris"


def test_names_stay_hidden_until_both_have_signed(blind):
    with pytest.raises(ParameterError, match="say whose reading") as error:
        chosen(blind, account="carla")
    assert "anna" not in str(error.value)
    ExamReader(blind, "boris").sign()
    with pytest.raises(ParameterError, match="anna or boris"):
        chosen(blind, account="carla")


def test_agreement_is_told_only_when_both_have_signed(blind):
    assert gather_reading(blind, reader="anna").agreement is None
    ExamReader(blind, "boris").sign()
    facts = gather_reading(blind, reader="anna")
    assert facts.pair == ("anna", "boris")
    assert facts.agreement is not None
    assert [one.subject for one in facts.agreement.differences] == [EVENT]


def test_the_consensus_comes_before_the_account(blind):
    ExamReader(blind, "boris").sign()
    ExamReader(blind, "carla", "consensus").write("verdict", EVENT, verdict="unsure")
    found = chosen(blind, account="anna")
    assert found.role == "consensus"
    assert found.reading.verdicts[EVENT].verdict == "unsure"


def test_an_older_version_is_told_as_it_was_signed(exam):
    anna = ExamReader(exam)
    anna.add_finding("a", 3, size="small", size_frame=3)
    anna.see([1, 2])
    anna.sign()
    anna.write("reopen", "exam", reason="the size was wrong")
    anna.add_finding("a", 3, size="large", size_frame=3)
    anna.see([7])
    first, newest = (gather_reading(exam, version=version) for version in (1, None))
    assert first.chosen.reading.state == "signed"
    assert first.chosen.reading.findings[0].content["size"] == "small"
    assert first.chosen.reopened is not None
    assert first.frames_seen == 2
    assert newest.chosen.reading.state == "in reading"
    assert newest.chosen.reading.findings[0].content["size"] == "large"
    assert newest.frames_seen == 3


def test_what_is_seen_after_signing_is_not_under_the_signature(exam):
    anna = ExamReader(exam)
    anna.see([1, 2], 250.0)
    anna.sign()
    anna.see(range(20))
    facts = gather_reading(exam)
    assert facts.frames_seen == 2
    assert [one.seconds for one in facts.seen] == [0.5]


def test_frames_that_two_readers_saw_count_once(exam):
    choose_workflow(exam, "validated")
    ExamReader(exam, "anna", "pre-reader").see(range(10))
    ExamReader(exam, "boris", "validator").see(range(5, 15))
    facts = gather_reading(exam)
    assert facts.frames_seen == 15
    assert [(one.reader, one.frames) for one in facts.seen] == [("anna", 10), ("boris", 10)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reader": "anna"}, "leave --reader out"),
        ({"version": 2}, "there is only version 1"),
    ],
)
def test_what_is_not_there_is_said(exam, options, words):
    ExamReader(exam).write("verdict", EVENT, verdict="accept")
    with pytest.raises(ParameterError, match=words):
        gather_reading(exam, **options)


def test_a_blind_reader_who_wrote_nothing_has_no_report(blind):
    with pytest.raises(ParameterError, match="carla has written nothing"):
        gather_reading(blind, reader="carla")


def test_the_folder_of_all_exams_is_told_from_one(exam):
    with pytest.raises(FileError, match="say which"):
        gather_reading(exam.parent)


def test_a_database_that_is_named_must_be_there(exam, tmp_path):
    with pytest.raises(FileError, match="no such file"):
        gather_reading(exam, database=str(tmp_path / "absent.sqlite"))
    assert not (tmp_path / "absent.sqlite").exists()
