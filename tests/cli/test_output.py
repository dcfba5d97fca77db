"""What the commands say while they work."""

import pytest

from capsieve import compiling
from capsieve.cli.output import say_first_run


@pytest.mark.parametrize(("ready", "words"), [(True, ""), (False, "First run")])
def test_only_the_first_run_tells_that_it_compiles(monkeypatch, capsys, ready, words):
    monkeypatch.setattr(compiling, "is_compiled", lambda: ready)
    say_first_run()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(words)
    assert bool(captured.err) == (not ready)
