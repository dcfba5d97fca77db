"""``capsieve explain`` with the paper's detector."""

import json
import shutil

import cv2
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import capsieve
from capsieve import Parameters
from support.commands import assert_failed
from support.polyp_frames import polyp_frame


def read_image(path):
    return np.asarray(Image.open(path))


def test_the_label_and_the_best_radius_are_printed(run, frame_file):
    result = run("explain", frame_file)
    assert result.exit_code == 0
    expected = capsieve.explain(read_image(frame_file))
    assert expected.label == "polyp"
    assert result.stdout.startswith("Flagged: ")
    assert f"R_max = {expected.radius_max}" in result.stdout.splitlines()[0]


def test_writes_nothing_unless_asked(run, frame_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("explain", frame_file)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("ending", "start"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_writes_the_picture_by_its_ending(run, frame_file, tmp_path, ending, start):
    out = tmp_path / f"panels.{ending}"
    result = run("explain", frame_file, "-o", out)
    assert result.exit_code == 0
    assert out.read_bytes().startswith(start)
    assert str(out) in result.stdout


def test_another_ending_fails_before_the_work(run, tmp_path):
    assert_failed(run("explain", tmp_path / "absent.png", "-o", tmp_path / "panels.jpg"), ".svg")


def test_the_frame_itself_is_not_overwritten(run, frame_file):
    before = frame_file.read_bytes()
    result = run("explain", frame_file, "-o", frame_file)
    assert result.exit_code == 2
    assert frame_file.read_bytes() == before


def refuse(constant: str) -> None:
    raise ValueError(constant)


def test_json_is_all_that_stands_on_stdout(run, frame_file, tmp_path):
    out = tmp_path / "panels.svg"
    result = run("explain", frame_file, "--json", "-o", out)
    content = json.loads(result.stdout, parse_constant=refuse)
    expected = capsieve.explain(read_image(frame_file))
    assert content["schema"] == 2
    assert content["file"] == str(frame_file)
    assert content["figure"] == str(out)
    assert content["label"] == expected.label
    assert content["reason"] == expected.reason
    assert content["score"] == expected.score
    assert content["texture_max"] == pytest.approx(expected.texture_max)
    assert content["radius_max"] == expected.radius_max
    assert content["parameters"] == Parameters().to_dict()
    assert content["derived"]["size_low"] == 292
    assert len(content["features"]) == len(expected.features)


def test_json_gives_features_in_working_and_source_pixels(run, frame_file):
    content = json.loads(run("explain", frame_file, "--json").stdout)
    expected = capsieve.explain(read_image(frame_file))
    best = expected.best
    assert best is not None
    (found,) = [one for one in content["features"] if one["number"] == content["best"]]
    assert found["working"]["ball_row"] == pytest.approx(best.ball_row)
    row, col = expected.placement.to_source(best.ball_row, best.ball_col)
    assert found["source"]["ball_row"] == pytest.approx(row)
    assert found["source"]["ball_col"] == pytest.approx(col)
    assert found["source"]["radius"] == pytest.approx(2 * best.radius)


def test_infinite_eccentricity_is_null_in_json(run, tmp_path):
    noise = cv2.GaussianBlur(np.random.default_rng(0).normal(size=(256, 256)), (0, 0), 3)
    pixels = (255 * (noise - noise.min()) / np.ptp(noise)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "noise.png")
    result = run("explain", tmp_path / "noise.png", "--json")
    expected = capsieve.explain(pixels).features
    infinite = [np.isinf(feature.eccentricity) for feature in expected]
    assert any(infinite)
    content = json.loads(result.stdout, parse_constant=refuse)
    assert [one["eccentricity"] is None for one in content["features"]] == infinite


def test_parameters_come_from_the_file_and_the_channel_wins(run, frame_file, tmp_path):
    file = tmp_path / "mine.toml"
    Parameters(radius_threshold=84, channel="lab-a").save(file)
    result = run("explain", frame_file, "--parameters", file, "--channel", "gray", "--json")
    content = json.loads(result.stdout)
    assert content["parameters"]["radius_threshold"] == 84
    assert content["parameters"]["channel"] == "gray"
    assert content["reason"] == "radius-low"


def test_broken_parameters_are_exit_code_1(run, frame_file, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("widht = 256")
    assert_failed(run("explain", frame_file, "--parameters", file), "widht", "width")


def test_field_of_view_moves_the_working_frame(run, frame_file):
    result = run("explain", frame_file, "--field-of-view", "255.5,255.5,200", "--json")
    placement = json.loads(result.stdout)["placement"]
    assert placement["col_scale"] == pytest.approx(400 / 256, rel=0.02)


def test_the_field_of_view_can_be_searched_on_the_frame_itself(run, frame_file):
    result = run("explain", frame_file, "--field-of-view", "auto", "--json")
    assert "circle" in result.stderr
    placement = json.loads(result.stdout)["placement"]
    # The phantom's disc does not fill its frame: its radius becomes 128 working pixels.
    assert 0.9 * 512 / 256 < placement["col_scale"] < 512 / 256


def test_without_a_field_of_view_the_whole_frame_is_used(run, tmp_path):
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(tmp_path / "frame.png")
    result = run("explain", tmp_path / "frame.png", "--field-of-view", "auto")
    assert result.exit_code == 0
    assert result.stderr


@pytest.mark.parametrize("circle", ["1,2", "a,b,c", "1,2,3,4", ""])
def test_a_malformed_field_of_view_is_wrong_usage(run, frame_file, circle):
    result = run("explain", frame_file, "--field-of-view", circle)
    assert_failed(result, "--field-of-view", code=2)


@pytest.mark.parametrize("circle", ["10,10,400", "nan,1,1", "255,255,-5"])
def test_an_impossible_field_of_view_is_exit_code_1(run, frame_file, circle):
    assert_failed(run("explain", frame_file, "--field-of-view", circle))


@pytest.mark.parametrize("level", [0, 255])
def test_black_and_white_frames_are_explained(run, tmp_path, level):
    Image.fromarray(np.full((64, 64, 3), level, np.uint8)).save(tmp_path / "frame.png")
    result = run("explain", tmp_path / "frame.png", "-o", tmp_path / "panels.svg", "--json")
    assert json.loads(result.stdout)["reason"] == "texture-low"
    assert (tmp_path / "panels.svg").is_file()


def test_a_16_bit_grey_frame_is_explained(run, tmp_path):
    gray = polyp_frame().mean(axis=2)
    Image.fromarray((gray * 257).astype(np.uint16)).save(tmp_path / "frame.png")
    result = run("explain", tmp_path / "frame.png", "--json")
    assert json.loads(result.stdout)["label"] == "polyp"


def test_a_tiny_frame_is_exit_code_1(run, tmp_path):
    Image.new("L", (5, 5)).save(tmp_path / "frame.png")
    assert_failed(run("explain", tmp_path / "frame.png"), "5")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with the images of an exam, and the exam screened from them."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "exam").mkdir()
    frames = [polyp_frame(seed=seed, size=96) for seed in range(3)]
    for number, pixels in enumerate([*frames, np.full((96, 96, 3), 90, np.uint8)]):
        Image.fromarray(pixels).save(folder / "exam" / f"frame{number}.png")
    parameters = Parameters(radius_threshold=30, texture_high=9.0)
    (exam,) = capsieve.screen(folder / "exam", folder / "out", parameters=parameters, workers=1)
    assert exam.complete
    return folder


@pytest.fixture
def mine(study, tmp_path):
    """The same study, to spoil; the first one is out of its sight."""
    shutil.copytree(study, tmp_path / "study")
    file = tmp_path / "study" / "out" / "exam" / "exam.json"
    content = json.loads(file.read_text())
    content["sources"][0]["path"] = str(tmp_path / "study" / "exam")
    file.write_text(json.dumps(content))
    return tmp_path / "study"


def test_a_frame_of_a_screened_exam_has_the_result_of_the_table(run, study):
    exam = study / "out" / "exam"
    for row in pq.read_table(exam / "frames.parquet").to_pylist():
        result = run("explain", exam, "--frame", str(row["frame"]), "--json")
        assert result.exit_code == 0
        content = json.loads(result.stdout)
        assert (content["label"] == "polyp") == row["flagged"]
        for name in ("reason", "score", "texture_max", "radius_max"):
            assert content[name] == pytest.approx(row[name])
        assert content["parameters"]["radius_threshold"] == 30


def test_the_json_names_exam_frame_head_and_source(run, study):
    exam = study / "out" / "exam"
    content = json.loads(run("explain", exam, "--frame", "1", "--json").stdout)
    assert (content["exam"], content["frame"], content["head"]) == (str(exam), 1, 0)
    assert content["file"] == str(study / "exam")


def test_a_frame_of_a_screened_exam_has_its_words_and_panels(run, study, tmp_path):
    out = tmp_path / "panels.svg"
    result = run("explain", study / "out" / "exam", "--frame", "0", "-o", out)
    assert result.exit_code == 0
    assert out.read_bytes().startswith(b"<?xml")


def test_options_win_over_what_the_exam_was_screened_with(run, study):
    exam = study / "out" / "exam"
    result = run("explain", exam, "--frame", "0", "--channel", "red", "--json")
    content = json.loads(result.stdout)
    assert content["parameters"]["channel"] == "red"
    assert content["parameters"]["radius_threshold"] == 30
    result = run("explain", exam, "--frame", "0", "--field-of-view", "47.5,47.5,30", "--json")
    placement = json.loads(result.stdout)["placement"]
    assert placement["col_scale"] == pytest.approx(60 / 256, rel=0.02)


def test_a_wrong_number_names_the_right_ones(run, study):
    assert_failed(run("explain", study / "out" / "exam", "--frame", "4"), "4", "0 to 3")


def test_a_negative_number_is_wrong_usage(run, study):
    assert run("explain", study / "out" / "exam", "--frame", "-1").exit_code == 2


def test_a_folder_without_a_number_is_wrong_usage(run, study):
    assert_failed(run("explain", study / "out" / "exam"), "--frame", code=2)


@pytest.mark.parametrize("option", ["--frame", "--head"])
def test_a_number_or_a_head_of_a_single_file_is_wrong_usage(run, frame_file, option):
    assert_failed(run("explain", frame_file, option, "0"), option, code=2)


def test_an_unknown_head_is_named(run, study):
    exam = study / "out" / "exam"
    assert run("explain", exam, "--frame", "0", "--head", "0").exit_code == 0
    assert_failed(run("explain", exam, "--frame", "0", "--head", "1"), "head 1")


def test_a_folder_that_holds_no_exam_says_what_to_do(run, study):
    assert_failed(run("explain", study / "exam", "--frame", "0"), study / "exam", "capsieve screen")


def test_the_only_exam_of_a_folder_needs_no_name_and_of_several_one_is_chosen(run, study, tmp_path):
    assert run("explain", study / "out", "--frame", "0").exit_code == 0
    for name in ("first", "second"):
        shutil.copytree(study / "out" / "exam", tmp_path / name)
    result = run("explain", tmp_path, "--frame", "0")
    assert_failed(result, "first", "second", code=2)


def test_a_video_is_to_be_screened_first(run, tmp_path):
    (tmp_path / "exam.mp4").write_bytes(b"video")
    assert_failed(run("explain", tmp_path / "exam.mp4"), "capsieve screen", code=2)


@pytest.mark.parametrize("command", [("explain",), ("screen", "-o", "out")])
def test_a_url_is_wrong_usage(run, command):
    assert_failed(run(*command, "https://example.org/frame.png"), "download", code=2)


def test_an_unknown_detector_names_its_option(run, frame_file):
    assert_failed(run("explain", frame_file, "--detector", "none"), "--detector", code=2)


def test_a_study_that_moved_as_a_whole_is_explained(run, mine, tmp_path):
    mine.rename(tmp_path / "elsewhere")
    result = run("explain", tmp_path / "elsewhere" / "out" / "exam", "--frame", "0")
    assert result.exit_code == 0


def test_a_source_that_moved_alone_is_named(run, mine):
    (mine / "exam").rename(mine / "moved")
    assert_failed(run("explain", mine / "out" / "exam", "--frame", "0"), mine / "exam")


def test_a_changed_table_is_refused(run, mine):
    with (mine / "out" / "exam" / "events.parquet").open("ab") as file:
        file.write(b" ")
    result = run("explain", mine / "out" / "exam", "--frame", 1)
    assert_failed(result, "events.parquet", "--overwrite")


def test_a_changed_source_is_refused(run, mine):
    shutil.copy(mine / "exam" / "frame1.png", mine / "exam" / "frame0.png")
    assert_failed(run("explain", mine / "out" / "exam", "--frame", "0"), mine / "exam")
    assert run("explain", mine / "out" / "exam", "--frame", "1").exit_code == 0
