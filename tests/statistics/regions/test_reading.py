"""One door for all layouts."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from capsieve.errors import FileError, ParameterError
from capsieve.statistics.regions.reading import read_regions


def make(layout: str, folder: Path) -> Path:
    """Write the smallest thing of a layout."""
    folder.mkdir(exist_ok=True)
    if layout == "COCO":
        (folder / "c.json").write_text(json.dumps({"images": [], "annotations": []}))
        return folder / "c.json"
    if layout == "YOLO":
        (folder / "1.txt").write_text("0 0.5 0.5 0.1 0.1")
    elif layout == "masks":
        Image.fromarray(np.eye(4, dtype=np.uint8)).save(folder / "1.png")
    elif layout == "table of masks":
        (folder / "frames.csv").write_text("file,mask\n1.jpg,1.png\n")
    elif layout == "Kvasir-Capsule":
        (folder / "metadata.csv").write_text("filename;x1;y1;x2;y2;x3;y3;x4;y4;finding_class\n")
    return folder


@pytest.mark.parametrize("layout", ["COCO", "YOLO", "masks", "table of masks", "Kvasir-Capsule"])
def test_every_layout_is_recognised(tmp_path: Path, layout: str) -> None:
    assert read_regions(make(layout, tmp_path)).layout == layout


def test_a_folder_of_two_layouts_is_not_guessed_at(tmp_path: Path) -> None:
    make("YOLO", tmp_path)
    make("masks", tmp_path)
    with pytest.raises(FileError, match="yolo or masks"):
        read_regions(tmp_path)
    assert read_regions(tmp_path, layout="masks").layout == "masks"


def test_unknown_paths_and_layouts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no known layout"):
        read_regions(tmp_path)
    with pytest.raises(FileError, match="no such file"):
        read_regions(tmp_path / "absent")
    with pytest.raises(ParameterError, match="layout"):
        read_regions(tmp_path, layout="voc")
