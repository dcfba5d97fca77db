"""Files of figures."""

import pytest

from capsieve.errors import FileError
from capsieve.report import figures


def a_figure():
    with figures.figure(2) as (figure, panels):
        for axes in panels:
            axes.plot([0, 1], label="line")
            axes.set_title("日本")  # a letter that the font lacks
            axes.legend()
    return figure


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.SVG", b"<?xml"), ("a.pdf", b"%PDF")]
)
def test_the_ending_decides_the_format(tmp_path, name, start):
    figures.save(a_figure(), tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["a", "a.gif", "a.html"])
def test_other_endings_are_refused_before_anything_is_written(tmp_path, name):
    with pytest.raises(FileError, match=r"\.png, \.svg or \.pdf"):
        figures.save(a_figure(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_settings_of_the_user_do_not_change_a_figure():
    import matplotlib as mpl

    before = figures.content(a_figure(), "png")
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "savefig.dpi": 20}):
        assert figures.content(a_figure(), "png") == before
        assert mpl.rcParams["font.size"] == 30
