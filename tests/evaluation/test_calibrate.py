"""Calibration: the value that reaches a target, its stability, its figures and its files."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import capsieve
from capsieve import LeakError, ParameterError, Parameters
from capsieve.evaluation import target as target_module
from capsieve.evaluation.calibrate import calibrate as calibrate_results
from capsieve.evaluation.settings import CalibrationOptions
from capsieve.evaluation.target import Scale, choose, stability, unreachable
from capsieve.frame_table import NORMAL, POLYP, FlagRule, flagged_at
from capsieve.statistics.reading_effort import flagged_by, reading_share
from capsieve.statistics.results import Interval
from capsieve.store.choice import read_choice
from support.exams import read_frames, write_exam_images
from support.labelled_frames import labelled_frames, many_patients
from support.paper_study import write_paper_study
from support.results import write_results

R_P = Scale("R_P", 1.0, 85.0)
SCORE = Scale("score threshold", None)
SHARE = Scale("share to read", None, -1e-5, -1)
TARGETS = [{"specificity": 90}, {"sensitivity": 80}]
by_target = pytest.mark.parametrize("target", TARGETS, ids=str)
by_scale = pytest.mark.parametrize("scale", [R_P, SCORE, SHARE], ids=lambda scale: scale.name)


def options(**given):
    return CalibrationOptions(bootstrap_samples=300, **given)


def on_scale(frames, scale):
    """Return the frames with scores of a scale; those of SCORE are between 0 and 1."""
    if scale is SHARE:
        return replace(frames, score=-reading_share(frames).clip(1e-5))
    if scale is SCORE:
        rng = np.random.default_rng(0)
        return replace(frames, score=(frames.score + rng.uniform(0, 0.9, len(frames))) / 100)
    return frames


def reached(frames, target, threshold):
    """Return how far above the target the frames are."""
    flagged = flagged_at(frames.score, threshold)
    if "specificity" in target:
        return 1 - flagged[frames.truth == NORMAL].mean() - target["specificity"] / 100
    found = np.unique(frames.polyp.code[flagged & (frames.truth == POLYP)])
    return len(found) / len(frames.polyp.names) - target["sensitivity"] / 100


# The choice


@by_target
@by_scale
@pytest.mark.parametrize("seed", range(3))
def test_the_target_is_reached_and_by_the_next_value_it_is_not(target, scale, seed):
    frames = on_scale(many_patients(seed=seed), scale)
    chosen = choose(frames, options(**target), scale)
    assert chosen is not None
    assert reached(frames, target, chosen) >= 0
    values = np.arange(1.0, 86.0) if scale is R_P else np.unique(frames.score[frames.scored])
    beyond = values[values > chosen] if "sensitivity" in target else values[values < chosen]
    assert all(reached(frames, target, value) < 0 for value in beyond)


def test_a_target_is_compared_on_whole_counts():
    frames = labelled_frames(np.arange(1.0, 101), [NORMAL] * 100)
    # In floating point, 1 - 0.93 is a little more than 0.07.
    assert choose(frames, options(specificity=93), Scale("R_P", 1.0)) == 94
    assert choose(frames, options(specificity=99.9), Scale("R_P", 1.0)) == 101


@pytest.mark.parametrize(
    ("target", "threshold"),
    [
        # One of four normal frames may be flagged; a polyp's 0.35 is below that one's 0.4.
        ({"specificity": 75}, 0.35),
        ({"sensitivity": 100}, 0.35),
    ],
)
def test_an_observed_score_is_chosen(target, threshold):
    score = [0.1, 0.2, 0.3, 0.4, 0.35, 0.6, 0.7]
    frames = labelled_frames(score, [NORMAL] * 4 + [POLYP] * 3, polyp=[-1] * 4 + [0, 1, 1])
    assert choose(frames, options(**target), SCORE) == threshold


def test_rejected_polyps_limit_the_sensitivity_and_the_message_says_to_what():
    frames = labelled_frames([-np.inf, -np.inf, 40], [POLYP] * 3, polyp=[0, 1, 2])
    wanted = options(sensitivity=34)
    assert choose(frames, wanted, R_P) is None
    best = re.search(r"at most (\S+)$", unreachable(frames, wanted, R_P))
    assert best is not None
    assert choose(frames, options(sensitivity=float(best[1])), R_P) == 40


def test_a_threshold_above_the_largest_radius_is_no_choice():
    frames = labelled_frames([85, 85, *[10] * 98], [NORMAL] * 100)
    wanted = options(specificity=99)
    assert choose(frames, wanted, R_P) is None
    best = re.search(r"at most ([\d.]+)$", unreachable(frames, wanted, R_P))
    assert best is not None
    assert choose(frames, options(specificity=float(best[1])), R_P) == 11


@pytest.mark.parametrize(
    ("truth", "target"),
    [(POLYP, {"specificity": 50}), (NORMAL, {"sensitivity": 50}), (POLYP, {"sensitivity": 50})],
)
def test_frames_without_anything_to_count_choose_nothing(truth, target):
    frames = labelled_frames([40.0], [truth])
    assert choose(frames, options(**target), R_P) is None
    assert "target" in unreachable(frames, options(**target), R_P)


@pytest.mark.parametrize(
    "given",
    [{"specificity": 90, "sensitivity": 80}, {"sensitivity": 101}, {"sensitivity": 0.8}],
)
def test_impossible_targets_are_refused(given):
    with pytest.raises(ParameterError, match=list(given)[-1]):
        CalibrationOptions(**given)


# Its stability over bootstrap samples


def drawn_again(frames, times):
    """Return the frames of the patients that were drawn, each time as another patient."""
    order, patient, polyp = [], [], []
    for number, count in enumerate(times):
        rows = np.flatnonzero(frames.patient.code == number)
        for _ in range(count):
            order.append(rows)
            own = frames.polyp.code[rows]
            polyp.append(np.where(own < 0, -1, own + 1000 * len(patient)))
            patient.append(np.full(len(rows), len(patient)))
    chosen = frames.take(np.concatenate(order))
    owner = np.concatenate(patient)
    return labelled_frames(
        chosen.score, chosen.truth, patient=owner, exam=owner, polyp=np.concatenate(polyp)
    )


@by_target
@by_scale
def test_a_bootstrap_sample_chooses_what_its_frames_would_choose(target, scale, monkeypatch):
    frames = on_scale(many_patients(12, normals=20), scale)
    rng = np.random.default_rng(1)
    times = np.stack([np.bincount(rng.integers(0, 12, 12), minlength=12) for _ in range(100)])
    seen = []

    def keep(values, **_):
        seen.extend(scale.sign * values)
        return Interval("", None, None)

    monkeypatch.setattr(target_module, "draws", lambda *_, **__: times.astype(float))
    monkeypatch.setattr(target_module, "resampled_interval", keep)
    stability(frames, replace(options(**target), bootstrap_samples=100), scale)
    for drawn, value in zip(times, seen, strict=True):
        sample = drawn_again(frames, drawn)
        expected = choose(sample, options(**target), scale)
        assert np.isnan(value) == (expected is None)
        # A threshold may be the score of a patient who was not drawn: it counts the same.
        if expected is not None:
            assert reached(sample, target, value) == reached(sample, target, expected)


@by_target
@by_scale
def test_the_interval_contains_the_choice_and_is_narrower_with_more_patients(target, scale):
    widths = []
    for patients in (15, 200):
        frames = on_scale(many_patients(patients), scale)
        interval = stability(frames, options(**target), scale)
        assert interval.units == patients
        if interval.low is None or interval.high is None:
            assert scale is SHARE, "all exams have the same length, and so have their lists"
            return
        chosen = choose(frames, options(**target), scale)
        assert interval.low <= scale.sign * (chosen or 0) <= interval.high
        assert scale is not R_P or interval.low.is_integer()
        widths.append(interval.high - interval.low)
    assert widths[1] <= widths[0]


def test_with_few_patients_the_reason_replaces_the_interval():
    frames = many_patients(12)
    interval = stability(frames.take(frames.patient.code < 9), options(), R_P)
    assert (interval.low, interval.units) == (None, 9)
    assert interval.why
    # Patients without a normal frame do not count.
    only = frames.take((frames.truth != NORMAL) | (frames.patient.code < 5))
    assert stability(only, options(), R_P).units == 5


def test_samples_that_cannot_reach_the_target_are_left_out_and_counted():
    frames = many_patients(12, polyps=1)
    lost = (frames.polyp.code >= 0) & (frames.patient.code < 3)
    frames = replace(frames, score=np.where(lost, -np.inf, frames.score))
    assert "left out" in stability(frames, options(sensitivity=75), R_P).why


def test_the_same_seed_gives_the_same_interval():
    frames = on_scale(many_patients(30), SCORE)
    first, again = (stability(frames, options(seed=5), SCORE) for _ in range(2))
    assert first == again != stability(frames, options(seed=6), SCORE)


def test_very_many_scores_give_an_interval():
    rng = np.random.default_rng(0)
    frames = labelled_frames(
        rng.uniform(0, 1, 40_000), [NORMAL] * 40_000, patient=np.repeat(np.arange(20), 2000)
    )
    interval = stability(frames, options(), SCORE)
    assert interval.low is not None
    assert 0.88 < interval.low < 0.9 < (interval.high or 0) < 0.92


@pytest.mark.soak
@by_target
@pytest.mark.parametrize("patients", [12, 30, 60])
def test_the_interval_contains_the_threshold_of_the_population(target, patients):
    everybody = choose(many_patients(20_000, seed=9999), options(**target), R_P) or 0
    held = 0
    for seed in range(300):
        interval = stability(many_patients(patients, seed=seed), options(**target), R_P)
        held += (interval.low or 0) <= everybody <= (interval.high or 0)
    print(f"{target}, {patients} patients: {held / 300:.0%}")
    assert held / 300 > 0.9


# From results and labels to files


@pytest.fixture(scope="module")
def paper(tmp_path_factory):
    """Results and labels with the counts of the paper."""
    return write_paper_study(tmp_path_factory.mktemp("paper"))


def write_rows(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Twenty patients in four folds; a quarter of each exam has no label."""
    folder = tmp_path_factory.mktemp("study")
    rng = np.random.default_rng(1)
    rows, parts = [], []
    for number in range(20):
        exam = f"exam-{number}"
        score = np.rint(rng.normal(25 + number % 7, 10, 80)).clip(0, 85)
        score[:6] += 12
        write_results(folder / "results" / exam, score=score, time_s=np.arange(80) / 2)
        for frame in range(60):
            label, polyp = ("polyp", frame // 3) if frame < 6 else ("normal", "")
            key = {"exam": exam, "frame": frame}
            rows.append(key | {"label": label, "polyp": polyp, "patient": number})
            parts.append(key | {"part": number % 4 + 1})
    labels = write_rows(folder / "labels.csv", rows)
    return folder / "results", labels, write_rows(folder / "folds.csv", parts)


def calibrate(results, labels, out=None, **given):
    given.setdefault("bootstrap_samples", 100)
    return calibrate_results(results, labels, out, **given)


def counts(metric):
    return metric.numerator, metric.denominator


def test_the_papers_training_patient_gives_the_papers_threshold_and_figures(paper):
    found = calibrate(*paper, train_patients=("4",))
    assert found.parameters == Parameters(radius_threshold=37)
    assert f"{found.metric('frames.specificity', 'train').value:.0%}" == "91%"
    test = found.metric("frames.specificity", "test")
    assert counts(test) == (18738 - 1837 - (8567 - 767), 18738 - 8567)
    assert found.optimistic == ("train",)
    assert found.stability.low is None


def test_the_papers_other_threshold_has_its_specificity(paper):
    found = calibrate(*paper, specificity=93.4)
    assert found.value == 40
    specificity = found.metric("frames.specificity")
    assert counts(specificity) == (18738 - 1224, 18738)
    assert f"{specificity.value:.2%}" == "93.47%"


def test_cross_fitted_figures_are_those_of_the_evaluation(study):
    results, labels, folds = study
    found = calibrate(results, labels, splits=folds)
    evaluation = capsieve.evaluate(results, labels, splits=folds, bootstrap_samples=100)
    fitted = next(point for point in evaluation.points if point.key == "fitted")
    assert found.rule == fitted.rule
    for key in ("frames.specificity", "polyps.sensitivity"):
        theirs = evaluation.metric(key, "cross-fitted")
        assert counts(found.metric(key, "cross-fitted")) == counts(theirs)
    assert sorted(found.folds) == ["1", "2", "3", "4"]


def test_frames_to_read_include_frames_without_a_label(study):
    results, labels, folds = study
    found = calibrate(results, labels, splits=folds)
    scores = np.concatenate(
        [read_frames(folder)["score"].to_numpy() for folder in results.iterdir()]
    )
    to_read = found.metric("effort.frames_per_exam")
    assert counts(to_read) == (np.count_nonzero(scores >= found.value), 20)
    assert found.metric("effort.frames_per_exam", "cross-fitted").value is not None


@pytest.mark.parametrize("target", [{"specificity": 88}, {"sensitivity": 85}], ids=str)
def test_a_share_flags_the_frames_that_screening_with_it_flags(study, target):
    results, labels, folds = study
    found = calibrate(results, labels, rule="share", splits=folds, **target)
    assert found.rule.kind == "share"
    assert 0 < found.value < 1
    assert found.choice is not None
    assert found.choice.rule == FlagRule("share", found.value)
    low, high = found.stability.low, found.stability.high
    assert low is None or high is None or low <= found.value <= high
    read = found.rule.option.removeprefix("--read ")
    listed = capsieve.evaluate(results, labels, read=read, bootstrap_samples=100)
    for key in ("frames.specificity", "frames.sensitivity", "effort.frames_per_exam"):
        assert counts(found.metric(key)) == counts(listed.metric(key))
    assert flagged_by(listed.frames, found.rule).sum() > 0


def test_results_with_reading_lists_get_a_share_and_others_a_threshold(tmp_path):
    rows = [
        {"exam": exam, "frame": n, "label": "normal", "patient": exam}
        for exam in "ab"
        for n in range(100)
    ]
    labels = write_rows(tmp_path / "l.csv", rows)
    flagging = {"rule": "share", "value": 0.1, "frames": 10, "last_score": 0.3}
    flagging |= {"score_threshold": 0.5, "share_above_threshold": 0.0}
    for exam in "ab":
        record = {"detector": {"name": "learned"}, "flagging": flagging}
        score = np.arange(1, 101) / 300
        write_results(tmp_path / "lists" / exam, score=score, record=record)
    found = calibrate(tmp_path / "lists", labels, tmp_path / "out", specificity=80)
    assert found.rule == FlagRule("share", 0.2)
    assert found.rule.option == "--read 20%"
    assert read_choice(tmp_path / "out" / "calibrated.toml").rule == FlagRule("share", 0.2)
    assert calibrate(tmp_path / "lists", labels, rule="threshold").rule.kind == "threshold"


def test_a_share_needs_the_names_of_the_exams(tmp_path):
    write_results(
        tmp_path / "results" / "a", score=np.arange(10) / 10, file=[f"{n}.png" for n in range(10)]
    )
    rows = [{"file": f"{n}.png", "label": "normal"} for n in range(10)]
    with pytest.raises(ParameterError) as raised:
        calibrate(tmp_path / "results", write_rows(tmp_path / "l.csv", rows), rule="share")
    assert raised.value.field == "rule"


def test_scores_of_another_program_get_a_threshold_that_may_be_negative():
    size = 100
    key = {"exam": ["a"] * size, "frame": np.arange(size)}
    scores = key | {"score": np.linspace(-5, -1, size)}
    found = calibrate(scores, key | {"label": ["normal"] * size})
    assert (scores["score"] >= found.value).sum() == 10
    assert found.value < 0
    assert found.parameters is found.choice is None


def test_results_of_another_detector_get_a_short_threshold(tmp_path):
    score = np.arange(1, 101) / 300
    record = {"detector": {"name": "learned"}}
    write_results(tmp_path / "results" / "a", score=score, threshold=0.5, record=record)
    rows = [{"exam": "a", "frame": frame, "label": "normal"} for frame in range(100)]
    labels = write_rows(tmp_path / "l.csv", rows)
    found = calibrate(tmp_path / "results", labels, tmp_path / "out")
    assert np.count_nonzero(score >= found.value) == 10
    assert found.value == 0.303  # between 90 / 300 and 91 / 300
    choice = read_choice(tmp_path / "out" / "calibrated.toml")
    assert (choice.detector, choice.rule) == ("learned", found.rule)


def test_the_files_are_reproducible(study, tmp_path):
    results, labels, folds = study
    for out in ("one", "two"):
        calibrate(results, labels, tmp_path / out, splits=folds)
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == [
        "calibrated.frames.txt",
        "calibrated.toml",
        "calibration.json",
    ]
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    content = json.loads((tmp_path / "one" / "calibration.json").read_text())
    assert all(metric["text"] for metric in content["metrics"])
    assert content["optimistic"] == ["all"]


def test_the_toml_has_the_threshold_and_the_reason(study, tmp_path):
    results, labels, folds = study
    found = calibrate(results, labels, tmp_path, splits=folds)
    content = (tmp_path / "calibrated.toml").read_text()
    assert Parameters.load(tmp_path / "calibrated.toml") == found.parameters
    assert found.parameters == Parameters(radius_threshold=int(found.value))
    assert found.reason in content
    assert not re.search(r"\b20\d\d-\d\d", content)


def test_a_path_with_a_line_break_stays_in_the_comment(study, tmp_path):
    results, labels, _ = study
    odd = tmp_path / "la\nradius_threshold = 1\nbels.csv"
    odd.write_bytes(labels.read_bytes())
    found = calibrate(results, odd, tmp_path / "out")
    assert Parameters.load(tmp_path / "out" / "calibrated.toml") == found.parameters


def test_without_a_split_the_figures_are_optimistic(study, tmp_path):
    results, labels, _ = study
    found = calibrate(results, labels, tmp_path)
    assert {metric.subset for metric in found.metrics} == set(found.optimistic) == {"all"}
    assert any("--splits" in warning for warning in found.warnings)
    assert "optimistic" in (tmp_path / "calibrated.toml").read_text()


@pytest.mark.slow
def test_screening_with_the_file_flags_the_frames_from_the_threshold_on(tmp_path):
    exam = write_exam_images(tmp_path / "exam", 40)
    capsieve.screen([exam], tmp_path / "before", workers=1)
    before = read_frames(tmp_path / "before" / "exam")
    rows = [{"exam": "exam", "frame": frame, "label": "normal"} for frame in range(before.num_rows)]
    labels = write_rows(tmp_path / "labels.csv", rows)
    found = calibrate(tmp_path / "before", labels, tmp_path / "out", specificity=82)
    parameters = Parameters.load(tmp_path / "out" / "calibrated.toml")
    capsieve.screen([exam], tmp_path / "after", parameters=parameters, workers=1)
    after = read_frames(tmp_path / "after" / "exam")
    expected = before["score"].to_numpy() >= found.value
    assert expected.any()
    assert found.value != Parameters().radius_threshold
    assert np.array_equal(after["flagged"].to_numpy(), expected)


def test_parts_that_divide_exams_have_no_figures_per_exam(study, tmp_path):
    results, labels, _ = study
    rows = [
        {"exam": f"exam-{exam}", "frame": frame, "part": ("train", "test")[frame >= 30]}
        for exam in range(20)
        for frame in range(60)
    ]
    torn = write_rows(tmp_path / "torn.csv", rows)
    with pytest.raises(LeakError):
        calibrate(results, labels, splits=torn)
    found = calibrate(results, labels, splits=torn, allow_leaks=True)
    assert found.leaks
    assert found.metric("frames.specificity", "test").value is not None
    with pytest.raises(KeyError):
        found.metric("effort.frames_per_exam", "test")


def test_a_target_that_nothing_reaches_names_the_option_and_writes_nothing(study, tmp_path):
    results, labels, _ = study
    with pytest.raises(ParameterError) as raised:
        calibrate(results, labels, tmp_path / "out", rule="share", specificity=100)
    assert raised.value.field == "specificity"
    assert not (tmp_path / "out").exists()


def test_a_threshold_that_flags_nothing_is_a_warning(tmp_path):
    write_results(tmp_path / "results" / "a", score=np.array([40.0, 30.0, 0.0]))
    rows = [{"exam": "a", "frame": frame, "label": "normal"} for frame in range(3)]
    labels = write_rows(tmp_path / "l.csv", rows)
    found = calibrate(tmp_path / "results", labels, specificity=100)
    assert found.value == 41
    assert any("R_P = 41" in warning for warning in found.warnings)


@pytest.mark.parametrize(("radius", "word"), [(43, "R_P = 37 does not act"), (85, "are 85")])
def test_radii_that_no_threshold_separates_are_named(tmp_path, radius, word):
    scores = np.array([radius] * 10 + [0] * 90, float)
    write_results(tmp_path / "out" / "a", score=scores)
    labels = {"exam": ["a"] * 100, "frame": range(100), "label": ["polyp"] * 2 + ["normal"] * 98}
    found = calibrate_results(tmp_path / "out", labels, bootstrap_samples=100)
    assert word in " ".join(found.warnings)
    with pytest.raises(ParameterError, match=word):
        calibrate_results(tmp_path / "out", labels | {"label": ["normal"] * 100}, sensitivity=90)


def test_calibrated_parameters_keep_the_preset(tmp_path):
    parameters = Parameters.inferred().to_dict()
    detector = {"name": "paper", "rule": "radius_threshold", "parameters": parameters}
    record = {"parameters": parameters, "detector": detector}
    write_results(tmp_path / "out" / "a", score=np.arange(100.0) % 60, record=record)
    labels = {"exam": ["a"] * 100, "frame": range(100), "label": ["polyp"] * 2 + ["normal"] * 98}
    calibrate_results(tmp_path / "out", labels, tmp_path / "chosen", bootstrap_samples=100)
    chosen = Parameters.load(tmp_path / "chosen" / "calibrated.toml")
    assert chosen.preset == "inferred"
    assert replace(chosen, radius_threshold=37) == Parameters.inferred()
