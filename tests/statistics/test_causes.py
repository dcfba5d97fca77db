"""False positives by cause."""

import csv

import numpy as np
import pytest
from scipy.stats import binomtest

from capsieve.statistics.causes import NOTHING_NAMED, causes_table, finding_words
from capsieve.statistics.flags import flagged_at
from capsieve.statistics.judged import NORMAL, OTHER, POLYP
from sample_frames import CAPSULE
from support.judged_frames import judged_frames


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("erosion", ("erosion",)),
        ("bleeding;erosion;erythema", ("bleeding", "erosion", "erythema")),
        ("fold | bubbles", ("fold", "bubbles")),
        ("fold, bubbles,fold", ("fold", "bubbles")),
        ("bubbles liquid", ("bubbles", "liquid")),
        ("foreign body", ("foreign body",)),
        ("foreign body; bubbles", ("foreign body", "bubbles")),
        ("normal", ()),
        ("Normal", ()),
        (" ; ", ()),
        ("", ()),
    ],
)
def test_findings_are_told_apart(text: str, words: tuple[str, ...]) -> None:
    assert finding_words(text) == words


def test_causes_counted_by_hand() -> None:
    judged = judged_frames(
        [9, 1, 9, 9, 1, 9, np.nan, 9],
        [OTHER, OTHER, OTHER, NORMAL, NORMAL, NORMAL, OTHER, POLYP],
        findings=("erosion", "bleeding;erosion", "bubbles", "normal"),
        finding=[0, 0, 1, 2, -1, 3, 0, 0],
    )
    table = causes_table(judged, flagged_at(judged.score, 5.0))
    assert [row[:5] for row in table.rows] == [
        ("erosion", 3, 3, 2, pytest.approx(2 / 3)),
        ("bleeding", 1, 1, 1, 1.0),
        ("bubbles", 0, 1, 1, 1.0),
        (NOTHING_NAMED, 0, 2, 1, 0.5),
    ]
    assert table.total is not None
    assert table.total[1:4] == (3, 6, 4)
    assert "1 frame not scored" in table.caption
    expected = binomtest(2, 3).proportion_ci(method="wilson")
    assert table.rows[0][5:] == pytest.approx((expected.low, expected.high))


def test_without_frames_the_table_is_empty() -> None:
    table = causes_table(judged_frames([9.0], [POLYP]), np.array([True]))
    assert table.rows == ()
    assert table.total == ("All frames without a polyp", 0, 0, 0, None, None, None)


def test_the_findings_of_the_public_frames_add_up() -> None:
    path = CAPSULE / "frames.csv"
    if not path.exists():
        pytest.skip("the public capsule frames are not here")
    with path.open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    findings = tuple(dict.fromkeys(row["findings"] for row in rows))
    truth = {"polyp": POLYP, "normal": NORMAL, "other": OTHER}
    judged = judged_frames(
        np.ones(len(rows)),
        [truth[row["label"]] for row in rows],
        findings=findings,
        finding=[findings.index(row["findings"]) for row in rows],
    )
    counts = {row[0]: row[2] for row in causes_table(judged, np.ones(len(rows), bool)).rows}
    for word in ("erosion", "angioectasia", "foreign-body"):
        assert counts[word] == sum(
            word in row["findings"] and row["label"] != "polyp" for row in rows
        )
    assert counts[NOTHING_NAMED] == sum(row["label"] == "normal" for row in rows)
