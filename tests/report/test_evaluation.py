"""The report of an evaluation: what people see first, the files, and the folder."""

import json
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from capsieve.errors import FileError
from capsieve.frame_table import Coded, FlagRule
from capsieve.labels import LabelProblem
from capsieve.report import evaluation as reports
from capsieve.report import tables
from capsieve.report.comparison_tables import compared
from capsieve.report.evaluation import (
    check_folder,
    metrics_json,
    summary,
    write_evaluation,
)
from capsieve.report.evaluation_tables import areas, baseline_warnings, point_line, without_zeros
from capsieve.report.galleries import FrameImages
from capsieve.result_table import Column, Table
from capsieve.statistics.results import Evaluation, Interval, Metric, OperatingPoint
from support.html_page import Page
from support.made_evaluation import bare_evaluation, made_evaluation

EVIL = "<script>alert(1)<\"'&>\u202e\n"


def no_number(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def page_of(evaluation: Evaluation, folder: Path) -> str:
    frame = np.full((64, 64, 3), 90, np.uint8)
    return write_evaluation(
        evaluation, folder, images=FrameImages(pixels=lambda row: frame if row % 2 else None)
    ).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "eval"
    page_of(made_evaluation(leaks=("patient 3 is in both parts",)), folder)
    return folder


@pytest.fixture(scope="module", params=["whole", "bare", "sources"])
def page(request: pytest.FixtureRequest, written: Path, tmp_path_factory) -> str:
    if request.param == "whole":
        return (written / "report.html").read_text(encoding="utf-8")
    folder = tmp_path_factory.mktemp(request.param)
    bare = bare_evaluation()
    sources = made_evaluation(sources=("PillCam", "MiroCam"), histograms=(), roc_polyps=None)
    return write_evaluation(bare if request.param == "bare" else sources, folder).read_text()


def test_tags_are_balanced_ids_unique_and_links_lead_somewhere(page: str) -> None:
    parsed = Page(page)
    ids = Counter(parsed.values("id"))
    assert max(ids.values()) == 1
    assert {link.removeprefix("#") for link in parsed.values("href")} <= set(ids)
    assert set(parsed.values("aria-labelledby")) <= set(ids)


def test_nothing_is_fetched_but_pictures_beside_the_page(page: str, written: Path) -> None:
    assert "://" not in page
    for address in Page(page).values("src"):
        assert address.startswith("data:image/") or (written / address).is_file()
    assert "<script" not in page
    assert Page(page).values("style") == []


def test_pictures_have_a_text_and_headings_do_not_jump(page: str) -> None:
    parsed = Page(page)
    assert all(each.get("alt") for tag, each in parsed.attributes if tag == "img")
    levels = [int(tag[1]) for tag, _ in parsed.attributes if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_it_says_that_it_is_no_medical_device(page: str) -> None:
    assert "not a medical device" in Page(page).text


def test_the_page_starts_with_the_papers_numbers_with_counts_and_intervals(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    place = text.index("Flagged as screened")
    start = text[place : text.index("Figures", place)].replace(" %", "%")
    assert "Flagged as screened: R P = 37" in start
    for words in (
        "Sensitivity per polyp 81.25% 13 of 16 57.0 to 93.4%",
        "Sensitivity per frame 47.4% 109 of 230",
        "Specificity 90.2% 16,901 of 18,738",
        "Frames to read per exam",
    ):
        assert words in re.sub(r"\s+", " ", start)


def test_a_missing_interval_is_explained_once_above_the_tables(tmp_path: Path) -> None:
    evaluation = made_evaluation(compared=False, warnings=())
    text = Page(page_of(evaluation, tmp_path)).text
    assert text[: text.index("metrics.json")].count("only 5 patients") == 1
    assert text.index("only 5 patients") < text.index("Sensitivity per polyp")
    rows = {row[0]: row for row in summary(evaluation).rows}
    assert rows["AUC per frame"][-1] == "\N{EN DASH}"


def test_the_contents_name_every_section_and_table(page: str) -> None:
    parsed = Page(page)
    links = {link.removeprefix("#") for link in parsed.values("href")}
    tables_there = {name for name in parsed.values("id") if name.startswith("table-")}
    sections = set(parsed.values("aria-labelledby")) - {"leaks"}
    assert sections | (tables_there - {"table-frame-counts"}) <= links
    assert "definitions" in sections


def test_leaks_come_before_the_numbers(written: Path) -> None:
    text = Page((written / "report.html").read_text()).text
    assert text.index("Patient 3 is in both parts.") < text.index("Flagged as screened")


def test_several_sources_come_before_the_pooled_figures(tmp_path: Path) -> None:
    table = summary(made_evaluation(sources=("PillCam", "MiroCam"), compared=False))
    first = [name for name in table.column("frames") if name]
    assert first == ["PillCam", "MiroCam", "all sources, pooled"]
    assert "frames" not in [column.key for column in summary(made_evaluation()).columns]


def test_figures_of_a_chosen_rule_are_of_all_frames_next_to_the_test_part() -> None:
    evaluation = made_evaluation(compared=False)
    point = replace(evaluation.points[0], key="chosen")
    test = tuple(
        replace(each, subset="test", value=0.25, numerator=4, denominator=16)
        for each in evaluation.metrics
        if each.key == "polyps.sensitivity"
    )
    table = summary(replace(evaluation, points=(point,), metrics=(*evaluation.metrics, *test)))
    assert table.title == "Chosen on the training part: R_P = 37"
    sensitivity, _, specificity, *_ = table.rows
    assert sensitivity[:5] == ("Sensitivity per polyp", "81.25 %", "13 of 16", "25.0 %", "4 of 16")
    assert specificity[1:] == ("90.2 %", "16,901 of 18,738", "", "", "")


def test_false_positives_are_per_patient_only_if_every_exam_has_its_own() -> None:
    evaluation = made_evaluation(compared=False)
    rows = {row[0]: row[1:3] for row in summary(evaluation).rows}
    assert rows["False positives per patient"] == ("367", "of 3,748 normal")  # 3747.6
    one = replace(evaluation.frames.patient, code=np.zeros(len(evaluation.frames), np.int32))
    frames = replace(evaluation.frames, patient=one)
    measures = summary(replace(evaluation, frames=frames)).column("measure")
    assert "False positives per exam" in measures


@pytest.mark.parametrize(
    ("rule", "shown"),
    [
        (FlagRule("threshold", 0.6745585163128499), "Threshold 0.675"),
        (FlagRule("share", 0.1), "Reading list: 10 % of each exam"),
        (FlagRule("share", 0.005), "Reading list: 0.5 % of each exam"),
        (FlagRule("count", 300), "Reading list: 300 frames of each exam"),
        (None, "Different rules in the exams"),
    ],
)
def test_an_operating_point_is_one_line_without_needless_digits(rule, shown) -> None:
    evaluation = bare_evaluation(detector={"name": "learned"})
    point = OperatingPoint("given", rule, evaluation.frames.flagged, "")
    assert point_line(evaluation, point) == shown


def test_hostile_names_are_only_text(tmp_path: Path) -> None:
    evaluation = made_evaluation(
        compared=False,
        results=EVIL,
        labels=EVIL,
        leaks=(EVIL,),
        warnings=(EVIL,),
        settings={EVIL: EVIL},
        detector={"name": EVIL, EVIL: EVIL},
        problems=(LabelProblem(EVIL, 1, (EVIL,)),),
        tables=(Table("t", EVIL, (Column("a", EVIL),), ((EVIL,),), EVIL, (EVIL,)),),
    )
    interval = Interval(EVIL, 0.1, 0.2, EVIL)
    evil = Metric("frames.sensitivity", 0.5, 1, 2, (interval,), EVIL, f"source: {EVIL}", EVIL, EVIL)
    frames = evaluation.frames
    changed = {
        name: Coded((EVIL,) * len(getattr(frames, name).names), getattr(frames, name).code)
        for name in ("exam", "polyp", "patient", "group", "finding")
    }
    page = page_of(
        replace(
            evaluation,
            metrics=(*evaluation.metrics, evil, replace(evil, subset="source: b")),
            points=(replace(evaluation.points[0], text=EVIL),),
            frames=replace(frames, group_kind=EVIL, **changed),
        ),
        tmp_path,
    )
    assert "<script" not in page
    assert "\u202e" not in page
    Page(page)


def test_a_table_of_an_unknown_kind_is_not_lost(tmp_path: Path) -> None:
    table = Table("odd", "An odd table", (Column("p", "P"),), (("here it is",),))
    page = write_evaluation(bare_evaluation(tables=(table,)), tmp_path).read_text()
    assert "here it is" in page


def test_all_files_are_written(written: Path) -> None:
    found = names(written)
    assert {"metrics.json", "report.html", "files.txt", "tables/sequences.tex"} <= found
    assert {"figures/gallery-found-1.png", "figures/gallery-missed-1.png"} <= found
    assert {"tables/comparison.csv", "figures/comparison.svg"} <= found
    charts = {name for name in found if name.startswith("figures/") and "gallery" not in name}
    assert {name[:-4] for name in charts if name.endswith(".svg")} == {
        name[:-4] for name in charts if name.endswith(".png")
    }


def test_metrics_json_has_values_counts_and_intervals(written: Path) -> None:
    content = json.loads((written / "metrics.json").read_text(), parse_constant=no_number)
    assert content["schema"] == reports.SCHEMA
    found = {(each["key"], each["subset"]): each for each in content["metrics"]}
    polyps = found["polyps.sensitivity", "all"]
    assert (polyps["numerator"], polyps["denominator"], polyps["value"]) == (13, 16, 0.8125)
    none, wilson = polyps["intervals"]
    assert none["low"] is None
    assert "5 patients" in none["why"]
    # R, binom::binom.wilson(13, 16): 0.5699112, 0.9340842
    assert wilson["low"] == pytest.approx(0.5699112, abs=1e-6)
    assert wilson["high"] == pytest.approx(0.9340842, abs=1e-6)
    assert content["points"][0]["value"] == 37.0
    assert content["problems"][0]["rows"] == 3
    assert content["tables"]["sequences"]["columns"][0] == "polyp"
    assert len(content["curves"]["roc_frames"]["thresholds"]) > 10
    assert content["options"]["seed"] == 0


def test_infinite_and_undefined_become_null() -> None:
    metrics = (Metric("frames.auc", float("nan")), Metric("frames.sensitivity", float("inf")))
    settings = {"path": Path("x"), "size": np.float64("nan"), "list": (np.int64(3), {"b", "a"})}
    content = metrics_json(bare_evaluation(metrics=metrics, settings=settings))
    assert [metric["value"] for metric in content["metrics"]] == [None, None]
    assert content["settings"] == {"path": "x", "size": None, "list": [3, ["a", "b"]]}
    json.dumps(content, allow_nan=False)


def test_absent_parts_are_absent() -> None:
    content = metrics_json(bare_evaluation())
    assert content["curves"] == {}
    assert content["comparison"] is None


def test_texts_that_are_no_unicode_do_not_stop_it(tmp_path: Path) -> None:
    write_evaluation(bare_evaluation(labels="caf\udce9.csv"), tmp_path)
    assert json.loads((tmp_path / "metrics.json").read_text())["labels"] == "caf?.csv"


def test_stale_files_of_ours_go_and_foreign_ones_stay(tmp_path: Path) -> None:
    tables_of = made_evaluation(compared=False).tables
    write_evaluation(bare_evaluation(tables=tables_of), tmp_path)
    foreign = [tmp_path / "notes.txt", tmp_path / "tables" / "mine.csv", tmp_path / "x" / "y"]
    for path in foreign:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    assert (tmp_path / "tables" / "sequences.csv").exists()
    write_evaluation(bare_evaluation(tables=tables_of[:1]), tmp_path)
    assert not (tmp_path / "tables" / "sequences.csv").exists()
    assert (tmp_path / "tables" / "frame-counts.csv").exists()
    assert all(path.read_text() == "mine" for path in foreign)


def test_a_forged_list_leads_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "eval"
    write_evaluation(bare_evaluation(), folder)
    victim, other = tmp_path / "victim.txt", folder / "deeper" / "kept.txt"
    other.parent.mkdir()
    for path in (victim, other):
        path.write_text("mine")
    forged = ["../victim.txt", "tables/../../victim.txt", str(victim), "deeper/kept.txt", "tables"]
    with (folder / "files.txt").open("a") as file:
        file.write("\n".join(forged))
    write_evaluation(bare_evaluation(), folder)
    assert victim.exists()
    assert other.exists()


def test_an_interrupted_evaluation_leaves_no_page_and_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables_of = made_evaluation(compared=False).tables
    write_evaluation(bare_evaluation(), tmp_path)
    real = reports.page.write

    def fail(content: Any, path: Path) -> None:
        if path.name == "sequences.csv":
            raise FileError("the disk is full")
        real(content, path)

    with monkeypatch.context() as patch:
        patch.setattr(reports.page, "write", fail)
        with pytest.raises(FileError, match="full"):
            write_evaluation(bare_evaluation(tables=tables_of), tmp_path)
    assert not (tmp_path / "report.html").exists()
    assert (tmp_path / "tables" / "frame-counts.csv").exists()
    write_evaluation(bare_evaluation(), tmp_path)
    assert names(tmp_path) == {"files.txt", "metrics.json", "report.html"}


@pytest.mark.parametrize("name", ["exam.json", "an-exam/exam.json", "report.html", "metrics.json"])
def test_a_folder_with_something_else_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("{}")
    with pytest.raises(FileError, match="give another folder"):
        write_evaluation(bare_evaluation(), tmp_path)
    assert names(tmp_path) == {name}


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "eval").write_text("a file")
    with pytest.raises(FileError, match="eval"):
        check_folder(tmp_path / "eval")


def test_the_summary_fits_a_terminal() -> None:
    lines = tables.terminal(summary(made_evaluation())).splitlines()
    assert max(map(len, lines)) <= 110


def test_a_trivial_score_that_is_as_good_as_the_detector_is_a_warning() -> None:
    metrics = (
        Metric("frames.auc", 0.7),
        Metric("baseline.redness.auc", 0.2, name="AUC of mean redness"),
        Metric("baseline.sharpness.auc", 0.6, name="AUC of sharpness"),
    )
    [warning] = baseline_warnings(bare_evaluation(metrics=metrics))
    assert "mean redness" in warning
    assert "0.800" in warning


def test_trivial_scores_are_next_to_the_area_of_the_detector() -> None:
    first, *others = areas(made_evaluation()).column("measure")
    assert first == "AUC per frame"
    assert others[:3] == ["AUC of mean redness", "AUC of mean brightness", "AUC of sharpness"]


def test_a_comparison_has_both_values_the_difference_and_mcnemars_p() -> None:
    both = made_evaluation().comparison
    assert both is not None
    rows = {row[0]: row for row in compared(both).rows}
    first, second, difference, interval, gained, lost, p = rows["Sensitivity per polyp"][1:]
    assert (first, second, difference) == ("81.25 %", "68.75 %", "+12.5 points")
    assert interval == "\N{EN DASH}"
    assert (gained, lost, p) == (2, 0, 0.5)
    assert not rows["AUC per frame"][1].endswith("%")


def test_columns_of_zeros_are_named_and_left_out_of_the_page() -> None:
    columns = (Column("a", "A"), Column("b", "Lost rows", "count"), Column("c", "C", "count"))
    table = without_zeros(Table("t", "T", columns, (("x", 0, 3), ("y", 0, 0)), "All.", ("", 0, 3)))
    assert [column.key for column in table.columns] == ["a", "c"]
    assert table.rows == (("x", 3), ("y", 0))
    assert "lost rows" in table.caption
