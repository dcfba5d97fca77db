"""The columns of the timeline say what the table says."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError
from capsieve.review.frames import timeline_bytes
from screened_exam import write_exam


def taken_apart(content: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    length = int.from_bytes(content[:4], "little")
    header = json.loads(content[4 : 4 + length])
    at = -(-(4 + length) // 8) * 8
    columns: dict[str, np.ndarray] = {}
    for about in header["columns"]:
        assert at % 8 == 0
        kind = np.dtype(about["type"]).newbyteorder("<")
        columns[about["name"]] = np.frombuffer(content, kind, about["length"], at)
        at += -(-about["length"] * kind.itemsize // 8) * 8
    assert at == len(content)
    return header, columns


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("out") / "exam"
    write_exam(folder, frames=101, heads=2, undecodable=(20, 29), length=4)
    return folder


@pytest.mark.parametrize("head", [0, 1])
def test_columns_are_those_of_the_table(exam: Path, head: int) -> None:
    rows = [
        row for row in pq.read_table(exam / "frames.parquet").to_pylist() if row["head"] == head
    ]
    header, columns = taken_apart(timeline_bytes(exam, head=head))
    assert header["frames"] == len(rows)
    labels = {"normal": 0, "polyp": 1, None: 255}
    for number, row in enumerate(rows):
        assert columns["time_s"][number] == row["time_s"]
        score = np.nan if row["score"] is None else np.float32(row["score"])
        np.testing.assert_equal(columns["score"][number], score)
        assert columns["label"][number] == labels[row["label"]]
        assert header["reasons"][columns["reason"][number]] == (row["reason"] or "")
        assert columns["event"][number] == (-1 if row["event"] is None else row["event"])
        assert columns["repeats"][number] == (-1 if row["repeats"] is None else row["repeats"])
        assert columns["status"][number] == (row["status"] == "undecodable")
        colour = [round(row[name] or 0) for name in ("red", "green", "blue")]
        assert columns["rgb"].reshape(-1, 3)[number].tolist() == colour
    assert (columns["label"] == 1).any()
    assert (columns["repeats"] >= 0).any()
    assert (columns["status"] == 1).sum() == (10 if head == 0 else 0)


def test_unknown_times_are_no_numbers(tmp_path: Path) -> None:
    write_exam(tmp_path / "exam", frames=7, events=0, timed=False)
    _, columns = taken_apart(timeline_bytes(tmp_path / "exam", head=0))
    assert np.isnan(columns["time_s"]).all()


def test_a_head_that_is_not_there_is_refused(exam: Path) -> None:
    with pytest.raises(FileError, match="no head 5"):
        timeline_bytes(exam, head=5)
