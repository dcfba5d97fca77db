from pathlib import Path

import numpy as np
from PIL import Image

import capsieve
from capsieve.phantom import polyp_frame
from capsieve.report.evaluation.gallery_pictures import recalling


def test_frames_come_from_their_source_or_not_at_all(tmp_path: Path) -> None:
    source = tmp_path / "exam-1"
    source.mkdir()
    pixels = polyp_frame(size=96)
    for number in range(2):
        Image.fromarray(pixels).save(source / f"frame{number}.png")
    capsieve.screen(source, tmp_path / "out")
    for results in (tmp_path / "out", tmp_path / "out" / "exam-1"):
        found = recalling(results)("exam-1", 0, 1)
        assert found is not None
        assert np.array_equal(found, pixels)
    fetch = recalling(tmp_path / "out")
    assert fetch("exam-1", 0, 99) is None
    assert fetch("another", 0, 0) is None
    Image.fromarray(255 - pixels).save(source / "frame1.png")
    assert fetch("exam-1", 0, 1) is None, "another picture than the one that was screened"
