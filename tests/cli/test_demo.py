import numpy as np
from PIL import Image

from capsieve.phantom import polyp_frame


def test_demo_makes_its_frame_and_explains_it(run, tmp_path):
    out = tmp_path / "new" / "demo"
    result = run("demo", "-o", out)
    assert result.exit_code == 0
    assert result.stdout.startswith("Polyp: ")
    assert sorted(path.name for path in out.iterdir()) == ["frame.png", "nine-panels.png"]
    for path in out.iterdir():
        assert str(path) in result.stdout
    with Image.open(out / "frame.png") as image:
        assert np.array_equal(np.asarray(image), polyp_frame())


def test_a_file_in_the_place_of_the_folder_is_wrong_usage(run, tmp_path):
    (tmp_path / "file").touch()
    assert run("demo", "-o", tmp_path / "file").exit_code == 2


def test_a_folder_that_cannot_be_made_is_exit_code_1(run, tmp_path):
    (tmp_path / "file").touch()
    result = run("demo", "-o", tmp_path / "file" / "demo")
    assert result.exit_code == 1
    assert result.stderr.startswith("capsieve: cannot make the folder")
