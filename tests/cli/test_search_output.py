"""What a search prints."""

import dataclasses
import json
from pathlib import Path

from capsieve.cli.search_output import say_search
from made_search import made_search


def test_the_comparison_is_printed(capsys):
    say_search(made_search(), Path("out"))
    printed = capsys.readouterr()
    assert "Sensitivity per frame" in printed.out
    assert "out/calibrated.toml" in printed.out
    assert "Few patients" in printed.err


def test_json_is_all_that_is_printed(capsys):
    say_search(made_search(), Path("out"), as_json=True)
    assert json.loads(capsys.readouterr().out)["schema"] == 1


def test_a_search_that_ran_out_of_time_says_so(capsys):
    outcome = dataclasses.replace(made_search(), complete=False)
    say_search(outcome, Path("out"))
    assert "time was up after 6 trials" in capsys.readouterr().err
