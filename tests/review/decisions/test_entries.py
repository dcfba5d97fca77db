from typing import Any

import pytest

from capsieve.review.decisions.entries import NewEntry, canonical, check_entry
from capsieve.review.decisions.refusals import EntryError
from capsieve.review.decisions.vocabulary import LANDMARKS
from review.decisions.made_entries import FINDING


def checked(kind: str, subject: str, content: Any, undoes: Any = None) -> dict[str, Any]:
    return dict(check_entry(NewEntry("key-0001", kind, subject, content, undoes)).content)


GOOD: list[tuple[str, str, dict[str, Any]]] = [
    ("verdict", "event:0:10-24", {"verdict": "accept", "event": 3, "best_frame": 12}),
    ("verdict", "event:1:0-0", {"verdict": None}),
    ("verdict", "frame:1:17", {"verdict": "unsure"}),
    ("verdict", "frame:0:0", {"verdict": "accept", "finding": "f-1"}),
    ("finding", "finding:f_1", FINDING),
    ("finding", "finding:f1", {"removed": True}),
    ("landmark", "landmark:caecum", {"head": 1, "frame": 7}),
    ("landmark", "landmark:rectum", {"removed": True}),
    ("cleanliness", "segment:left", {"grade": 3}),
    ("cleanliness", "segment:right", {"grade": None}),
    ("note", "exam", {"text": "Naïve — 腸"}),
    ("note", "frame:0:3", {"text": "blood"}),
    ("urgent", "exam", {"urgent": True, "text": "call"}),
    ("confirm", "finding:f1", {"agrees": False, "text": ""}),
    ("reopen", "exam", {"reason": "a second look"}),
]


@pytest.mark.parametrize(("kind", "subject", "content"), GOOD)
def test_a_good_entry_keeps_what_was_said(kind: str, subject: str, content: Any) -> None:
    assert content.items() <= checked(kind, subject, content).items()


@pytest.mark.parametrize(("kind", "subject", "content"), GOOD)
def test_checking_twice_changes_nothing(kind: str, subject: str, content: Any) -> None:
    once = checked(kind, subject, content)
    assert checked(kind, subject, once) == once


@pytest.mark.parametrize(("kind", "subject", "content"), GOOD)
def test_a_field_that_nobody_knows_is_refused(kind: str, subject: str, content: Any) -> None:
    with pytest.raises(EntryError, match=r"field 'sise'|nothing else"):
        checked(kind, subject, {**content, "sise": "large"})


@pytest.mark.parametrize(
    ("kind", "subject", "content", "word"),
    [
        ("verdict", "event:0:10-24", {}, "needs the field 'verdict'"),
        ("verdict", "event:0:10-24", {"verdict": "yes"}, "one of accept, reject, unsure"),
        ("verdict", "event:0:10-24", {"verdict": ["accept"]}, "one of accept"),
        ("verdict", "event:0:10-24", {"verdict": "accept", "best_frame": 25}, "none of the frames"),
        ("verdict", "event:0:10-24", {"verdict": "reject", "finding": "f1"}, "only an accepted"),
        ("verdict", "event:0:24-10", {"verdict": "accept"}, "ends before it begins"),
        ("verdict", "event:0:010-24", {"verdict": "accept"}, "names nothing"),
        ("verdict", "frame:-1:3", {"verdict": "accept"}, "names nothing"),
        ("verdict", "frame:40000:3", {"verdict": "accept"}, "no exam has"),
        ("verdict", "exam", {"verdict": "accept"}, "speaks of event or frame"),
        ("finding", "finding:", FINDING, "names nothing"),
        ("finding", "finding:a b", FINDING, "names nothing"),
        ("finding", "finding:f1", FINDING | {"frames": []}, "at least one"),
        ("finding", "finding:f1", FINDING | {"frames": [11, -12]}, "whole number"),
        ("finding", "finding:f1", FINDING | {"frames": [True, 12]}, "whole number"),
        ("finding", "finding:f1", FINDING | {"best_frame": 13}, "best_frame 13 is none"),
        ("finding", "finding:f1", FINDING | {"size": "small"}, "belong together"),
        ("finding", "finding:f1", FINDING | {"size_frame": 11}, "belong together"),
        ("finding", "finding:f1", FINDING | {"size": "5 mm", "size_frame": 11}, "diminutive"),
        ("finding", "finding:f1", FINDING | {"size": "large", "size_frame": 9}, "size_frame 9"),
        ("finding", "finding:f1", FINDING | {"paris": "Is"}, "0-Is"),
        ("finding", "finding:f1", FINDING | {"segment": "ileum"}, "sigmoid"),
        ("finding", "finding:f1", FINDING | {"place": {"row": 1}}, "needs the field 'col'"),
        ("finding", "finding:f1", FINDING | {"place": {"row": float("nan"), "col": 1}}, "finite"),
        ("finding", "finding:f1", FINDING | {"urgent": 1}, "true or false"),
        ("finding", "finding:f1", FINDING | {"note": "a\0b"}, "cannot be kept"),
        ("finding", "finding:f1", FINDING | {"note": "\ud83d"}, "cannot be kept"),
        ("finding", "finding:f1", FINDING | {"note": "x" * 10_001}, "longer than"),
        ("finding", "finding:f1", {"removed": False}, "nothing else"),
        ("landmark", "landmark:ileum", {"head": 0, "frame": 1}, "hepatic-flexure"),
        ("landmark", "landmark:caecum", {"head": 0}, "needs the field 'frame'"),
        ("cleanliness", "segment:left", {"grade": 4}, "from 0 to 3"),
        ("cleanliness", "segment:sigmoid", {"grade": 1}, "names nothing"),
        ("note", "exam", {"text": "  "}, "empty"),
        ("urgent", "exam", {"urgent": "yes"}, "true or false"),
        ("reopen", "exam", {"reason": ""}, "empty"),
        ("sign", "exam", {"statement": "read", "hash": "00"}, "no field 'hash'"),
        ("comment", "exam", {}, "no kind 'comment'"),
        ("note", "exam", ["text"], "must be an object"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(
    kind: str, subject: str, content: Any, word: str
) -> None:
    with pytest.raises(EntryError, match=word) as raised:
        checked(kind, subject, content)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("undoes", [None, 0, -1, True, 1.0, "1"])
def test_an_undo_names_the_entry_that_it_takes_back(undoes: Any) -> None:
    with pytest.raises(EntryError, match="which entry"):
        checked("undo", "", {}, undoes)


def test_only_an_undo_undoes() -> None:
    with pytest.raises(EntryError, match="undoes nothing"):
        checked("note", "exam", {"text": "hello"}, 3)


@pytest.mark.parametrize("key", ["", "short", "a" * 101, "with blanks 1", "naïve-key", 12345678])
def test_keys_are_plain(key: Any) -> None:
    with pytest.raises(EntryError, match="key"):
        check_entry(NewEntry(key, "note", "exam", {"text": "hello"}))


def test_the_frames_of_a_finding_are_a_set() -> None:
    content = checked("finding", "finding:f1", FINDING | {"frames": [12, 11, 12]})
    assert content["frames"] == [11, 12]


@pytest.mark.parametrize("name", LANDMARKS)
def test_every_landmark_can_be_set(name: str) -> None:
    place = {"head": 0, "frame": 5}
    assert checked("landmark", f"landmark:{name}", place) == place


def test_canonical_json_has_one_form() -> None:
    assert canonical({"b": [1, 2.5], "a": "ä"}) == '{"a":"ä","b":[1,2.5]}'
    assert canonical({"a": "ä", "b": [1, 2.5]}) == canonical({"b": [1, 2.5], "a": "ä"})
