"""A search as files."""

import dataclasses
import json

import pytest

from capsieve.calibration.space import CHOICES
from capsieve.parameters import Parameters
from capsieve.report.search_files import (
    best_table,
    comparison_table,
    parts_table,
    search_content,
    write_search,
)
from made_search import made_search


@pytest.fixture
def outcome():
    return made_search()


def test_the_parameters_are_what_screen_takes(outcome, tmp_path):
    paths = write_search(outcome, tmp_path / "out")
    assert all(path.stat().st_size for path in paths)
    assert Parameters.load(tmp_path / "out" / "calibrated.toml") == outcome.parameters


def test_the_same_search_gives_the_same_bytes(outcome, tmp_path):
    one, two = (write_search(outcome, tmp_path / name) for name in ("a", "b"))
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]


def test_the_record_is_strict_json_and_tells_the_space(outcome):
    content = json.loads(json.dumps(search_content(outcome), allow_nan=False))
    assert content["space"].keys() == CHOICES.keys()
    assert content["out_of_fold"]["ratio"] == outcome.judgement.ratio
    assert len(content["trials"]) == 6


def test_the_comparison_tells_both_and_the_difference(outcome):
    table = comparison_table(outcome)
    for _, searched, base, difference, low, high in table.rows[:-1]:
        assert difference == pytest.approx(searched - base)
        assert low is None or low <= high
    assert table.rows[-1][:3] == ("False alarms on square (no polyps)", 0.1, 0.15)


def test_the_best_settings_come_first(outcome):
    values = best_table(outcome).column("value")
    assert values == sorted(values, reverse=True)
    assert values[0] == 0.5


def test_every_part_shows_its_setting(outcome):
    table = parts_table(outcome)
    assert table.column("part") == ["1", "2", "all", "base"]
    assert table.column("channel")[0] == "red"
    assert table.column("size_low")[-1] == "292"


def test_a_figure_without_any_rule_is_drawn(outcome, tmp_path):
    bare = dataclasses.replace(outcome, worth={"size_low": None}, spread={})
    assert write_search(bare, tmp_path / "out")
