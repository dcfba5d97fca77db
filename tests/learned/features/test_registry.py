"""Every feature has a name, a unit and words, here and on the page."""

import re
from pathlib import Path

from capsieve.learned.features.registry import FEATURES, NAMES

PAGE = Path(__file__).parents[3] / "docs" / "features.md"


def test_names_are_unique_and_start_with_their_group() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(each.name.startswith(f"{each.group}.") for each in FEATURES)


def test_groups_stand_together() -> None:
    groups = [each.group for each in FEATURES]
    changes = [
        group for group, before in zip(groups, ["", *groups], strict=False) if group != before
    ]
    assert len(changes) == len(set(groups))


def test_words_are_one_sentence() -> None:
    for each in FEATURES:
        assert each.words[0].isupper()
        assert each.words.endswith(".")


def test_the_page_and_the_registry_agree() -> None:
    text = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z0-9.-]+)` \| ([^|]+) \| ([^|]+) \|$", text, re.MULTILINE)
    told = [(name, unit.strip(), words.strip()) for name, unit, words in listed]
    assert told == [(each.name, each.unit, each.words) for each in FEATURES]
