"""Results and labels, brought together."""

from pathlib import Path

import numpy as np
import pytest

from capsieve.engine.judged_results import read_judged, read_matched
from capsieve.errors import FileError
from capsieve.statistics.labels import read_labels
from support.results import write_results


def labels_of(folder: Path, exam: str = "a"):
    path = folder / "labels.csv"
    path.write_text(f"exam,frame,label,patient\n{exam},0,polyp,p\n{exam},1,normal,p\n")
    return read_labels(path)


def test_exams_of_different_parameters_are_not_joined(tmp_path):
    for exam, threshold in (("a", 37), ("b", 38)):
        parameters = {"radius_threshold": threshold}
        write_results(tmp_path / "out" / exam, score=np.ones(2), record={"parameters": parameters})
    with pytest.raises(FileError, match=r"a and b .* different parameters"):
        read_judged(tmp_path / "out", labels_of(tmp_path))


def test_labels_of_other_exams_are_refused_with_the_names_that_would_fit(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    with pytest.raises(FileError, match="the exams of the results are a"):
        read_judged(tmp_path / "out", labels_of(tmp_path, "z"))


def test_exams_that_are_not_complete_are_named(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2), record={"complete": False})
    read = read_judged(tmp_path / "out", labels_of(tmp_path))
    assert any("could be screened: a." in warning for warning in read.warnings)


def test_training_patients_part_the_frames(tmp_path):
    write_results(tmp_path / "out" / "a", score=np.ones(2))
    write_results(tmp_path / "out" / "b", score=np.ones(2))
    path = tmp_path / "labels.csv"
    path.write_text("exam,frame,label,patient\na,0,polyp,p\nb,1,normal,q\n")
    read = read_judged(tmp_path / "out", read_labels(path), train_patients=["q"])
    judged = read.judged
    assert judged.parts == ("train", "test")
    assert judged.part.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("table", ["frames", "features"])
def test_a_table_of_another_screening_is_refused(tmp_path, table):
    folder = write_results(tmp_path / "out" / "a", score=np.ones(2))
    features = [{"head": 0, "frame": 0, "number": 0}]
    other = write_results(tmp_path / "other" / "a", score=np.zeros(2), features=features)
    (other / f"{table}.parquet").replace(folder / f"{table}.parquet")
    for read in (read_judged, read_matched):
        with pytest.raises(FileError, match=r"out/a are missing or damaged"):
            read(tmp_path / "out", labels_of(tmp_path))
