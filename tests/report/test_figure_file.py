import pytest
from matplotlib.figure import Figure
from PIL import Image

from capsieve import FileError, Parameters
from capsieve.report.figure_file import save_figure
from capsieve.report.nine_panels import nine_panels

PAPER = Parameters()


@pytest.mark.parametrize(
    ("ending", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".PDF", b"%PDF")]
)
def test_file_is_of_its_endings_kind_and_the_same_every_time(
    make_explanation, tmp_path, ending, start
):
    contents = []
    for name in ("one", "two"):
        save_figure(nine_panels(make_explanation(), PAPER), tmp_path / (name + ending))
        contents.append((tmp_path / (name + ending)).read_bytes())
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]
    assert len(list(tmp_path.iterdir())) == 2


def test_png_is_opaque(make_explanation, tmp_path):
    save_figure(nine_panels(make_explanation(), PAPER), tmp_path / "a.png")
    with Image.open(tmp_path / "a.png") as image:
        assert image.mode == "RGB"


@pytest.mark.parametrize("name", ["a.jpg", "a", "a.png.gz"])
def test_another_ending_is_refused_with_the_three(tmp_path, name):
    with pytest.raises(FileError, match=r"\.png, \.svg or \.pdf"):
        save_figure(Figure(), tmp_path / name)


def test_an_absent_folder_is_a_file_error(tmp_path):
    with pytest.raises(FileError, match="no folder"):
        save_figure(Figure(), tmp_path / "absent" / "a.png")


@pytest.mark.parametrize("ending", [".png", ".svg"])
def test_a_letter_that_the_font_lacks_is_no_warning(tmp_path, ending):
    figure = Figure()
    figure.text(0.5, 0.5, "\u65e5")  # warnings are errors here
    save_figure(figure, tmp_path / f"a{ending}")
    assert (tmp_path / f"a{ending}").stat().st_size
