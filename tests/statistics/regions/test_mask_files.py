"""Masks in folders and tables, and the boxes of Kvasir-Capsule."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from capsieve.statistics.regions.kvasir_boxes import read_kvasir_boxes
from capsieve.statistics.regions.mask_folder import read_mask_folder
from capsieve.statistics.regions.mask_table import read_mask_table
from capsieve.statistics.regions.region import Box, MaskFile

KVASIR = "filename;video_id;frame_number;finding_category;finding_class;x1;y1;x2;y2;x3;y3;x4;y4\n"


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.zeros((4, 4), np.uint8)).save(path)
    return path


def test_a_mask_has_the_name_of_its_image(tmp_path: Path) -> None:
    mask = touch(tmp_path / "polyp-2.png")
    (region,) = read_mask_folder(tmp_path).regions
    assert (region.file, region.exam, region.frame) == ("polyp-2", None, None)
    assert region.shape == MaskFile(str(mask))


def test_numbered_masks_name_exam_frame_and_head(tmp_path: Path) -> None:
    touch(tmp_path / "exam-1" / "masks" / "000123.png")
    touch(tmp_path / "exam-1" / "masks" / "000124-head-1.png")
    found = [(r.exam, r.frame, r.head, r.file) for r in read_mask_folder(tmp_path).regions]
    assert found == [
        ("exam-1", 123, None, "exam-1/000123"),
        ("exam-1", 124, 1, "exam-1/000124-head-1"),
    ]


def test_images_beside_masks_are_no_masks(tmp_path: Path) -> None:
    touch(tmp_path / "images" / "001.png")
    touch(tmp_path / "masks" / "001.png")
    (region,) = read_mask_folder(tmp_path).regions
    assert region.where == str(Path("masks") / "001.png")


def test_a_table_pairs_frames_and_masks(tmp_path: Path) -> None:
    table = tmp_path / "frames.csv"
    table.write_text("file,mask,sequence\nframes/1.jpg,masks/1.png,4\nframes/2.jpg,,4\n,m.png,1\n")
    regions = read_mask_table(tmp_path)
    (region,) = regions.regions
    assert (region.file, region.polyp) == ("frames/1.jpg", "sequence 4")
    assert region.shape == MaskFile(str(tmp_path / "masks/1.png"))
    assert [problem.rows for problem in regions.problems] == [1]


@pytest.mark.parametrize("folder", [False, True])
def test_a_table_may_name_frames_of_a_video_and_grey_levels(tmp_path: Path, folder: bool) -> None:
    table = tmp_path / "masks.csv"
    table.write_text(
        "exam,head,frame,file,polyp,mask,value\n"
        "a,1,7,,a/2,m/7.png,2\n"
        "a,1,x,,a/2,m/8.png,2\n"
        "a,1,,,a/2,m/9.png,2\n"
    )
    regions = read_mask_table(tmp_path if folder else table)
    (region,) = regions.regions
    assert (region.exam, region.head, region.frame, region.file) == ("a", 1, 7, None)
    assert region.shape == MaskFile(str(tmp_path / "m/7.png"), 2)
    assert [problem.rows for problem in regions.problems] == [1, 1]


def test_the_corners_of_kvasir_boxes_belong_to_the_finding(tmp_path: Path) -> None:
    table = tmp_path / "metadata.csv"
    table.write_text(
        KVASIR
        + "v_7.jpg;v;7;Luminal;Polyp;30;10;50;10;50;40;30;40\n"
        + "v_8.jpg;v;8;Luminal;Ulcer;30;10;50;10;50;40;30;40\n"
        + "v_9.jpg;v;9;Luminal;Polyp;;;;;;;;\n"
        + "v_1.jpg;v;1;Luminal;Normal clean mucosa;;;;;;;;\n"
    )
    regions = read_kvasir_boxes(table)
    (region,) = regions.regions
    assert region.shape == Box(row0=9.5, col0=29.5, row1=40.5, col1=50.5)
    assert (region.file, region.exam, region.frame) == ("v_7.jpg", "v", 7)
    assert region.size == (336, 336)
    assert {problem.what: problem.rows for problem in regions.problems} == {
        "the finding is not polyp": 1,
        "a polyp has no box": 1,
    }
