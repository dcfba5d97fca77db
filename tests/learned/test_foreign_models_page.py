"""The worked example of docs/foreign-models.md, as far as the results of a screening."""

import json
import re
from hashlib import sha256
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

import capsieve
from capsieve.learned.spec import ModelSpec
from support.polyp_frames import polyp_frame

PAGE = (Path(__file__).parents[2] / "docs" / "foreign-models.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_description_on_the_page_is_a_valid_one():
    whole, values = blocks("toml")
    assert ModelSpec.from_toml(whole).image is not None
    both = ModelSpec.from_toml(whole + values)
    assert both.values is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["redness", "red"])
def test_the_models_of_the_page_screen_an_exam(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frames = [polyp_frame(seed=seed, size=128) for seed in range(4)]
    for block in blocks("python"):
        exec(block, {"frames": frames})
    (tmp_path / "exam").mkdir()
    for number, pixels in enumerate(frames):
        Image.fromarray(pixels).save(tmp_path / "exam" / f"{number}.png")
    capsieve.screen(["exam"], "out", detector=f"{name}.onnx", workers=1)
    table = pq.read_table(tmp_path / "out" / "exam" / "frames.parquet").to_pydict()
    record = json.loads((tmp_path / "out" / "exam" / "exam.json").read_text())
    digest = sha256(Path(f"{name}.onnx").read_bytes()).hexdigest()
    assert record["detector"]["model"] == digest
    assert all(0 <= score <= 1 for score in table["score"])
    assert set(table["reason"]) <= {"polyp", "score-low"}
    if name == "red":
        assert all(row is not None for row in table["row"])
