"""A search from files to parameters: nested, resumed, repeatable.

The import path and the names of options and results are those of the plan; adapt them.
"""

import csv

import pytest
from capsieve.evaluation.search import search

from capsieve.errors import FileError, LeakError, OccupiedError, ParameterError
from capsieve.paper.algorithm import analyze
from capsieve.parameters import Parameters
from support.exams import exam_frame, write_exam_images

FRAMES = 20
EXAMS = "abc"
BASE = Parameters(texture_high=60.0)


def write_labels(path, *, exams=EXAMS, patient=lambda exam: exam, normal="normal"):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["exam", "file", "label", "polyp", "patient"])
        for exam in exams:
            for number in range(FRAMES):
                polyp = number % 20 < 6
                name = f"{exam}-{number // 3}" if polyp else ""
                label = "polyp" if polyp else normal
                writer.writerow([exam, f"frame{number}.png", label, name, patient(exam)])
    return path


@pytest.fixture
def study(tmp_path):
    for exam in EXAMS:
        write_exam_images(tmp_path / "exams" / exam, FRAMES)
    return tmp_path / "exams", write_labels(tmp_path / "labels.csv")


def run(study, out, **options):
    settings = {"parameters": BASE, "folds": 3, "trials": 2, "batch": 1, "workers": 1} | options
    exams, labels = study
    return search(exams, labels, out, **settings)


@pytest.mark.slow
def test_a_search_judges_every_part_by_the_others(study, tmp_path):
    seen = []
    outcome = run(study, tmp_path / "out", progress=seen.append)
    assert outcome.complete
    assert sorted(outcome.by_part) == ["1", "2", "3"]
    assert len(outcome.trials) == 2
    assert outcome.optimistic >= outcome.base_optimistic
    assert outcome.frames["polyp"] == 18
    assert outcome.judgement.searched[0].denominator == 18
    assert seen[0].done == 0
    names = {each.exam for each in seen}
    assert len(names) == len({each.number for each in seen}) > len(EXAMS)
    # What is flagged is what the detector flags with the parameters that the others chose.
    # All three exams hold the same frames.
    possible = [
        [analyze(exam_frame(n), parameters).label == "polyp" for n in range(FRAMES)]
        for parameters, _ in outcome.by_part.values()
    ]
    for row in outcome.judgement.flagged.reshape(len(EXAMS), FRAMES).tolist():
        assert row in possible


@pytest.mark.slow
def test_a_finished_search_is_not_measured_again(study, tmp_path):
    first = run(study, tmp_path / "out")
    seen = []
    again = run(study, tmp_path / "out", progress=seen.append)
    assert not any(each.done for each in seen)
    assert again.parameters == first.parameters
    assert again.trials == first.trials


@pytest.mark.slow
def test_a_stopped_search_ends_as_one_that_was_not(study, tmp_path):
    whole = run(study, tmp_path / "whole")

    def stop(progress):
        if progress.number == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(study, tmp_path / "stopped", progress=stop)
    resumed = run(study, tmp_path / "stopped")
    assert resumed.trials == whole.trials
    assert resumed.parameters == whole.parameters
    assert (resumed.judgement.flagged == whole.judgement.flagged).all()


@pytest.mark.slow
def test_the_number_of_workers_does_not_matter(study, tmp_path):
    one = run(study, tmp_path / "one")
    two = run(study, tmp_path / "two", workers=2)
    assert one.trials == two.trials
    assert one.parameters == two.parameters


@pytest.mark.slow
def test_sources_without_a_polyp_are_only_counted(study, tmp_path):
    for source in ("round", "square"):
        write_exam_images(tmp_path / "two" / source, FRAMES)
    with (tmp_path / "two.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "label", "block"])
        for source in ("round", "square"):
            for n in range(FRAMES):
                label = "polyp" if n < 6 and source == "round" else "normal"
                writer.writerow([f"{source}/frame{n}.png", label, f"{source}-{n % 2}"])
    outcome = run((tmp_path / "two", tmp_path / "two.csv"), tmp_path / "out", folds=2, trials=1)
    assert outcome.frames["normal"] == FRAMES - 6
    frames, searched, base = outcome.elsewhere["square"]
    assert frames == FRAMES
    flags = [analyze(exam_frame(n), outcome.parameters).label == "polyp" for n in range(FRAMES)]
    assert searched == sum(flags)
    assert 0 <= base <= FRAMES


@pytest.mark.slow
def test_the_folder_of_a_search_on_other_exams_is_refused(study, tmp_path):
    run(study, tmp_path / "out", trials=1)
    write_exam_images(study[0] / "d", FRAMES)
    labels = write_labels(tmp_path / "more.csv", exams="abcd")
    with pytest.raises(OccupiedError):
        run((study[0], labels), tmp_path / "out", trials=1)


def test_patients_in_two_parts_are_refused(study, tmp_path):
    labels = write_labels(tmp_path / "torn.csv", patient=lambda _: "one")
    with (tmp_path / "splits.csv").open("w") as file:
        file.write("exam,file,part\n")
        for exam in EXAMS:
            file.writelines(f"{exam},frame{n}.png,{EXAMS.index(exam)}\n" for n in range(FRAMES))
    with pytest.raises(LeakError, match="patients"):
        run((study[0], labels), tmp_path / "out", splits=tmp_path / "splits.csv")


def test_labels_of_one_class_are_refused(study, tmp_path):
    labels = write_labels(tmp_path / "one.csv", normal="polyp")
    with pytest.raises(FileError, match="labelled normal"):
        run((study[0], labels), tmp_path / "out")


@pytest.mark.parametrize(
    "options",
    [{"trials": 0}, {"batch": 0}, {"normals": 0}, {"target_specificity": 1.0}, {"objective": "x"}],
    ids=str,
)
def test_wrong_settings_are_refused(study, tmp_path, options):
    with pytest.raises(ParameterError, match=next(iter(options))):
        run(study, tmp_path / "out", **options)


@pytest.mark.slow
def test_a_limit_on_time_ends_the_search(study, tmp_path):
    outcome = run(study, tmp_path / "out", trials=9, seconds=1e-9)
    assert not outcome.complete
    assert len(outcome.trials) < 9
