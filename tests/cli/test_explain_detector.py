"""``capsieve explain`` of a screened exam: by the detector that screened it, or a word about it."""

import json

import pytest

import capsieve
from made_models import brightness_model, own_file, spec
from support.exams import write_exam_images

pytest.importorskip("onnxruntime", reason="models need the extra learned")


@pytest.fixture
def exam(tmp_path, monkeypatch):
    """Return the folder of an exam that was screened with model.onnx, which lies here."""
    monkeypatch.chdir(tmp_path)
    path = own_file(tmp_path / "model.onnx")
    frames = write_exam_images(tmp_path / "frames", 3)
    capsieve.screen(frames, tmp_path / "out", detector=capsieve.load_detector(path), workers=1)
    return tmp_path / "out" / "frames"


def other_model(path):
    return own_file(path, brightness_model(), spec(threshold=0.25))


def test_the_model_that_screened_the_exam_explains_it_without_a_word(run, exam):
    result = run("explain", exam, "--frame", "0", "--json")
    assert result.exit_code == 0, result.output
    assert "Note" not in result.stderr
    assert json.loads(result.stdout)["detector"]["name"] == "model.onnx"


def test_another_model_of_the_same_name_is_not_taken_for_it(run, exam, tmp_path):
    other_model(tmp_path / "model.onnx")
    result = run("explain", exam, "--frame", "0")
    assert result.exit_code == 1
    assert "is another detector" in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_another_model_that_was_named_explains_it_with_a_note(run, exam, tmp_path):
    other = other_model(tmp_path / "other.onnx")
    result = run("explain", exam, "--frame", "0", "--detector", other, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["detector"]["name"] == "other.onnx"
    assert "was screened with model.onnx (SHA-256 " in result.stderr
    assert "the score may not be that of the results" in result.stderr


def test_the_papers_detector_that_was_named_explains_it_with_a_note(run, exam):
    result = run("explain", exam, "--frame", "0", "--detector", "paper")
    assert result.exit_code == 0, result.output
    assert "and paper is another detector" in result.stderr


def test_the_same_model_in_another_place_is_the_same(run, exam, tmp_path):
    moved = (tmp_path / "model.onnx").rename(tmp_path / "moved.onnx")
    result = run("explain", exam, "--frame", "0")
    assert result.exit_code == 1
    assert "model.onnx, which is missing" in result.stderr
    result = run("explain", exam, "--frame", "0", "--detector", moved)
    assert result.exit_code == 0, result.output
    assert "Note" not in result.stderr


def test_the_model_is_found_where_it_was_during_screening(run, exam, tmp_path, monkeypatch):
    results = tmp_path / "some" / "other" / "folder" / "out"
    results.parent.mkdir(parents=True)
    exam.parent.rename(results)
    monkeypatch.chdir(results)
    result = run("explain", results / exam.name, "--frame", "0")
    assert result.exit_code == 0, result.output
    assert "Note" not in result.stderr


def test_the_figure_of_a_model_is_written_and_the_same_again(run, frame_file, exam, tmp_path):
    for name in ("one.png", "two.png"):
        result = run("explain", frame_file, "--detector", "model.onnx", "-o", tmp_path / name)
        assert result.exit_code == 0, result.output
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("threshold", "label"), [(0.01, "polyp"), (1.0, "normal")])
def test_a_model_explains_by_its_score_and_threshold(run, frame_file, tmp_path, threshold, label):
    model = own_file(tmp_path / "model.onnx", brightness_model(), spec(threshold=threshold))
    result = run("explain", frame_file, "--detector", model, "--json")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert (content["label"], content["score_threshold"]) == (label, threshold)
    assert 0.01 < content["score"] < 1.0
