import base64
import re
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from capsieve.frame_table import to_read
from capsieve.report.exam import exam_report
from capsieve.store.frame_columns import frame_columns
from capsieve.store.record import read_record, write_record
from support.html_page import Page
from support.screened_exam import write_exam

KINDS: dict[str, dict[str, Any]] = {
    "two heads": {"frames": 200, "heads": 2, "start": 7.0},
    "images": {"frames": 80, "events": 3, "timed": False, "files": True},
    "no events": {"frames": 60, "events": 0},
    "broken": {"frames": 200, "undecodable": (80, 110)},
    "one frame": {"frames": 1, "events": 0},
    "no frame": {"frames": 0, "events": 0},
}


def report_of(
    folder: Path, thumbnails: Mapping[tuple[int, int], bytes], home: Path | None = None
) -> str:
    """The page of an exam whose tables are in a folder."""
    tables = {
        name: pq.read_table(folder / f"{name}.parquet").replace_schema_metadata(None)
        for name in ("frames", "features", "events")
    }
    columns = frame_columns({"": tables["frames"]})
    return exam_report(
        read_record(folder),
        tables,
        to_read=to_read(columns.event, columns.score, columns.duplicate_of),
        home=home or folder,
        thumbnails=thumbnails,
        evidence={},
    )


@pytest.fixture(params=KINDS)
def page(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    folder = tmp_path / "out" / "exam-1"
    return report_of(folder, write_exam(folder, **KINDS[request.param]))


def a_page(tmp_path: Path, **options: Any) -> str:
    folder = tmp_path / "out" / "exam-1"
    return report_of(folder, write_exam(folder, **options))


def test_tags_are_balanced_and_ids_are_unique(page: str) -> None:
    ids = Counter(Page(page).values("id"))
    assert ids
    assert max(ids.values()) == 1


def test_every_link_and_label_leads_somewhere_on_the_page(page: str) -> None:
    parsed = Page(page)
    ids = set(parsed.values("id"))
    links = [value for value in parsed.values("href") if not value.startswith("data:image/")]
    assert {link.removeprefix("#") for link in links} <= ids
    assert all(link.startswith("#") for link in links)
    assert set(parsed.values("aria-labelledby")) <= ids
    assert set(re.findall(r"url\(#([^)]+)\)", page)) <= ids


def test_nothing_is_fetched_from_elsewhere(page: str) -> None:
    assert "://" not in page
    assert "@import" not in page
    assert all(value.startswith("data:image/jpeg;base64,") for value in Page(page).values("src"))


def test_the_policy_allows_this_style_and_this_script_alone(page: str) -> None:
    policy = next(value for value in Page(page).values("content") if "default-src" in value)
    for tag in ("style", "script"):
        [inside] = re.findall(f"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert Page(page).values("style") == []


def test_pictures_have_a_text_and_headings_do_not_jump(page: str) -> None:
    parsed = Page(page)
    assert all(each.get("alt") for tag, each in parsed.attributes if tag == "img")
    levels = [int(tag[1]) for tag, _ in parsed.attributes if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_it_says_that_it_is_no_medical_device(page: str) -> None:
    assert "Research software, not a medical device." in Page(page).text


def test_the_same_folder_gives_the_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder, heads=2)
    assert report_of(folder, dict(reversed(thumbnails.items()))) == report_of(folder, thumbnails)


def test_hostile_names_are_only_text(tmp_path: Path) -> None:
    evil = "<script>alert(1)<\"'&>\u202e"
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder, files=True, exam=evil, warnings=[evil])
    record = read_record(folder)
    record["problems"] = [
        {"what": evil, "head": 0, "frames": 1, "first_frame": 3, "last_frame": 3,
         "first_time_s": None, "last_time_s": None, "file": evil}
    ]  # fmt: skip
    record["sources"][0]["path"] = evil
    record["run"][evil] = evil
    write_record(record, folder)
    events = pq.read_table(folder / "events.parquet")
    column = events.schema.get_field_index("best_file")
    names = [evil] * len(events)
    pq.write_table(events.set_column(column, "best_file", [names]), folder / "events.parquet")
    page = report_of(folder, thumbnails)
    parsed = Page(page)
    assert [tag for tag, _ in parsed.attributes].count("script") == 1
    assert "alert(1)" not in re.sub(r"&lt;script&gt;alert\(1\)", "", page)
    assert "\u202e" not in page
    assert parsed.text.count("<script>alert(1)<\"'&>") >= len(events) + 5


def test_what_is_to_be_read_is_the_big_figure(tmp_path: Path) -> None:
    page = a_page(tmp_path, frames=200, heads=2)
    counts = read_record(tmp_path / "out" / "exam-1")["frame_counts"]
    assert f'<span class="big">{counts["to_read"]}</span>' in page
    assert f"frames to read out of {counts['found']} " in Page(page).text


def test_an_incomplete_exam_says_what_is_missing(tmp_path: Path) -> None:
    text = Page(a_page(tmp_path, frames=200, undecodable=(80, 110))).text
    assert "This exam is not complete" in text
    assert re.search(r"31 frames\s+could not be decoded", text)
    assert "frames 80 to 110" in text


@pytest.mark.parametrize("complete", [True, False])
def test_frames_that_were_not_screened_are_in_the_banner(tmp_path: Path, complete: bool) -> None:
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder, complete=complete)
    record = read_record(folder)
    for counts in (record["frame_counts"], record["heads"]["0"]):
        counts["unscreened"] = 32
        counts["found"] += 32
    write_record(record, folder)
    text = Page(report_of(folder, thumbnails)).text
    assert re.search(r"32 frames\s+were not screened", text)
    assert text.index("were not screened") < text.index("frames to read")
    assert re.search(r"Not screened\s*32\b", text)
    assert "does not add up" not in text


def test_every_frame_to_read_is_on_the_page_once(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    page = report_of(folder, write_exam(folder, frames=900, heads=2, events=6, length=9))
    frames = pq.read_table(folder / "frames.parquet").to_pylist()
    expected = [
        (row["head"], row["frame"])
        for row in frames
        if row["event"] and row["duplicate_of"] is None
    ]
    texts = [each["alt"] or "" for tag, each in Page(page).attributes if tag == "img"]
    shown = [re.search(r"[Ff]rame (\d+) of head (\d)", text) for text in texts]
    assert sorted((int(each[2]), int(each[1])) for each in shown if each) == expected
    assert len(expected) == read_record(folder)["frame_counts"]["to_read"]


def test_a_card_shows_three_thumbnails_and_folds_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    page = report_of(folder, write_exam(folder, events=1, length=9))
    [card] = re.findall("<article.*?</article>", page, re.DOTALL)
    shown, _, folded = card.partition("<details>")
    assert shown.count("<li") == 3
    more = folded.count("<li")
    assert 3 + more + 1 == read_record(folder)["frame_counts"]["to_read"] > 5  # 1: the best frame
    assert f"<summary>+{more}<" in card


def test_every_key_of_the_legend_has_a_style(tmp_path: Path) -> None:
    page = a_page(tmp_path)
    keys = set(re.findall(r'class="key ([a-z]+-key)"', page)) | {"map-key"}
    assert {"ball-key", "ellipse-key", "map-key"} <= keys
    assert all(f".{name}::before" in page for name in keys)


def test_several_warnings_are_one_block(tmp_path: Path) -> None:
    page = a_page(tmp_path, warnings=["The first.", "The second.", "The third."])
    assert page.count('<p class="warning"') + page.count('<div class="warning"') == 1


def test_a_score_is_not_presented_as_a_probability(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder)
    record = read_record(folder)
    record["detector"] = {"name": "learned", "score": "probability"}
    write_record(record, folder)
    assert "probab" not in Page(report_of(folder, thumbnails)).text


def test_frames_without_a_picture_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder, events=1, length=3)
    assert "also to read" not in Page(report_of(folder, thumbnails)).text
    first, second, third = thumbnails
    text = Page(report_of(folder, {first: thumbnails[first]})).text
    assert f"also to read: frames {second[1]}\N{EN DASH}{third[1]}" in text
    assert "frames.parquet" in text


def test_the_range_is_not_said_to_be_quantiles_where_it_is_wider(tmp_path: Path) -> None:
    measure = {"low": 375.0, "high": 625.0, "median": 500.0, "below": 0, "above": 0, "warning": ""}
    with_field = {"reference": "a study", "measures": {"field": measure}}
    assert "25 % wider" in Page(a_page(tmp_path / "1", range=with_field)).text
    assert "25 % wider" not in Page(a_page(tmp_path / "2")).text


def test_a_complete_exam_has_no_banner(tmp_path: Path) -> None:
    assert "not complete" not in Page(a_page(tmp_path)).text


def test_no_event_is_not_said_to_mean_no_polyp(tmp_path: Path) -> None:
    text = Page(a_page(tmp_path, events=0)).text
    assert "No frame was flagged. This does not mean that there is no polyp." in text


def test_warnings_stand_in_the_summary(tmp_path: Path) -> None:
    page = a_page(tmp_path, warnings=["This exam is darker than the reference."])
    assert "darker than the reference" in page[: page.index('id="timeline"')]


def test_counts_that_do_not_add_up_say_so(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder)
    assert "does not add up" not in report_of(folder, thumbnails)
    record = read_record(folder)
    record["frame_counts"]["flagged"] += 1
    write_record(record, folder)
    assert report_of(folder, thumbnails).count("does not add up") == 2


def test_commands_name_the_place_where_the_exam_will_be(tmp_path: Path) -> None:
    home, folder = tmp_path / "out" / "exam-1", tmp_path / "staging"
    thumbnails = write_exam(folder, heads=2, exam="exam-1")
    text = Page(report_of(folder, thumbnails, home=home)).text
    assert re.search(r"capsieve explain out/exam-1 --frame \d+ --head 1", text)
    assert "capsieve explain exam-1 --frame" in Page(report_of(folder, thumbnails)).text


@pytest.mark.slow
def test_a_long_exam_makes_a_small_page_with_every_event(tmp_path: Path) -> None:
    page = a_page(tmp_path, frames=25_000, heads=2, events=350, size=512)
    ids = Page(page).values("id")
    assert {f"event-{rank}" for rank in range(1, 701)} <= set(ids)
    assert page.count("<article") == 200
    assert len(page) < 8_000_000
    start = page.index('<svg class="timeline"')
    assert page.index("</svg>", start) - start < 150_000


def test_the_legend_names_preselection_only_if_there_was_one(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "exam-1"
    thumbnails = write_exam(folder)
    assert "rejected: too smooth" in report_of(folder, thumbnails)
    record = read_record(folder)
    for counts in (record["frame_counts"], *record["heads"].values()):
        rejected = counts["rejected"]
        rejected["score-low"] = rejected.pop("texture-low") + rejected.pop("texture-high")
    write_record(record, folder)
    assert "rejected: too smooth" not in report_of(folder, thumbnails)
