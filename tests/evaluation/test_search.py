"""Parameter search: settings, held-out folds, a stopped search, and what is refused."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

from capsieve.errors import CapsieveError, LeakError, OccupiedError, ParameterError
from capsieve.evaluation import labelled_run
from capsieve.evaluation.search import comparison_table, draw_settings, search
from capsieve.evaluation.settings import SearchSettings
from capsieve.paper.algorithm import analyze
from capsieve.parameters import Parameters
from capsieve.statistics.frames import BLOCKS_ARE_NOT_EXAMS
from support.exams import exam_frame, write_exam_images

FRAMES = 20
EXAMS = "abc"


def write_labels(path, *, exams=EXAMS, patient=lambda exam: exam, normal="normal"):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "label", "polyp", "patient"])
        for exam in exams:
            for number in range(FRAMES):
                polyp = number < 6
                name = f"{exam}-{number // 3}" if polyp else ""
                label = "polyp" if polyp else normal
                writer.writerow([exam, f"frame{number}.png", label, name, patient(exam)])
    return path


@pytest.fixture
def study(tmp_path):
    for exam in EXAMS:
        write_exam_images(tmp_path / "exams" / exam, FRAMES)
    return tmp_path / "exams", write_labels(tmp_path / "labels.csv")


def run(study, out, *, progress=None, **options):
    usual = {"folds": 3, "settings": 6, "workers": 1, "field_of_view": "whole"}
    settings = SearchSettings(**(usual | options))
    exams, labels = study
    return search(exams, labels, out, settings=settings, progress=progress)


def test_the_printed_parameters_are_setting_0_and_no_setting_occurs_twice():
    settings = draw_settings(300)
    assert settings[0] == Parameters()
    assert len(settings) == len(set(settings)) == 300
    assert {each.channel for each in settings} == {"gray", "red", "lab-a"}


def test_settings_depend_on_the_seed_only():
    assert draw_settings(20, seed=4) == draw_settings(20, seed=4)
    assert draw_settings(20, seed=4)[1:] != draw_settings(20, seed=5)[1:]
    assert {each.radius_threshold for each in draw_settings(20)} == {37}


def reached(scores, truth, target=0.9):
    """Return R_P and the flagged polyp frames at the target, one threshold at a time."""
    for threshold in range(1, 200):
        flagged = np.array(scores) >= threshold
        if (~flagged[~truth]).mean() >= target:
            return threshold, int(flagged[truth].sum())
    raise AssertionError


def test_each_fold_is_flagged_with_what_the_other_folds_choose(study, tmp_path):
    found = run(study, tmp_path / "out")
    assert found.run.complete
    assert len(found.folds) == 3
    # All exams have the same frames, so the others choose the best setting of one exam.
    truth = np.arange(FRAMES) < 6
    scores = [[analyze(exam_frame(n), s).score for n in range(FRAMES)] for s in found.settings]
    best = [reached(each, truth) for each in scores]
    setting = max(range(len(best)), key=lambda number: (best[number][1], -number))
    assert set(found.folds.values()) == {(setting, best[setting][0])}
    assert found.best == (setting, best[setting][0])
    searched, refitted, printed = (
        {metric.key: metric for metric in metrics}["frames.sensitivity"]
        for metrics in (found.searched, found.refitted, found.printed)
    )
    assert searched.numerator == 3 * best[setting][1]
    assert refitted.numerator == 3 * best[0][1]
    assert searched.denominator == 18
    as_printed = [analyze(exam_frame(n), Parameters()).label == "polyp" for n in range(6)]
    assert printed.numerator == 3 * sum(as_printed)


def test_the_files_have_the_choice_and_all_settings(study, tmp_path):
    found = run(study, tmp_path / "out")
    chosen = replace(
        found.settings[found.best.setting], radius_threshold=found.best.radius_threshold
    )
    assert Parameters.load(tmp_path / "out" / "best.toml") == chosen == found.parameters
    with (tmp_path / "out" / "settings.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["setting"]) for row in rows] == list(range(6))
    assert float(rows[0]["midpass_fine"]) == 7
    assert sum(int(row["folds"]) for row in rows) == 3
    content = json.loads((tmp_path / "out" / "search.json").read_text())
    assert content["best"]["setting"] == found.best.setting
    assert content["frames"]["polyp"] == 18


def test_folds_of_blocks_have_a_caution_in_all_files(study, tmp_path):
    exams, labels = study
    run(study, tmp_path / "patients")
    labels.write_text(labels.read_text().replace("polyp,patient", "polyp,block"))
    found = run((exams, labels), tmp_path / "blocks")
    assert comparison_table(found).caption.endswith(BLOCKS_ARE_NOT_EXAMS)
    for name in ("search.json", "best.toml"):
        assert BLOCKS_ARE_NOT_EXAMS in (tmp_path / "blocks" / name).read_text()
        assert BLOCKS_ARE_NOT_EXAMS not in (tmp_path / "patients" / name).read_text()


def test_a_stopped_search_ends_as_one_that_was_not_stopped(study, tmp_path, monkeypatch):
    monkeypatch.setattr(labelled_run, "_BLOCK_ANALYSES", 60)  # blocks of ten frames
    run(study, tmp_path / "whole")

    def stop(progress):
        if progress.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "stopped", progress=stop)
    seen = []
    run(study, tmp_path / "stopped", progress=seen.append)
    assert max(each.resumed for each in seen) > 0
    for name in ("best.toml", "settings.csv", "search.json"):
        one, two = ((tmp_path / out / name).read_bytes() for out in ("whole", "stopped"))
        assert one == two


def test_a_finished_search_is_not_scored_again(study, tmp_path):
    first = run(study, tmp_path / "out")
    seen = []
    again = run(study, tmp_path / "out", progress=seen.append)
    assert all(each.done == each.resumed or each.done < each.total for each in seen)
    assert sum({each.exam: each.resumed for each in seen}.values()) == 60
    assert again.parameters == first.parameters


@pytest.mark.slow
def test_the_number_of_workers_does_not_matter(study, tmp_path):
    one = run(study, tmp_path / "one")
    two = run(study, tmp_path / "two", workers=2)
    assert one.run.scores.tolist() == two.run.scores.tolist()
    assert one.parameters == two.parameters


@pytest.mark.parametrize("options", [{"seed": 1}, {"settings": 7}], ids=str)
def test_the_folder_of_another_search_is_refused(study, tmp_path, options):
    run(study, tmp_path / "out", settings=2)
    with pytest.raises(OccupiedError):
        run(study, tmp_path / "out", **({"settings": 2} | options))


def test_labels_of_one_patient_are_refused_before_anything_is_scored(study, tmp_path):
    labels = write_labels(tmp_path / "one.csv", patient=lambda _: "one")
    with pytest.raises(CapsieveError, match="group"):
        run((study[0], labels), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_folds_without_a_normal_frame_are_refused(study, tmp_path):
    labels = write_labels(tmp_path / "one.csv", normal="polyp")
    with pytest.raises(ParameterError, match="normal"):
        run((study[0], labels), tmp_path / "out")


def write_splits(path, part):
    with path.open("w") as file:
        file.write("exam,file,part\n")
        for exam in EXAMS:
            file.writelines(f"{exam},frame{n}.png,{part(exam, n)}\n" for n in range(FRAMES))
    return path


def test_patients_in_two_folds_are_refused(study, tmp_path):
    splits = write_splits(tmp_path / "splits.csv", lambda _, number: number % 2)
    with pytest.raises(LeakError, match="patient"):
        run(study, tmp_path / "out", splits=splits)


def test_given_folds_are_used_and_a_training_part_is_refused(study, tmp_path):
    splits = write_splits(tmp_path / "splits.csv", lambda exam, _: f"fold {exam}")
    found = run(study, tmp_path / "out", splits=splits, settings=2)
    assert sorted(found.folds) == ["fold a", "fold b", "fold c"]
    parts = write_splits(tmp_path / "parts.csv", lambda exam, _: "train" if exam == "a" else "test")
    with pytest.raises(ParameterError, match="folds"):
        run(study, tmp_path / "other", splits=parts)
