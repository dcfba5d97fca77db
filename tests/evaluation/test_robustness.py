"""A robustness study: the plan of changes, and counts against one setting at a time."""

import csv
import json
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import FileError, ParameterError
from capsieve.evaluation.robustness import (
    PARAMETERS,
    paper_table,
    parameter_named,
    perturbed,
    plan_changes,
    robustness_table,
    study_robustness,
)
from capsieve.evaluation.settings import RobustnessSettings
from capsieve.frames import FieldOfView
from capsieve.paper.algorithm import analyze
from capsieve.parameters import Parameters
from support.exams import exam_frame, write_exam_images, write_exam_video

PAPER = Parameters()
FRAMES = 40
# With these parameters the frames of support.exams are on both sides.
BASE = Parameters(texture_high=60.0, radius_threshold=71)
KEYS = ("frames.specificity", "frames.sensitivity", "polyps.sensitivity")


@pytest.mark.parametrize(
    ("symbol", "more", "less"),
    [
        ("sigma_1", 8, 6),
        ("sigma_2", 33, 27),
        ("M_L", 0.121, 0.099),
        ("M_U", 0.176, 0.144),
        ("S_L", 322, 262),
        ("S_U", 3561, 2913),
        ("E_max", 7.15, 5.85),
        ("R_P", 41, 33),
        ("T_L", 3.3, 2.7),
        ("sigma", 13, 9),
        ("n_iter", 6, 4),
    ],
)
def test_ten_percent_more_and_less_of_the_papers_values(symbol, more, less):
    field = parameter_named(symbol)
    assert getattr(perturbed(PAPER, symbol, 1.1), field) == more
    assert getattr(perturbed(PAPER, symbol, 0.9), field) == less


@pytest.mark.parametrize("name", PARAMETERS)
def test_only_the_named_parameter_changes(name):
    changed = perturbed(PAPER, name, 1.1)
    moved = {
        each.name
        for each in fields(Parameters)
        if getattr(changed, each.name) != getattr(PAPER, each.name)
    }
    assert moved == {name}


def test_a_size_from_the_width_is_changed_as_the_number_that_it_is():
    half = Parameters(width=128, midpass_coarse=20)
    assert half.size_low is None
    assert half.derived.size_low == 73
    assert perturbed(half, "size_low", 1.1).size_low == 81  # 80.3


def test_a_sigma_that_is_not_whole_stays_as_it_is():
    assert perturbed(replace(PAPER, midpass_fine=6.5), "sigma1", 1.1).midpass_fine == 7.15


@given(
    factor=st.sampled_from([0.5, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25]),
    size=st.integers(1, 3000),
)
def test_whole_numbers_always_change_and_by_less_than_one_too_much(factor, size):
    base = replace(PAPER, size_low=size, size_high=100_000)
    if size == 1 and factor < 1:  # a size is at least 1 pixel
        with pytest.raises(ParameterError, match="cannot become 0"):
            perturbed(base, "S_L", factor)
        return
    value = perturbed(base, "S_L", factor).size_low
    assert value is not None
    assert value != size
    assert (value > size) == (factor > 1)
    assert abs(value - size * factor) < 1


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("midpass_fine", "midpass_fine"),
        ("sigma1", "midpass_fine"),
        ("Sigma_2", "midpass_coarse"),
        ("m_l", "threshold_low"),
        ("E_max", "eccentricity_max"),
        ("e-max", "eccentricity_max"),
        ("R_mask", "mask_radius"),
        ("Nx", "width"),
        ("q", "extension_slope"),
        ("sigma", "energy_sigma"),
    ],
)
def test_parameters_are_named_by_field_or_symbol(name, field):
    assert parameter_named(name) == field


@pytest.mark.parametrize(
    ("name", "near"), [("radius_treshold", "radius_threshold"), ("Size_Lo", "size_low")]
)
def test_a_misspelt_name_is_refused_with_the_nearest_name(name, near):
    with pytest.raises(ParameterError, match=f"did you mean '{near}'"):
        parameter_named(name)


@pytest.mark.parametrize("name", ["", "-", "foo"])
def test_an_unknown_name_is_refused_with_all_names(name):
    with pytest.raises(ParameterError) as caught:
        parameter_named(name)
    assert "did you mean" not in str(caught.value)
    assert "midpass_fine" in str(caught.value)
    assert "channel" not in str(caught.value)


@pytest.mark.parametrize("name", ["channel", "vignetting"])
def test_a_parameter_that_is_not_a_number_is_refused(name):
    with pytest.raises(ParameterError, match="not a number"):
        perturbed(PAPER, name, 1.1)


def test_a_value_that_the_rules_forbid_is_refused_and_the_rule_named():
    near = replace(PAPER, threshold_low=0.15)
    with pytest.raises(ParameterError, match=r"threshold_low: cannot become 0.165, .*above"):
        perturbed(near, "M_L", 1.1)


def test_no_change_at_all_is_refused():
    with pytest.raises(ParameterError, match="no change"):
        perturbed(replace(PAPER, extension_slope=0.0), "q", 1.1)


@pytest.mark.parametrize("factor", [1.0, 0.0, -1.0, float("nan"), float("inf")])
def test_a_wrong_factor_is_refused(factor):
    with pytest.raises(ParameterError, match="factor"):
        perturbed(PAPER, "M_L", factor)


def test_the_plan_has_every_parameter_by_every_percentage():
    plan = plan_changes(PAPER)
    assert [(change.symbol, change.value) for change in plan if change.percent == 10] == [
        ("sigma1", 8),
        ("sigma2", 33),
        ("M_L", 0.121),
        ("M_U", 0.176),
        ("S_L", 322),
        ("S_U", 3561),
        ("E_max", 7.15),
    ]
    assert [change.percent for change in plan] == [10, -10] * 7
    assert len({change.parameters for change in plan}) == 14


def test_a_parameter_named_twice_is_changed_once():
    assert len(plan_changes(PAPER, ["sigma1", "midpass_fine", "S_L"], [5, 5])) == 2


def test_a_forbidden_change_stays_in_the_plan_with_the_reason():
    impossible, possible = plan_changes(PAPER, ["M_L"], [50, 10])
    assert impossible.parameters is None
    assert impossible.value is None
    assert "cannot become 0.165" in impossible.why
    assert possible.value == 0.121


def test_a_plan_without_a_possible_change_is_refused():
    with pytest.raises(ParameterError, match=r"no change is possible: threshold_low"):
        plan_changes(PAPER, ["M_L"], [50, 100])


@pytest.mark.parametrize("percent", [0.0, -100.0, -250.0, float("nan"), float("inf")])
def test_a_percentage_that_is_no_change_is_refused(percent):
    with pytest.raises(ParameterError, match="percentage above -100 and not 0"):
        plan_changes(PAPER, ["M_L"], [percent])


def label(number):
    return "polyp" if number % 20 < 6 else "other" if number % 20 == 7 else "normal"


def write_labels(path, exams, *, by="frame"):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", by, "label", "polyp", "patient"])
        for exam in exams:
            for number in range(FRAMES):
                key = number if by == "frame" else f"frame{number}.png"
                polyp = f"{exam}-{number // 20}" if label(number) == "polyp" else ""
                writer.writerow([exam, key, label(number), polyp, exam])
    return path


@pytest.fixture
def study(tmp_path):
    """Two exams of images, and their labels."""
    for exam in ("a", "b"):
        write_exam_images(tmp_path / "exams" / exam, FRAMES)
    return tmp_path / "exams", write_labels(tmp_path / "labels.csv", "ab", by="file")


def run(study, out=None, **options):
    usual = {"parameters": BASE, "field_of_view": "whole", "workers": 1}
    inputs, labels = study
    return study_robustness(inputs, labels, out, settings=RobustnessSettings(**(usual | options)))


def by_hand(setting, exams=2, view=None):
    """Count normal frames that are not flagged, flagged polyp frames, and polyps found."""
    flagged = [analyze(exam_frame(n), setting, view).label == "polyp" for n in range(FRAMES)]
    passed = sum(label(n) == "normal" and not flagged[n] for n in range(FRAMES))
    hits = [n for n in range(FRAMES) if label(n) == "polyp" and flagged[n]]
    return exams * passed, exams * len(hits), exams * len({n // 20 for n in hits})


def effects(found) -> list[Any]:
    return [change.effect for change in found.changes]


def counts(effect):
    return tuple(effect.rates[key].hits for key in KEYS)


def base_counts(found) -> tuple[Any, ...]:
    return tuple(found.metrics[key].numerator for key in KEYS)


def test_counts_are_those_of_every_frame_with_every_setting(study):
    found = run(study, parameter=("sigma1", "sigma2", "M_L", "S_U"))
    settings = [BASE, *(change.parameters for change in found.changes)]
    all_counts = [base_counts(found), *(counts(each) for each in effects(found))]
    assert all_counts == [by_hand(setting) for setting in settings]
    assert len(set(all_counts)) > 1, "the changes must change something"
    assert tuple(found.metrics[key].denominator for key in KEYS) == (2 * 26, 2 * 12, 4)


def test_gained_and_lost_frames_add_up_to_the_difference_of_the_counts(study):
    found = run(study)
    for each in effects(found):
        change = np.subtract(counts(each), base_counts(found))
        assert change[1] == each.gained["polyp"] - each.lost["polyp"]
        assert change[0] == each.lost["normal"] - each.gained["normal"]


def test_an_impossible_change_leaves_an_empty_row_and_the_others_in_their_place(study):
    circle = FieldOfView("circle", 47.5, 47.5, 48.0)
    found = run(study, parameter=("M_L", "R_P"), change=(50.0,), field_of_view=circle)
    impossible, possible = effects(found)
    assert impossible is None
    higher = replace(BASE, radius_threshold=107)
    assert counts(possible) == by_hand(higher, view=circle)
    table = robustness_table(found)
    assert table.column("parameter") == ["Base", "M_L", "R_P"]
    assert table.column("specificity")[1] is None
    assert table.column("newly_flagged")[2] == sum(possible.gained.values())


def test_the_latex_table_has_the_seven_columns_of_the_paper_with_true_minus_signs(study, tmp_path):
    found = run(study, tmp_path / "out", parameter=("sigma1", "E_max"))
    lines = (tmp_path / "out" / "robustness.tex").read_text().splitlines()
    rows = [line.removesuffix(r" \\").split(" & ") for line in lines if " & " in line]
    assert {len(row) for row in rows} == {7}
    assert [row[0] for row in rows[1:]] == [
        "Base",
        *(r"$\sigma_{1}$ +10\,\%", r"$\sigma_{1}$ $-$10\,\%"),
        *(r"$E_{\mathrm{max}}$ +10\,\%", r"$E_{\mathrm{max}}$ $-$10\,\%"),
    ]
    assert any(
        line.startswith(r"\caption") and f"$R_{{P}}$ = {BASE.radius_threshold}" in line
        for line in lines
    )
    [one] = [paper_table(replace(found, changes=found.changes[:1])).column("parameter")[1:]]
    assert one == ["sigma1"]  # as in the paper, if all changes are of the same percentage


def test_the_papers_seven_columns_come_first(study):
    table = robustness_table(run(study, parameter=("sigma1",)))
    keys = [column.key for column in table.columns]
    assert keys[:7] == [
        "parameter",
        *("specificity", "delta_specificity"),
        *("sensitivity_frames", "delta_sensitivity_frames"),
        *("sensitivity_polyps", "delta_sensitivity_polyps"),
    ]
    assert table.column("change_percent") == [None, 10.0, -10.0]


@pytest.mark.slow
def test_a_video_and_processes_give_the_same_as_one_process(tmp_path):
    video = write_exam_video(tmp_path / "film.mp4", FRAMES)
    labels = write_labels(tmp_path / "labels.csv", ["film"])
    one, two = (run((video, labels), parameter=("sigma2",), workers=n) for n in (1, 2))
    assert one.changes == two.changes
    assert one.metrics == two.metrics
    assert one.metrics["frames.sensitivity"].denominator == 12


def test_the_files_have_the_numbers_of_the_study(study, tmp_path):
    out = tmp_path / "out"
    found = run(study, out, parameter=("M_U", "M_L"), change=(20.0, 60.0), normals=20)
    assert sorted(path.name for path in out.iterdir()) == [
        f"robustness.{suffix}" for suffix in ("csv", "json", "png", "tex")
    ]
    content = json.loads((out / "robustness.json").read_text())
    changed = [(each["parameter"], each["value"]) for each in content["changes"]]
    assert changed == [
        ("threshold_high", 0.192),
        ("threshold_high", 0.256),
        ("threshold_low", 0.132),
        ("threshold_low", None),
    ]
    assert content["changes"][3]["effect"] is None
    written = content["changes"][0]["effect"]["frames.specificity"]["numerator"]
    assert written == counts(effects(found)[0])[0]
    assert content["frames"]["normal"] == 52
    assert content["frames"]["normal_analysed"] == 20


def test_wrong_options_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ParameterError, match="sigma9"):
        run((tmp_path, tmp_path / "none.csv"), parameter=("sigma9",))


def test_labels_of_other_exams_are_refused(study, tmp_path):
    labels = write_labels(tmp_path / "other.csv", ["z"])
    with pytest.raises(FileError, match="no frame of the exams is labelled polyp or normal"):
        run((study[0], labels))
