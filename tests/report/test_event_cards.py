import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.report.event_cards import MOST_CARDS, event_cards, explain_command
from capsieve.report.exam_tables import read_best, read_events
from capsieve.report.overlay import overlay
from screened_exam import write_exam


def test_the_ellipse_lies_inside_the_ball_and_around_its_feature(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    write_exam(folder, events=1)
    [event] = read_events(folder)
    key = event.head, event.best_frame
    shapes, features = read_best(folder, [key])
    assert event.row is not None
    assert event.col is not None
    assert event.radius is not None
    drawn = overlay(shapes[key], (event.row, event.col, event.radius), features[key])
    [outline] = set(re.findall(r'd="M([^"]+)z"', drawn))
    points = np.array([place.split(" ") for place in outline.split("L")], dtype=float)
    away = np.hypot(points[:, 0] - event.col, points[:, 1] - event.row)
    assert away.max() < event.radius
    best = features[key]
    area = best.feature.size * best.scale**2
    x, y = points.T
    assert abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2 == pytest.approx(area, rel=0.02)
    assert f'cx="{event.col:.1f}" cy="{event.row:.1f}" r="{event.radius:.1f}"' in drawn


def test_the_best_feature_is_the_one_with_the_largest_ball(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    write_exam(folder, events=1)
    table = pq.read_table(folder / "features.parquet")
    [row] = table.to_pylist()
    others = [row | {"feature": 7, "radius": row["radius"] + 1}, row | {"feature": 8, "radius": 0}]
    pq.write_table(pa.Table.from_pylist([row, *others], table.schema), folder / "features.parquet")
    key = row["head"], row["frame"]
    assert read_best(folder, [key])[1][key].feature.number == 7


def test_only_the_best_events_have_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    thumbnails = write_exam(folder, frames=1500, events=MOST_CARDS + 30)
    cards, rows = event_cards(folder, read_events(folder), thumbnails, place="exam", zero=0.0)
    assert [int(card.rank) for card in cards + rows] == list(range(1, MOST_CARDS + 31))
    assert all(card.picture and card.drawing for card in cards)
    assert len(rows) == 30


def test_large_pictures_do_not_make_a_large_page(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    thumbnails = dict.fromkeys(write_exam(folder, events=6), b"\xff" * 700_000)
    cards, rows = event_cards(folder, read_events(folder), thumbnails, place="exam", zero=0.0)
    assert (len(cards), len(rows)) == (5, 1)


def test_best_frames_have_their_pictures_before_any_strip(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    thumbnails = dict.fromkeys(write_exam(folder, events=3, length=3), b"\xff" * 700_000)
    cards, _ = event_cards(folder, read_events(folder), thumbnails, place="exam", zero=0.0)
    assert all(card.picture for card in cards)
    assert [len(card.others.pictures) for card in cards] == [2, 0, 0]
    assert [bool(card.others.rest) for card in cards] == [False, True, True]


def test_a_missing_picture_leaves_the_card(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    write_exam(folder, events=2)
    cards, _ = event_cards(folder, read_events(folder), {}, place="exam", zero=0.0)
    assert [card.picture for card in cards] == ["", ""]


def test_times_count_from_the_first_frame(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    thumbnails = write_exam(folder, events=3, start=3600.0)
    events = read_events(folder)
    early, _ = event_cards(folder, events, thumbnails, place="exam", zero=3600.0)
    assert all(card.time.startswith("0:00:") for card in early)
    unknown, _ = event_cards(folder, events, thumbnails, place="exam", zero=None)
    assert {card.time for card in unknown} == {""}


@pytest.mark.parametrize(
    ("place", "head", "command"),
    [
        ("out/exam", 0, "capsieve explain out/exam --frame 5 "),
        ("out/exam", 1, "capsieve explain out/exam --frame 5 --head 1"),
        ("out/my exam", 0, "capsieve explain 'out/my exam' --frame 5 "),
    ],
)
def test_commands_can_be_pasted(place: str, head: int, command: str) -> None:
    assert " ".join(explain_command(place, head, 5)) == command
