"""Points inside outlines, against scikit-image and by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from skimage.measure import points_in_poly

from capsieve.statistics.regions.outline import Misfit, outline_of
from capsieve.statistics.regions.region import Box, MaskFile, Polygon, Region


def holds(
    shape: Box | Polygon | MaskFile,
    *points: tuple[float, float],
    frame: tuple[int, int] = (100, 100),
    size: tuple[int, int] | None = None,
) -> list[bool]:
    region = Region(None, None, None, "a", shape, size=size)
    row, col = np.array(points, float).T
    return outline_of(region, frame, {}).holds(row, col).tolist()


def save(path: Path, pixels: Any) -> MaskFile:
    Image.fromarray(np.asarray(pixels)).save(path)
    return MaskFile(str(path))


def square(rows: int = 100, cols: int = 100, value: int = 255) -> np.ndarray:
    mask = np.zeros((rows, cols), np.uint8)
    mask[rows // 5 : rows // 2, cols // 5 : cols // 2] = value
    return mask


def test_a_box_holds_its_edges() -> None:
    box = Box(2.5, 3.5, 5.5, 6.5)
    points = [(2.5, 6.5), (2.4, 5), (4, 6.6), (4, 4)]
    assert holds(box, *points) == [True, False, False, True]


def test_nan_is_never_inside(tmp_path: Path) -> None:
    ring = ((1.0, 1.0), (1.0, 9.0), (9.0, 5.0))
    for shape in (Box(0, 0, 9, 9), Polygon((ring,)), save(tmp_path / "m.png", square())):
        assert holds(shape, (np.nan, 5), (5, np.nan), (np.nan, np.nan)) == [False] * 3


def test_relative_boxes_count_from_the_outer_edges() -> None:
    # The left half of 10 columns are the columns 0 to 4: up to 4.5.
    box = Box(0.0, 0.0, 1.0, 0.5, relative=True)
    assert holds(box, (-0.5, 4.5), (9.5, 4.6), (9.5, 0), frame=(10, 10)) == [True, False, True]


@pytest.mark.parametrize("seed", range(5))
def test_polygons_agree_with_scikit_image(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ring = rng.uniform(0, 99, (rng.integers(3, 12), 2))
    points = rng.uniform(-10, 110, (500, 2))
    shape = Polygon((tuple((float(r), float(c)) for r, c in ring),))
    assert holds(shape, *map(tuple, points)) == points_in_poly(points, ring).tolist()


def test_several_polygons_are_one_outline() -> None:
    first, second = ((0.0, 0.0), (0.0, 9.0), (9.0, 0.0)), ((50.0, 50.0), (50.0, 59.0), (59.0, 50.0))
    assert holds(Polygon((first, second)), (2, 2), (52, 52), (30, 30)) == [True, True, False]


def test_a_mask_holds_whole_pixels(tmp_path: Path) -> None:
    mask = save(tmp_path / "m.png", square())  # rows and columns 20 to 49
    points = [(19.5, 30), (19.4, 30), (49.4, 49.4), (49.5, 30), (-5, 30), (30, 200)]
    assert holds(mask, *points) == [True, False, True, False, False, False]


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I;16"])
def test_masks_of_any_kind_are_read(tmp_path: Path, mode: str) -> None:
    grey = Image.fromarray(square())
    if mode == "I;16":
        grey = Image.fromarray(square().astype(np.uint16) * 200)
    else:
        grey = grey.convert(mode)
    grey.save(tmp_path / "m.png")
    assert holds(MaskFile(str(tmp_path / "m.png")), (30, 30), (10, 10)) == [True, False]


def test_a_value_picks_one_polyp(tmp_path: Path) -> None:
    pixels = square(value=1)
    pixels[60:80, 60:80] = 2
    path = save(tmp_path / "m.png", pixels).path
    assert holds(MaskFile(path, 2), (30, 30), (70, 70)) == [False, True]
    assert holds(MaskFile(path), (30, 30), (70, 70)) == [True, True]


def test_a_mask_of_half_the_size_is_scaled(tmp_path: Path) -> None:
    mask = save(tmp_path / "m.png", square(50, 50))  # rows 10 to 24 of 50: 20 to 49 of 100
    points = [(19.6, 30), (19.4, 30), (49.4, 30), (49.6, 30)]
    assert holds(mask, *points) == [True, False, True, False]


def test_a_box_of_a_larger_picture_is_scaled() -> None:
    box = Box(39.5, 39.5, 99.5, 99.5)  # pixels 40 to 99 of 200: 20 to 49 of 100
    assert holds(box, (19.6, 30), (19.4, 30), (49.4, 30), (49.6, 30), size=(200, 200)) == [
        *(True, False, True, False)
    ]


def test_sizes_may_differ_by_a_pixel() -> None:
    assert holds(Box(0, 0, 99, 99), (99, 99), (99.1, 0), size=(101, 99)) == [True, False]


def misfit(shape: Box | Polygon | MaskFile, **settings: Any) -> str:
    with pytest.raises(Misfit) as caught:
        holds(shape, (1, 1), **settings)
    return str(caught.value)


def test_other_proportions_are_refused(tmp_path: Path) -> None:
    assert "proportions" in misfit(Box(0, 0, 9, 9), size=(100, 150))
    assert "proportions" in misfit(save(tmp_path / "m.png", square(100, 80)))


def test_outlines_beyond_the_frame_are_refused() -> None:
    assert "beyond" in misfit(Box(0, 0, 9, 101))
    assert "beyond" in misfit(Box(-2, 0, 9, 9))
    assert "beyond" in misfit(Polygon((((0.0, 0.0), (0.0, 9.0), (105.0, 3.0)),)))
    assert "beyond" in misfit(Box(0.5, 0.5, 1.2, 0.9, relative=True))


def test_an_unknown_size_is_not_guessed(tmp_path: Path) -> None:
    assert "not known" in misfit(Box(0, 0, 1, 1, relative=True), frame=(0, 0))
    assert "not known" in misfit(save(tmp_path / "m.png", square()), frame=(0, 0))


def test_masks_that_say_nothing_are_refused(tmp_path: Path) -> None:
    assert "empty" in misfit(save(tmp_path / "e.png", np.zeros((100, 100), np.uint8)))
    assert "whole" in misfit(save(tmp_path / "f.png", np.ones((100, 100), np.uint8)))
    colour = save(tmp_path / "c.png", np.dstack([square()] * 3))
    assert "grey" in misfit(MaskFile(colour.path, 1))


def test_broken_masks_are_refused(tmp_path: Path) -> None:
    whole = save(tmp_path / "m.png", square())
    data = Path(whole.path).read_bytes()
    (tmp_path / "cut.png").write_bytes(data[: len(data) // 2])
    Image.fromarray(square()).save(tmp_path / "j.png", format="JPEG")
    assert "damaged" in misfit(MaskFile(str(tmp_path / "cut.png")))
    assert "PNG" in misfit(MaskFile(str(tmp_path / "j.png")))
    assert "not there" in misfit(MaskFile(str(tmp_path / "absent.png")))
