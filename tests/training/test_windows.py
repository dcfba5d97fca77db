import csv
import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.training import windows as module
from capsieve.training.settings import TrainSettings
from capsieve.training.windows import COVERED, PAIRS, find_marks, read_windows, surroundings
from support.made_frames import silent
from support.outlined_frames import (
    CAPTION,
    COLS,
    GUT,
    INSET,
    POLYP,
    ROWS,
    outlined_frame,
    write_outlined,
)

SIZE = 64
REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "colonoscopy-polyps"


def read(folder, work, *, progress=silent):
    return read_windows(folder, work, size=SIZE, progress=progress)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_outlined(tmp_path_factory.mktemp("frames") / "endoscope")


@pytest.fixture(scope="module")
def made(folder, tmp_path_factory):
    return read(folder, tmp_path_factory.mktemp("work"))


def crops(windows, *, polyp):
    chosen = np.flatnonzero(windows.polyp == polyp).tolist()
    return np.array([windows.crops[row] for row in chosen]).astype(int)


def near(pixels, colour, *, within=30):
    return (np.abs(pixels - np.array(colour)) < within).all(axis=-1)


def test_windows_come_in_pairs_of_the_same_frame(made):
    assert made.name == "endoscope"
    assert len(made) > 24 * PAIRS
    assert made.polyp[::2].all()
    assert not made.polyp[1::2].any()
    assert np.array_equal(made.frame[::2], made.frame[1::2])
    assert np.bincount(made.frame).max() <= 2 * PAIRS
    share = made.radius[1::2] / made.radius[::2]
    assert (share > 0.55).all()
    assert (share < 1.01).all()


def test_the_polyp_covers_the_allowed_share_of_one_and_nothing_of_the_other(made):
    shown = near(crops(made, polyp=True), POLYP).mean(axis=(1, 2)) * 4 / np.pi
    covered = made.covered[made.polyp]
    assert (covered >= COVERED[0]).all()
    assert (covered <= COVERED[1]).all()
    assert np.abs(shown - covered).max() < 0.1
    assert covered.max() > 3 * covered.min()
    assert not near(crops(made, polyp=False), POLYP).any()
    assert not made.covered[~made.polyp].any()


def test_windows_are_round_and_show_neither_surroundings_nor_captions(made):
    rows, cols = np.abs(np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2) * 2 / SIZE
    inside = rows**2 + cols**2 < 0.95**2
    for kind in (True, False):
        pixels = crops(made, polyp=kind)
        assert not pixels[:, rows**2 + cols**2 > 1].any()
        for colour in (CAPTION, INSET, (0, 0, 0)):
            assert not near(pixels[:, inside], colour).any(), colour


def test_folds_are_blocks_of_consecutive_frames(made):
    fold = made.folds(4)
    assert set(fold) == {0, 1, 2, 3}
    assert (np.diff(fold) >= 0).all()
    assert all(len(set(fold[made.frame == frame])) == 1 for frame in set(made.frame))
    assert list(made.files) == sorted(made.files)


def test_the_same_folder_gives_the_same_windows_which_are_kept(folder, made, tmp_path):
    told = []
    again = read(folder, tmp_path, progress=lambda *what: told.append(what))
    assert told
    assert again.key == made.key
    assert all(np.array_equal(again.crops[row], made.crops[row]) for row in range(len(made)))
    told.clear()
    read(folder, tmp_path, progress=lambda *what: told.append(what))
    assert not told


def test_another_mask_gives_other_windows(folder, made, tmp_path):
    copy = write_outlined(tmp_path / "endoscope")
    mask = np.zeros((ROWS, COLS), np.uint8)
    mask[60:90, 130:160] = 255
    cv2.imwrite(str(copy / "masks/003.png"), mask)
    assert read(copy, tmp_path / "work").key != made.key


def test_boxes_of_coco_are_outlines_too(folder, tmp_path):
    copy = write_outlined(tmp_path / "boxes")
    images, annotations = [], []
    for number in range(24):
        (copy / f"masks/{number:03}.png").unlink()
        (copy / f"images/{number:03}.png").rename(copy / f"images/{number:03}.bmp")
        rows, cols = (np.flatnonzero(outlined_frame(number)[1].any(axis=axis)) for axis in (1, 0))
        name = {"id": number, "file_name": f"{number:03}.bmp", "height": ROWS, "width": COLS}
        box = [int(cols[0]), int(rows[0]), int(np.ptp(cols)) + 1, int(np.ptp(rows)) + 1]
        images.append(name)
        annotations.append({"id": number, "image_id": number, "category_id": 1, "bbox": box})
    content = {"images": images, "annotations": annotations, "categories": []}
    (copy / "polyps.json").write_text(json.dumps(content))
    made = read(copy, tmp_path / "work")
    assert near(crops(made, polyp=True), POLYP).any(axis=(1, 2)).all()
    assert not near(crops(made, polyp=False), POLYP).any()


def test_a_folder_with_too_little_room_is_refused_by_name(tmp_path):
    copy = write_outlined(tmp_path / "large", count=3)
    with pytest.raises(FileError, match=r"only 3 frames of .*large"):
        read(copy, tmp_path / "work")
    for number in range(3):
        mask = np.full((ROWS, COLS), 255, np.uint8)
        mask[:2] = 0
        cv2.imwrite(str(copy / f"masks/{number:03}.png"), mask)
    with pytest.raises(FileError, match="only 0 frames"):
        read(copy, tmp_path / "work")


def test_dark_places_inside_are_no_surroundings():
    pixels = np.full((60, 80, 3), GUT, np.uint8)
    pixels[:10] = 0
    pixels[30:40, 30:40] = 5
    pixels[50:, 60:] = INSET
    hidden = surroundings(pixels)
    assert hidden[:10].all()
    assert hidden[50:, 60:].all()
    assert not hidden[30:40, 30:40].any()


def test_captions_are_found_by_their_place_and_reflections_are_not():
    rng = np.random.default_rng(0)
    frames = []
    for number in range(40):
        pixels, _ = outlined_frame(number)
        for row, col in rng.integers((100, 60), (ROWS - 60, COLS - 40), (25, 2)):
            pixels[row : row + 2, col : col + 2] = 255
        frames.append(pixels)
    marks = find_marks(iter(frames))
    cells = module._MARKS / ROWS, module._MARKS / COLS
    assert marks[int(85 * cells[0]), int(30 * cells[1])]
    assert marks.mean() < 0.2
    assert not find_marks(iter([np.full((60, 80, 3), 90, np.uint8)])).any()


def test_windows_are_for_networks_and_a_class_needs_windows(tmp_path):
    with pytest.raises(ParameterError, match="only a network"):
        TrainSettings(model="svm", windows=tmp_path)
    with pytest.raises(ParameterError, match="outlines"):
        TrainSettings(model="cnn", polyp_class="polyp=3")


@pytest.mark.skipif(not REAL.is_dir(), reason="the real frames are not here")
def test_windows_of_real_frames_show_no_surroundings(tmp_path):
    with (REAL / "frames.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))[::16]
    folder = tmp_path / "real"
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True)
    for row in rows:
        for name in (row["file"], row["mask"]):
            (folder / name).symlink_to(REAL / name)
    made = read(folder, tmp_path / "work")
    assert not made.problems
    assert len(made.files) > 0.7 * len(rows)
    place = np.abs(np.mgrid[:SIZE, :SIZE] - (SIZE - 1) / 2) * 2 / SIZE
    inside = (place**2).sum(axis=0) < 0.95**2
    for number in range(len(made)):
        pixels = made.crops[number].astype(int)
        green = pixels[..., 1] - pixels[..., 0] > 40
        assert (pixels.max(axis=2) < 12)[inside].mean() < 0.3  # the lumen is dark, not black
        assert green[inside].mean() < 0.01
