"""Results screened with a chosen value, evaluated on its calibration frames."""

import json
import shutil

import numpy as np
import pytest

import capsieve
from capsieve import FileError, Parameters
from capsieve.evaluation.calibrate import calibrate
from capsieve.evaluation.results import read_results
from capsieve.frame_table import FlagRule
from capsieve.statistics.options import InputOptions
from capsieve.store.choice import STORED_HASHES, Choice, read_choice, store_choice
from capsieve.store.exam import Exam
from support.commands import assert_failed, invoke
from support.exams import write_exam_images
from support.results import write_results

FRAMES = 12
SMOOTH = 3  # frames without a perceptual hash


def write_screened(out, exam, *, chosen_by=(), **more):
    """Write results of 12 frames, the first polyp; `chosen_by` are frame hashes."""
    rng = np.random.default_rng(ord(exam))
    phash = [rng.bytes(32) if n < FRAMES - SMOOTH else None for n in range(FRAMES)]
    folder = write_results(out / exam, score=np.arange(FRAMES, 0.0, -1), phash=phash, **more)
    if chosen_by:
        choice = Choice(chosen="R_P = 41", hashes=frozenset(chosen_by))
        record = json.loads((folder / "exam.json").read_text())
        record["calibration"] = store_choice(folder, choice)
        (folder / "exam.json").write_text(json.dumps(record))


def labels(*exams):
    names = [exam for exam in exams for _ in range(FRAMES)]
    truth = [["polyp"] + ["normal"] * (FRAMES - 1) for _ in exams]
    return {
        "exam": names,
        "frame": list(range(FRAMES)) * len(exams),
        "label": [label for exam in truth for label in exam],
        "patient": names,
    }


@pytest.fixture
def out(tmp_path):
    """Exam a chose with its first five frames and the last, which is smooth; b did not choose."""
    known = [f"a-{n}" for n in (*range(5), FRAMES - 1)]
    write_screened(tmp_path / "out", "a", chosen_by=known)
    write_screened(tmp_path / "out", "b", chosen_by=known)
    return tmp_path / "out"


def test_the_evaluated_frames_that_chose_are_counted_without_smooth_ones(out):
    read = read_results(out, labels("a", "b"))
    assert read.calibration_frames == 5
    assert read.warnings[0].startswith("Optimistic: computed on the calibration frames. R_P = 41")
    assert "5 of the 18" in read.warnings[0]


def test_figures_of_exams_that_did_not_choose_are_not_optimistic(out):
    for read in (
        read_results(out / "b", labels("b")),
        read_results(out, labels("a", "b"), InputOptions(train_patients=("a",))),
    ):
        assert read.calibration_frames == 0
        assert not any("ptimistic" in warning for warning in read.warnings)
    assert (
        read_results(out, labels("a", "b"), InputOptions(train_patients=("b",))).calibration_frames
        == 5
    )


def test_training_does_not_use_the_scores_and_is_not_warned(out):
    assert read_results(out, labels("a", "b"), check_model=False).calibration_frames == 0


def test_the_flags_are_marked_in_every_output(out, tmp_path):
    evaluation = capsieve.evaluate(out, labels("a", "b"), tmp_path / "ev", bootstrap_samples=100)
    assert evaluation.points[0].optimistic
    metrics = json.loads((tmp_path / "ev" / "metrics.json").read_text())
    assert metrics["settings"]["calibration_frames"] == 5
    assert metrics["points"][0]["optimistic"]
    assert metrics["warnings"][0] == evaluation.warnings[0]
    sentence = "Optimistic: computed on the calibration frames."
    assert sentence in (tmp_path / "ev" / "report.html").read_text()
    new = capsieve.evaluate(out / "b", labels("b"), bootstrap_samples=100)
    assert not new.points[0].optimistic
    assert new.settings["calibration_frames"] is None


def test_a_baseline_on_its_calibration_frames_is_named(out, tmp_path):
    for exam in "ab":
        write_screened(tmp_path / "new", exam)
    evaluation = capsieve.evaluate(
        tmp_path / "new", labels("a", "b"), baseline=out, bootstrap_samples=100
    )
    assert not evaluation.points[0].optimistic
    assert any(warning.startswith("Baseline: Optimistic") for warning in evaluation.warnings)


def test_lost_hashes_are_an_error_with_what_to_do(out):
    (out / "a" / STORED_HASHES).unlink()
    with pytest.raises(FileError, match=rf"{STORED_HASHES}.*--overwrite"):
        capsieve.evaluate(out, labels("a", "b"))


def test_frames_that_chose_the_parameters_stay_calibration_frames(tmp_path):
    for scores in (False, True):  # an earlier R_P does not change the scores, parameters do
        folder = tmp_path / f"{scores}"
        write_screened(folder, "a")
        record = json.loads((folder / "a" / "exam.json").read_text())
        earlier = Choice(chosen="setting 3", scores=scores, hashes=frozenset({"elsewhere"}))
        record["calibration"] = store_choice(folder / "a", earlier)
        (folder / "a" / "exam.json").write_text(json.dumps(record))
        found = calibrate(folder, labels("a"), bootstrap_samples=100)
        assert found.choice is not None
        assert found.choice.scores == scores
        assert ("elsewhere" in found.choice.hashes) == scores
        assert {f"a-{n}" for n in range(FRAMES)} <= found.choice.hashes


def test_only_the_part_that_chooses_has_calibration_frames(tmp_path):
    for exam in "ab":
        write_screened(tmp_path / "out", exam)
    found = calibrate(
        tmp_path / "out", labels("a", "b"), train_patients=("b",), bootstrap_samples=100
    )
    assert found.choice is not None
    assert found.choice.hashes == {f"b-{n}" for n in range(FRAMES)}


def test_chosen_parameters_know_their_file(out, tmp_path):
    found = calibrate(out, labels("a", "b"), tmp_path / "chosen", bootstrap_samples=100)
    assert found.parameters is not None
    assert found.parameters.calibration_file == tmp_path / "chosen" / "calibrated.toml"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Two screened exams of images, and their labels."""
    folder = tmp_path_factory.mktemp("calibration-frames")
    rows = ["exam,frame,label"]
    for exam, size in (("a", 20), ("b", 30)):
        write_exam_images(folder / "exams" / exam, size)
        rows += [f"{exam},{n},{'polyp' if n == 0 else 'normal'}" for n in range(size)]
    (folder / "labels.csv").write_text("\n".join(rows) + "\n")
    for detector in ("paper", "curvature"):
        screened = screen(folder, detector, "--detector", detector)
        assert screened.exit_code == 0, screened.output
    return folder


def screen(study, out, *options):
    return invoke("screen", study / "exams", "-o", study / out, "--workers", "1", *options)


def chosen(study, results, out, *options):
    """Run calibrate; return the file of the parameters."""
    usual = ("--labels", study / "labels.csv", "--specificity", "80", "-o", study / out)
    result = invoke("calibrate", study / results, *usual, *options)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].endswith(f"--parameters {study / out}/calibrated.toml")
    return study / out / "calibrated.toml"


def evaluated(study, results):
    usual = ("--labels", study / "labels.csv", "--bootstrap-samples", "100", "--no-galleries")
    return invoke("evaluate", study / results, *usual, "-o", study / "evaluation")


@pytest.mark.slow
def test_screening_with_a_calibrated_threshold_is_recognised_after_everything_moved(study):
    file = chosen(study, "paper", "calibration")
    assert screen(study, "again", "--parameters", file).exit_code == 0
    shutil.move(study / "again", study / "moved")
    shutil.rmtree(study / "calibration")
    result = evaluated(study, "moved")
    assert "ptimistic: computed on the calibration frames" in result.stderr
    assert "optimistic: computed on the calibration frames" in result.stdout
    assert "ptimistic" not in evaluated(study, "paper").stderr


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--rule", "share")])
def test_a_choice_for_another_detector_is_a_file_too(study, options):
    out = "-".join(["chosen", *options])
    file = chosen(study, "curvature", f"calibration-{out}", *options)
    assert_failed(screen(study, out, "--parameters", file), "--detector curvature", code=2)
    result = screen(study, out, "--parameters", file, "--detector", "curvature")
    assert result.exit_code == 0, result.output
    choice = read_choice(file)
    for exam in "ab":
        flagging = Exam(study / out / exam).record["flagging"]
        assert FlagRule(flagging["rule"], flagging["value"]) == choice.rule
    assert "computed on the calibration frames" in evaluated(study, out).stderr


@pytest.mark.slow
def test_finished_results_are_flagged_with_the_file(study):
    file = chosen(study, "paper", "calibration-flag")
    assert_failed(screen(study, "paper", "--parameters", file), f"--parameters {file}")
    result = invoke("flag", study / "paper", "--parameters", file, "-o", study / "flagged")
    assert result.exit_code == 0, result.output
    value = Exam(study / "flagged" / "a").record["flagging"]["value"]
    assert value == Parameters.load(file).radius_threshold
    assert "computed on the calibration frames" in evaluated(study, "flagged").stderr
    for given in (("--read", "5"), ("--threshold", "5")):  # the scores are the same
        assert invoke("flag", study / "flagged", *given).exit_code == 0
        assert "computed on the calibration frames" in evaluated(study, "flagged").stderr
    other = study / "other.toml"
    other.write_text("texture_high = 9.0\n" + file.read_text().replace("texture_high = 8.0", ""))
    shutil.copy(file.with_name("calibrated.frames.txt"), study)
    assert "other parameters" in invoke("flag", study / "paper", "--parameters", other).stderr
    plain = study / "plain.toml"
    Parameters().save(plain)
    assert_failed(invoke("flag", study / "paper", "--parameters", plain), "--parameters", code=2)


@pytest.mark.slow
def test_searched_parameters_name_their_frames(study):
    exams, out = study / "exams", study / "search"
    (study / "polyps.csv").write_text(
        (study / "labels.csv").read_text().replace("b,1,normal", "b,1,polyp")
    )
    usual = ("--settings", "4", "--folds", "2", "--specificity", "50", "--workers", "1")
    searched = invoke("search", exams, "--labels", study / "polyps.csv", "-o", out, *usual)
    assert searched.exit_code == 0, searched.output
    choice = read_choice(out / "best.toml")
    hashes = {
        text
        for exam in "ab"
        for text in Exam(study / "paper" / exam).columns("pixel_hash")["pixel_hash"].to_pylist()
    }
    assert choice.hashes == hashes
    assert choice.scores
    again = invoke("search", exams, "--labels", study / "polyps.csv", "-o", out, *usual)
    assert again.exit_code == 0, again.output
    assert read_choice(out / "best.toml").hashes == hashes
    assert screen(study, "searched", "--parameters", out / "best.toml").exit_code == 0
    assert "computed on the calibration frames" in evaluated(study, "searched").stderr
