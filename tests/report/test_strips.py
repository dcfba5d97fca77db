from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve import FileError
from capsieve.report.exam_tables import read_events
from capsieve.report.strips import LONGEST_STRIP, Strip, event_strips, named
from screened_exam import write_exam

DASH = "\N{EN DASH}"


def strips_of(
    folder: Path,
    thumbnails: dict[tuple[int, int], bytes],
    *,
    most_bytes: int = 10**7,
    zero: float | None = 0.0,
) -> list[Strip]:
    events = read_events(folder)
    return event_strips(folder, events, thumbnails, most_bytes=most_bytes, zero=zero)


def frames_of(strip: Strip) -> list[int]:
    return [int(small.frame) for small in strip.pictures]


def test_a_strip_holds_the_frames_to_read_but_the_best_one_in_order(tmp_path: Path) -> None:
    thumbnails = write_exam(tmp_path / "exam", heads=2, events=4, length=6)
    strips = strips_of(tmp_path / "exam", thumbnails)
    for event, strip in zip(read_events(tmp_path / "exam"), strips, strict=True):
        first = event.first_frame  # the best one; the fourth is a near copy
        assert frames_of(strip) == [first + 1, first + 2, first + 4, first + 5]
        assert strip.rest == ""


def test_a_best_frame_in_the_middle_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "exam"
    thumbnails = write_exam(folder, events=1, length=3)
    table = pq.read_table(folder / "events.parquet")
    [row] = table.to_pylist()
    first = row["first_frame"]
    row["best_frame"] = first + 1
    pq.write_table(pa.Table.from_pylist([row], table.schema), folder / "events.parquet")
    assert frames_of(strips_of(folder, thumbnails)[0]) == [first, first + 2]


def test_a_single_frame_has_no_strip(tmp_path: Path) -> None:
    thumbnails = write_exam(tmp_path / "exam", events=1, length=1)
    assert strips_of(tmp_path / "exam", thumbnails) == [Strip()]


def test_a_long_strip_is_evenly_spread_and_names_the_rest(tmp_path: Path) -> None:
    thumbnails = write_exam(tmp_path / "exam", events=1, length=101)
    [strip] = strips_of(tmp_path / "exam", thumbnails)
    shown = frames_of(strip)
    others = sorted(frame for _, frame in thumbnails)[1:]
    assert len(shown) == LONGEST_STRIP
    assert (shown[0], shown[-1]) == (others[0], others[-1])
    places = np.searchsorted(others, shown)
    assert set(np.diff(places).tolist()) <= {4, 5}
    assert strip.rest.startswith(f"frames {shown[0] + 1}, ")
    assert strip.rest.endswith(" more")


def test_pictures_stop_where_their_bytes_are_used_up(tmp_path: Path) -> None:
    thumbnails = dict.fromkeys(write_exam(tmp_path / "exam", events=3, length=3), b"x" * 100)
    last = read_events(tmp_path / "exam")[2]
    thumbnails[0, last.last_frame] = b"x"  # small enough for what is left, but not its turn
    strips = strips_of(tmp_path / "exam", thumbnails, most_bytes=350)
    assert [len(strip.pictures) for strip in strips] == [2, 1, 0]
    second = read_events(tmp_path / "exam")[1]
    assert strips[1].rest == f"frame {second.last_frame}"
    assert strips[2].rest == f"frames {last.first_frame + 1}{DASH}{last.last_frame}"


def test_the_ball_of_each_frame_is_drawn_over_it(tmp_path: Path) -> None:
    thumbnails = write_exam(tmp_path / "exam", events=1, length=2)
    [event] = read_events(tmp_path / "exam")
    [small] = strips_of(tmp_path / "exam", thumbnails)[0].pictures
    assert f'cx="{event.col:.1f}" cy="{event.row:.1f}" r="{event.radius:.1f}"' in small.drawing
    assert small.shape == (128, 128)


def test_times_count_from_the_first_frame(tmp_path: Path) -> None:
    thumbnails = write_exam(tmp_path / "exam", events=1, length=2, start=3600.0)
    [strip] = strips_of(tmp_path / "exam", thumbnails, zero=3600.0)
    assert strip.pictures[0].time.startswith("0:00:")
    [strip] = strips_of(tmp_path / "exam", thumbnails, zero=None)
    assert strip.pictures[0].time == ""


def test_no_events_need_no_strips(tmp_path: Path) -> None:
    write_exam(tmp_path / "exam", events=0)
    assert strips_of(tmp_path / "exam", {}) == []


def test_a_damaged_table_is_an_error_with_advice(tmp_path: Path) -> None:
    thumbnails = write_exam(tmp_path / "exam")
    (tmp_path / "exam" / "frames.parquet").write_bytes(b"PAR1 no more PAR1")
    with pytest.raises(FileError, match=r"frames\.parquet.*--fresh"):
        strips_of(tmp_path / "exam", thumbnails)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([], ""),
        ([812], "frame 812"),
        ([812, 815], "frames 812 and 815"),
        ([812, 813, 814, 820, 9000], f"frames 812{DASH}814, 820 and 9000"),
        ([5, 6], f"frames 5{DASH}6"),
    ],
)
def test_frames_are_named_by_their_numbers(numbers: list[int], words: str) -> None:
    assert named(numbers) == words


def test_many_frames_are_counted_in_the_end() -> None:
    words = named(list(range(0, 4000, 2)))
    assert words.startswith("frames 0, 2, 4, ")
    assert words.endswith(", 30 and 1,984 more")
    assert named(list(range(0, 32, 2))).endswith(", 28 and 30")
    assert named(list(range(0, 34, 2))).endswith(", 30 and 1 more")
