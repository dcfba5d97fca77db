import subprocess
import sys

import pytest

from capsieve import MissingExtraError
from capsieve.report.window import show_in_window


def test_without_a_display_the_error_says_what_to_do(monkeypatch):
    from matplotlib import pyplot

    def refuse(toolkit: str) -> None:
        raise ImportError(toolkit)

    monkeypatch.setattr(pyplot, "switch_backend", refuse)
    with pytest.raises(MissingExtraError, match=r"-o FILE\.png"):
        show_in_window(lambda figure: pytest.fail("nothing to draw on"))


def test_the_first_toolkit_that_works_shows_what_was_drawn(monkeypatch):
    from matplotlib import pyplot

    tried, shown, drawn = [], [], []

    def only_tk(toolkit: str) -> None:
        tried.append(toolkit)
        if toolkit != "tkagg":
            raise ImportError(toolkit)

    monkeypatch.setattr(pyplot, "switch_backend", only_tk)
    monkeypatch.setattr(pyplot, "figure", lambda title: f"figure of {title}")
    monkeypatch.setattr(pyplot, "show", lambda *, block: shown.append(block))
    show_in_window(drawn.append, title="frame 7")
    assert tried[-1] == "tkagg"
    assert drawn == ["figure of frame 7"]
    assert shown == [True]


def test_importing_it_opens_nothing():
    code = "import sys, capsieve.report.window; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
