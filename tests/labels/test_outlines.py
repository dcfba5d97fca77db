"""Outlines of polyps: formats, matching with frames, points inside."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from skimage.measure import points_in_poly

from capsieve.errors import FileError, ParameterError
from capsieve.labels import Outline, Outlines, read_outlines
from capsieve.labels.outlines import Box, MaskFile, Polygon, RunLength
from support.label_sets import VIDEO, frame_table, make_files, problem_rows, write_text

KVASIR = "filename;video_id;frame_number;finding_category;finding_class;x1;y1;x2;y2;x3;y3;x4;y4"
IMAGE = {"id": 7, "file_name": "a/001.jpg", "width": 200, "height": 100}
GOOD = {"id": 1, "image_id": 7, "category_id": 1, "bbox": [10, 20, 4, 2]}


def sized(exams: dict[str, Any], size: tuple[int, int] | None = (100, 100)) -> pa.Table:
    """Return frames with the size of their images."""
    frames = frame_table(exams)
    for name, side in zip(("rows", "cols"), size or (None, None), strict=True):
        frames = frames.append_column(name, pa.array([side] * len(frames), pa.int32()))
    return frames


def found(outlines: Outlines, frames: pa.Table, polyp: Any = True) -> tuple[list[int], Outlines]:
    """Return the rows of frames with outlines, and the problems."""
    some, problems = outlines.find(frames, polyp_frames=np.broadcast_to(polyp, len(frames)))
    return [one.row for one in some], Outlines((), problems, "", "")


def holds(
    shape: Any,
    *points: tuple[float, float],
    frame: tuple[int, int] | None = (100, 100),
    size: tuple[int, int] | None = None,
) -> list[bool]:
    """Return which points are inside an outline of the only frame."""
    outlines = Outlines((Outline("1.jpg", shape, size=size),), (), "", "")
    frames = sized({"exam": ["1.jpg"]}, frame)
    some, problems = outlines.find(frames, polyp_frames=np.ones(1, bool))
    if not some:
        raise ValueError(problems[0].what)
    row, col = np.array(points, float).T
    return some[0].hit(row, col).tolist()


def save(path: Path, pixels: Any) -> MaskFile:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.asarray(pixels)).save(path)
    return MaskFile(str(path))


def square(rows: int = 100, cols: int = 100, value: int = 255) -> np.ndarray:
    mask = np.zeros((rows, cols), np.uint8)
    mask[rows // 5 : rows // 2, cols // 5 : cols // 2] = value
    return mask


# Points inside


def test_a_box_contains_its_edges() -> None:
    points = [(2.5, 6.5), (2.4, 5), (4, 6.6), (4, 4)]
    assert holds(Box(2.5, 3.5, 5.5, 6.5), *points) == [True, False, False, True]


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


def test_a_mask_contains_whole_pixels(tmp_path: Path) -> None:
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


def test_a_value_selects_one_polyp(tmp_path: Path) -> None:
    pixels = square(value=1)
    pixels[60:80, 60:80] = 2
    path = save(tmp_path / "m.png", pixels).path
    assert holds(MaskFile(path, 2), (30, 30), (70, 70)) == [False, True]
    assert holds(MaskFile(path), (30, 30), (70, 70)) == [True, True]


def test_outlines_of_images_of_another_size_are_scaled(tmp_path: Path) -> None:
    points = [(19.6, 30), (19.4, 30), (49.4, 30), (49.6, 30)]
    mask = save(tmp_path / "m.png", square(50, 50))  # rows 10 to 24 of 50: 20 to 49 of 100
    assert holds(mask, *points) == [True, False, True, False]
    box = Box(39.5, 39.5, 99.5, 99.5)  # pixels 40 to 99 of 200: 20 to 49 of 100
    assert holds(box, *points, size=(200, 200)) == [True, False, True, False]


def test_sizes_may_differ_by_a_pixel() -> None:
    assert holds(Box(0, 0, 99, 99), (99, 99), (99.1, 0), size=(101, 99)) == [True, False]


def test_outlines_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    empty = save(tmp_path / "e.png", np.zeros((100, 100), np.uint8))
    full = save(tmp_path / "f.png", np.ones((100, 100), np.uint8))
    colour = save(tmp_path / "c.png", np.dstack([square()] * 3))
    whole = save(tmp_path / "m.png", square())
    data = Path(whole.path).read_bytes()
    (tmp_path / "cut.png").write_bytes(data[: len(data) // 2])
    Image.fromarray(square()).save(tmp_path / "j.png", format="JPEG")
    for shape, options, words in (
        (Box(0, 0, 9, 9), {"size": (100, 150)}, "proportions"),
        (save(tmp_path / "p.png", square(100, 80)), {}, "proportions"),
        (Box(0, 0, 9, 101), {}, "beyond"),
        (Polygon((((0.0, 0.0), (0.0, 9.0), (105.0, 3.0)),)), {}, "beyond"),
        (Box(0.5, 0.5, 1.2, 0.9, relative=True), {}, "beyond"),
        (Box(0, 0, 1, 1, relative=True), {"frame": None}, "not known"),
        (whole, {"frame": None}, "not known"),
        (empty, {}, "empty"),
        (full, {}, "whole"),
        (MaskFile(colour.path, 1), {}, "grey"),
        (MaskFile(str(tmp_path / "cut.png")), {}, "damaged"),
        (MaskFile(str(tmp_path / "j.png")), {}, "PNG"),
        (MaskFile(str(tmp_path / "absent.png")), {}, "missing"),
    ):
        with pytest.raises(ValueError, match=words):
            holds(shape, (1, 1), **options)


# Frames of outlines


def of_files(*files: str) -> Outlines:
    return Outlines(tuple(Outline(file, Box(0, 0, 9, 9), where=file) for file in files), (), "", "")


IMAGES = {"a": ["a/001.jpg", "a/002.jpg"], "b": ["b/001.jpg", "b/003.png"]}


@pytest.mark.parametrize(
    ("file", "rows"),
    [
        ("study/b/001.jpg", [2]),
        ("001.jpg", []),  # fits two frames
        ("003", [3]),  # a stem fits any ending
        ("003.jpg", []),  # a name fits only its own
        ("a/002", [1]),
        ("x\\b\\001.jpg", [2]),
    ],
)
def test_a_file_is_found_as_labels_find_theirs(file: str, rows: list[int]) -> None:
    places, report = found(of_files(file), sized(IMAGES))
    assert places == rows
    assert sum(problem.rows for problem in report.problems) == 1 - len(rows)


def test_frames_of_videos_are_found_by_number(tmp_path: Path) -> None:
    mask = save(tmp_path / "m.png", square())
    outlines = [Outline(None, mask, exam="a", head=head, frame=1) for head in (0, 1)]
    frames = sized({"a": [(0, 0), (0, 1), (1, 0), (1, 1)]})
    assert found(Outlines(tuple(outlines), (), "", ""), frames)[0] == [1, 3]


def test_outlines_of_other_frames_are_counted() -> None:
    places, report = found(of_files("a/001.jpg", "b/001.jpg"), sized(IMAGES), [1, 1, 0, 1])
    assert places == [0]
    assert problem_rows(report.problems, "not labelled polyp") == 1


def test_an_outline_that_is_there_twice_counts_once() -> None:
    places, report = found(of_files("a/001.jpg", "a/001.jpg"), sized(IMAGES))
    assert places == [0]
    assert problem_rows(report.problems, "twice") == 1


def test_a_frame_with_an_outline_that_cannot_be_used_is_left_out() -> None:
    good, bad = Box(0, 0, 9, 9), Box(0, 0, 9, 900)
    shapes = [("a/001", good), ("a/001", bad), ("a/002", good)]
    outlines = [Outline(file, shape) for file, shape in shapes]
    places, report = found(Outlines(tuple(outlines), (), "", ""), sized(IMAGES))
    assert places == [1]
    assert sum(problem.rows for problem in report.problems) == 2


# COCO


def coco(folder: Path, *annotations: Any, categories: Any = None, images: Any = None) -> Outlines:
    content = {
        "images": [IMAGE] if images is None else images,
        "annotations": annotations,
        "categories": [{"id": 1, "name": "Polyp"}] if categories is None else categories,
    }
    path = folder / "boxes.json"
    path.write_text(json.dumps(content))
    return read_outlines(path)


def test_a_box_of_coco_is_counted_from_the_edge_of_the_first_pixel(tmp_path: Path) -> None:
    (outline,) = coco(tmp_path, GOOD).outlines
    # Columns 10 to 13 and rows 20 and 21 belong to it.
    assert outline.shape == Box(row0=19.5, col0=9.5, row1=21.5, col1=13.5)
    assert (outline.file, outline.size) == ("a/001.jpg", (100, 200))


def test_a_polygon_wins_over_its_box(tmp_path: Path) -> None:
    annotation = GOOD | {"segmentation": [[10, 20, 14, 20, 14, 22]]}
    (outline,) = coco(tmp_path, annotation).outlines
    assert outline.shape == Polygon((((19.5, 9.5), (19.5, 13.5), (21.5, 13.5)),))


def compressed(lengths: list[int]) -> str:
    """Write lengths of runs as pycocotools does."""
    text = ""
    for place, length in enumerate(lengths):
        value = length - (lengths[place - 2] if place > 2 else 0)
        while True:
            bits, value = value & 31, value >> 5
            more = value != (-1 if bits & 16 else 0)
            text += chr((bits | 32 if more else bits) + 48)
            if not more:
                break
    return text


def test_a_known_compressed_mask_is_decoded(tmp_path: Path) -> None:
    # A 4 x 4 mask with the inner 2 x 2 square, as pycocotools writes it.
    annotation = GOOD | {"segmentation": {"size": [4, 4], "counts": "52203"}}
    (outline,) = coco(tmp_path, annotation).outlines
    assert outline.shape == RunLength((5, 2, 2, 2, 5))


@given(pixels=st.lists(st.booleans(), min_size=12, max_size=12), compress=st.booleans())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_run_length_masks_are_decoded(tmp_path: Path, pixels: list[bool], compress: bool) -> None:
    mask = np.array(pixels).reshape(3, 4)
    flat = mask.T.ravel()
    changes = np.flatnonzero(np.diff(flat)) + 1
    lengths = np.diff(np.array([0, *changes, 12])).tolist()
    lengths = [0, *lengths] if flat[0] else lengths
    counts = compressed(lengths) if compress else lengths
    entry = GOOD | {"segmentation": {"size": [3, 4], "counts": counts}}
    content = {"images": [IMAGE | {"file_name": "1.jpg"}], "annotations": [entry]}
    (tmp_path / "masks.json").write_text(json.dumps(content))
    outlines = read_outlines(tmp_path / "masks.json")
    assert outlines.problems == ()
    some, _ = outlines.find(sized({"e": ["1.jpg"]}, (3, 4)), polyp_frames=np.ones(1, bool))
    if mask.any() and not mask.all():
        rows, cols = np.indices(mask.shape).astype(float)
        assert some[0].hit(rows.ravel(), cols.ravel()).tolist() == mask.ravel().tolist()
    else:
        assert some == []


def test_only_polyps_count_among_several_categories(tmp_path: Path) -> None:
    categories = [{"id": 1, "name": "ulcer"}, {"id": 2, "name": "POLYP"}]
    outlines = coco(tmp_path, GOOD, GOOD | {"id": 2, "category_id": 2}, categories=categories)
    assert [outline.where for outline in outlines.outlines] == ["annotation 2"]
    assert problem_rows(outlines.problems, "the category is not polyp") == 1


def test_a_single_category_counts_whatever_its_name(tmp_path: Path) -> None:
    assert len(coco(tmp_path, GOOD, categories=[{"id": 1, "name": "lesion"}]).outlines) == 1


def test_categories_without_names_are_not_guessed(tmp_path: Path) -> None:
    assert coco(tmp_path, GOOD, GOOD | {"category_id": 2}, categories=[]).outlines == ()
    path = tmp_path / "boxes.json"
    assert len(read_outlines(path, polyp_class="polyp=2").outlines) == 1


HOSTILE = [
    {"image_id": 8},
    {"image_id": [7]},
    {"image_id": "7"},
    {"category_id": [1]},
    {"category_id": {"a": 1}},
    {"category_id": None},
    {"category_id": 10**300},
    {"image_id": "x" * 10_000},
    {"bbox": [1, 2, 0, 4]},
    {"bbox": [1, 2, 10**400, 4]},
    {"bbox": [1, 2, 1e300, 4]},
    {"bbox": [1, 2, 3]},
    {"bbox": ["x", 2, 3, 4]},
    {"bbox": [[1], 2, 3, 4]},
    {"bbox": [True, 2, 3, 4]},
    {"bbox": None},
    {"bbox": {"x": 1}},
]


@pytest.mark.parametrize("change", HOSTILE, ids=str)
def test_annotations_that_cannot_be_used_are_counted(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    outlines = coco(
        tmp_path, GOOD, GOOD | {"id": 2} | change, categories=[{"id": 1, "name": "polyp"}]
    )
    assert len(outlines.outlines) == 1
    assert [problem.rows for problem in outlines.problems] == [1]


@pytest.mark.parametrize(
    "segmentation",
    [
        {"counts": [3, 2], "size": [100, 200]},
        {"counts": [10**30], "size": [10**15, 10**15]},
        {"counts": [-5, 20005], "size": [100, 200]},
        {"counts": "zzzz\u00e9", "size": [100, 200]},
        {"counts": "oooooooooooooooooooooooooooo", "size": [100, 200]},
        {"counts": None, "size": "100"},
        [[1, 2, 3, 4]],
        [[1, 2, 3, 4, 5, 10**400]],
        "polygon",
        [{"x": 1}],
    ],
    ids=str,
)
def test_outlines_that_cannot_be_read_fall_back_to_the_box(
    tmp_path: Path, segmentation: Any
) -> None:
    outlines = coco(tmp_path, GOOD | {"segmentation": segmentation})
    assert isinstance(outlines.outlines[0].shape, Box)
    assert [(problem.rows, problem.used) for problem in outlines.problems] == [(1, True)]


@pytest.mark.parametrize(
    "images",
    [
        [IMAGE, IMAGE | {"file_name": "b.jpg"}],
        [IMAGE | {"id": [7]}],
        [IMAGE | {"id": None}],
        [IMAGE | {"file_name": 3}],
        ["a.jpg", None],
    ],
)
def test_images_without_a_usable_identity_are_not_used(tmp_path: Path, images: Any) -> None:
    outlines = coco(tmp_path, GOOD, images=images)
    assert outlines.outlines == ()
    assert outlines.problems


def test_sizes_of_images_may_be_anything(tmp_path: Path) -> None:
    for size in (10**400, -1, "x", None, [1], 10**9):
        (outline,) = coco(tmp_path, GOOD, images=[IMAGE | {"width": size}]).outlines
        assert outline.size is None


@pytest.mark.parametrize("text", ["{", "[]", '{"images": []}', "[" * 100_000, "1" * 5000])
def test_a_json_file_that_is_not_coco_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(FileError, match=r"x\.json"):
        read_outlines(tmp_path / "x.json")


# Text boxes and SEE-AI


def test_centre_and_size_become_a_box(tmp_path: Path) -> None:
    write_text(tmp_path / "001.txt", "0 0.5 0.25 0.5 0.25", "")
    (outline,) = read_outlines(tmp_path).outlines
    assert outline.file == "001"
    assert outline.shape == Box(row0=0.125, col0=0.25, row1=0.375, col1=0.75, relative=True)


def test_folders_stay_in_the_name_without_labels(tmp_path: Path) -> None:
    folder = tmp_path / "labels" / "train"
    folder.mkdir(parents=True)
    write_text(folder / "001.txt", "0 0.5 0.5 0.1 0.1")
    (outline,) = read_outlines(tmp_path).outlines
    assert outline.file == "train/001"


def test_the_class_of_polyps_is_given_and_not_guessed(tmp_path: Path) -> None:
    write_text(tmp_path / "001.txt", "0 0.5 0.5 0.1 0.1", "3 0.4 0.5 0.1 0.1")
    with pytest.raises(FileError, match="--class polyp=ID"):
        read_outlines(tmp_path)
    for text in ("polyp=3", "3"):
        outlines = read_outlines(tmp_path, polyp_class=text)
        assert [outline.where for outline in outlines.outlines] == ["line 2 of 001.txt"]
        assert problem_rows(outlines.problems, "the class is not polyp") == 1
    for wrong in ("ulcer=3", "polyp=x", "polyp", "-1"):
        with pytest.raises(ParameterError, match="polyp_class"):
            read_outlines(tmp_path, polyp_class=wrong)


@pytest.mark.parametrize(
    "line",
    ["0 0.5 0.5 0.1 0.1 0.93", "0 0.5 0.5", "0 0.5 0.5 0 0.1", "polyp 1 2 3 4", "0.5 1 1 1 1",
     "0 nan 1 1 1", "0 1e400 1 1 1", "0 0.1 0.2 0.3 0.2 0.3 0.4"],
)  # fmt: skip
def test_lines_that_cannot_be_used_are_counted(tmp_path: Path, line: str) -> None:
    write_text(tmp_path / "001.txt", "0 0.5 0.5 0.1 0.1", line)
    outlines = read_outlines(tmp_path)
    assert len(outlines.outlines) == 1
    assert [problem.rows for problem in outlines.problems] == [1]
    assert "line 2 of 001.txt" in outlines.problems[0].examples[0]


def test_see_ai_as_downloaded_is_read(tmp_path: Path) -> None:
    boxes = tmp_path / "SEE_AI_project_all_txt" / "SEE_AI_project_all_txt"
    images = "SEE_AI_project_all_images/SEE_AI_project_all_images"
    make_files(tmp_path, f"{images}/image00012.jpg", f"{images}/image00013.jpg")
    boxes.mkdir(parents=True)
    write_text(boxes / "image00012.txt", "1 0.5 0.3 0.2 0.2", "6 0.5 0.5 0.2 0.2")
    write_text(boxes / "image00013.txt", "6 0.4 0.4 0.1 0.1")
    write_text(
        tmp_path / "all_annotation.csv",
        ",image number,angiodysplasia,erosion,polyp-like,annotation",
        ",,0,1,6,",
        "0,12,,1,1,2",
    )
    outlines = read_outlines(tmp_path)
    assert (len(outlines.outlines), outlines.outline_format) == (2, "SEE-AI")
    frames = sized({"see": [f"{images}/image00012.jpg", f"{images}/image00013.jpg"]})
    assert found(outlines, frames)[0] == [0, 1]
    # The same images in class folders: the copy that has the label counts.
    other = sized({"u": ["Erosion/SEE-AI/image00012.jpg"], "p": ["Polyp/SEE-AI/image00012.jpg"]})
    assert found(outlines, other, [False, True])[0] == [1]


# Kvasir-Capsule and masks


def test_the_corners_of_kvasir_boxes_belong_to_the_finding(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "metadata.csv",
        KVASIR,
        f"{VIDEO}_7.jpg;{VIDEO};7;Luminal;Polyp;30;10;50;10;50;40;30;40",
        f"{VIDEO}_8.jpg;{VIDEO};8;Luminal;Ulcer;30;10;50;10;50;40;30;40",
        f"{VIDEO}_9.jpg;{VIDEO};9;Luminal;Polyp;;;;;;;",
        f"{VIDEO}_1.jpg;{VIDEO};1;Luminal;Normal clean mucosa;;;;;;;",
    )
    outlines = read_outlines(table)
    (outline,) = outlines.outlines
    assert outline.shape == Box(row0=9.5, col0=29.5, row1=40.5, col1=50.5)
    assert outline.size == (336, 336)
    assert problem_rows(outlines.problems, "the finding is not polyp") == 1
    assert problem_rows(outlines.problems, "a polyp has no box") == 1
    frames = sized({"all": [f"Polyp/{VIDEO}_6.jpg", f"Polyp/{VIDEO}_7.jpg"]}, (336, 336))
    assert found(outlines, frames)[0] == [1]
    assert found(outlines, sized({VIDEO: 10}, (336, 336)))[0] == [7]


def test_a_mask_has_the_name_of_its_image(tmp_path: Path) -> None:
    mask = save(tmp_path / "polyp-2.png", square())
    (outline,) = read_outlines(tmp_path).outlines
    assert (outline.file, outline.exam, outline.frame) == ("polyp-2", None, None)
    assert outline.shape == mask


def test_numbered_masks_name_exam_frame_and_head(tmp_path: Path) -> None:
    save(tmp_path / "exam-1" / "masks" / "000123.png", square())
    save(tmp_path / "exam-1" / "masks" / "000124-head-1.png", square())
    rows = [(o.exam, o.frame, o.head, o.file) for o in read_outlines(tmp_path).outlines]
    assert rows == [
        ("exam-1", 123, None, "exam-1/000123"),
        ("exam-1", 124, 1, "exam-1/000124-head-1"),
    ]


@pytest.mark.parametrize("region", [".", "kid", "kid/masks"])
@pytest.mark.parametrize("name", ["000001", "polyp-a"])
def test_masks_beside_the_images_of_two_data_sets_are_told_apart(
    tmp_path: Path, region: str, name: str
) -> None:
    for data_set in ("kid", "see"):
        save(tmp_path / data_set / "masks" / f"{name}.png", square())
    paths = {f"{each}-images": [f"/data/{each}/images/{name}.png"] for each in ("kid", "see")}
    rows, report = found(read_outlines(tmp_path / region), sized(paths, (100, 100)))
    assert rows == ([0, 1] if region == "." else [0])
    assert report.problems == ()


@pytest.mark.parametrize("kind", ["coco", "boxes", "masks"])
def test_the_folder_and_the_number_of_an_image_name_a_frame_of_a_video(
    tmp_path: Path, kind: str
) -> None:
    if kind == "coco":
        image = {"id": 1, "file_name": "e1/000003.png", "height": 100, "width": 100}
        entry = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 9, 9]}
        content = {"images": [image], "annotations": [entry], "categories": []}
        (tmp_path / "coco.json").write_text(json.dumps(content))
    elif kind == "boxes":
        (tmp_path / "e1").mkdir()
        (tmp_path / "e1" / "000003.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    else:
        save(tmp_path / "e1" / "000003.png", square())
    rows, report = found(read_outlines(tmp_path), sized({"e0": 5, "e1": 5}, (100, 100)))
    assert rows == [8]
    assert report.problems == ()


def test_images_beside_masks_are_not_masks(tmp_path: Path) -> None:
    save(tmp_path / "images" / "001.png", square())
    save(tmp_path / "masks" / "001.png", square())
    (outline,) = read_outlines(tmp_path).outlines
    assert outline.where == "masks/001.png"


@pytest.mark.parametrize("folder", [False, True])
def test_a_table_of_masks_is_read(tmp_path: Path, folder: bool) -> None:
    table = write_text(
        tmp_path / "masks.csv",
        "exam,head,frame,file,polyp,mask,value",
        "a,1,7,,a/2,m/7.png,2",
        "a,1,x,,a/2,m/8.png,2",
        "a,1,,,a/2,m/9.png,2",
        "a,1,8,,a/2,,",
    )
    outlines = read_outlines(tmp_path if folder else table)
    (outline,) = outlines.outlines
    assert (outline.exam, outline.head, outline.frame, outline.file) == ("a", 1, 7, None)
    assert (outline.shape, outline.polyp) == (MaskFile(str(tmp_path / "m/7.png"), 2), "a/2")
    assert [problem.rows for problem in outlines.problems] == [1, 1]


def test_sequences_stand_in_for_polyps(tmp_path: Path) -> None:
    write_text(tmp_path / "frames.csv", "file,mask,sequence", "f/1.jpg,m/1.png,4", "f/2.jpg,,4")
    (outline,) = read_outlines(tmp_path).outlines
    assert (outline.file, outline.polyp) == ("f/1.jpg", "sequence 4")


# Recognising


@pytest.mark.parametrize("name", ["1.txt", "masks.csv", "coco.json"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_what_is_not_a_file_is_refused_and_not_left_out(
    tmp_path: Path, name: str, kind: str
) -> None:
    (tmp_path / "0.txt").write_text("0 0.5 0.5 0.1 0.1\n")
    if kind == "pipe":
        os.mkfifo(tmp_path / name)
    else:
        (tmp_path / name).symlink_to(tmp_path / "absent")
    if name == "coco.json":
        (tmp_path / "0.txt").unlink()
    with pytest.raises(FileError, match=name):
        read_outlines(tmp_path)


def test_a_folder_of_two_formats_is_not_guessed(tmp_path: Path) -> None:
    write_text(tmp_path / "1.txt", "0 0.5 0.5 0.1 0.1")
    save(tmp_path / "1.png", square())
    with pytest.raises(FileError, match="text boxes or masks"):
        read_outlines(tmp_path)


def test_unknown_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="unknown format"):
        read_outlines(tmp_path)
    with pytest.raises(FileError, match="no such file"):
        read_outlines(tmp_path / "absent")
    with pytest.raises(FileError, match="unknown format"):
        read_outlines(write_text(tmp_path / "t.csv", "a,b", "1,2"))
