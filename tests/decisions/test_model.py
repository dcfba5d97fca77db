"""Strict models of entries."""

import math
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from capsieve.decisions.model import Decision, Finding, Request, canonical
from support.contents import decision, finding, note
from support.readings import polyp

REQUEST: TypeAdapter[Any] = TypeAdapter(Request)


@pytest.mark.parametrize(
    "content",
    [
        decision("event:0:01", "accept", frame=1),  # two names for one event
        decision("event:0:1-5", "accept", frame=1),
        decision("event:0:1", "reject", finding="finding:a"),
        decision("event:0:1", "accept", finding="a"),
        decision("event:0:1", "accept") | {"frame": 1.0},
        decision("event:0:1", "accept") | {"frame": True},
        decision("event:0:1", "accept") | {"frame": 2**53},
        finding("a", [1]) | {"place": {"row": math.nan, "col": 1.0}},
        finding("a", [1]) | {"place": {"row": math.inf, "col": 1.0}},
        finding("a", [1]) | {"place": {"row": -1.0, "col": 1.0}},
        finding("a", [1]) | {"place": {"row": 10**400, "col": 1.0}},
        finding("a", [1]) | {"urgent": 1},
        finding("a", [1], paris="0-IV"),
        finding("a", [1], note="x" * 10_001),
        finding("a", [1]) | {"spans": [{"head": 0, "first": 0, "last": 3},
                                       {"head": 0, "first": 3, "last": 4}]},
        note("a\0b"),
        note("\ud800"),
        {"kind": "undo", "action": 0},
        {"kind": "reopen", "reason": ""},
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(content: Any) -> None:
    with pytest.raises(ValidationError):
        REQUEST.validate_python(content)


def test_there_is_one_text_for_a_content() -> None:
    content = polyp("f1", 3, place={"row": 1.5, "col": 2})
    text = canonical(content)
    assert canonical(Finding.model_validate_json(text)) == text
    assert " " not in text


def test_findings_meet_on_a_common_frame_of_a_head() -> None:
    assert polyp("a", 1, 2, 3).meets(polyp("b", 3))
    assert not polyp("a", 1, 2, 3).meets(polyp("b", 4))
    assert not polyp("a", 1).meets(polyp("b", 1, head=1))


def test_models_do_not_change() -> None:
    with pytest.raises(ValidationError):
        Decision(subject="event:0:1", decision="accept", frame=1).frame = 2  # pyright: ignore
