"""``capsieve.screen``: exams in, tables and a record out."""

import json
import os
import shutil
import zipfile
from hashlib import sha256

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

import capsieve
from capsieve import FieldOfView, FileError, FrameError, OccupiedError, ParameterError, Parameters
from capsieve.frames import pixel_hash
from capsieve.store.record import Record
from capsieve.store.schema import TABLES
from support.exams import exam_frame, read_frames, table_bytes, write_exam_images, write_exam_video
from support.unfinished import is_unfinished, write_unfinished

FRAMES = 600  # more than two segments


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    return write_exam_video(tmp_path_factory.mktemp("source") / "exam.mp4", FRAMES)


@pytest.fixture(scope="module")
def screened(video, tmp_path_factory):
    (exam,) = capsieve.screen(video, tmp_path_factory.mktemp("out"), workers=1)
    assert exam.error is None
    return exam


def record(exam: capsieve.ScreenedExam) -> Record:
    assert exam.record is not None
    return exam.record


def frame_counts(exam):
    """Return the frame counts of an exam, after a check that they add up."""
    counts = record(exam)["frame_counts"]
    assert counts["found"] == counts["decoded"] + counts["undecodable"]
    assert counts["decoded"] == counts["scored"] + counts["unscorable"]
    assert counts["scored"] == counts["flagged"] + sum(counts["rejected"].values())
    assert counts["flagged"] == counts["to_read"] + counts["near_duplicates"]
    return counts


def test_the_table_has_every_frame_of_a_decoding_loop_with_its_time_and_pixels(video, screened):
    table = read_frames(screened.folder)
    with av.open(str(video)) as container:
        plain = [
            (frame.time, pixel_hash(frame.to_ndarray(format="rgb24")))
            for frame in container.decode(video=0)
        ]
    columns = ("time_s", "pixel_hash")
    assert list(zip(*(table[name].to_pylist() for name in columns), strict=True)) == plain
    assert table["frame"].to_pylist() == list(range(FRAMES))


def test_scores_equal_those_of_analyze_with_the_recorded_field_of_view(video, screened):
    view = screened.record["fields_of_view"][0]
    field = FieldOfView(view["shape"], view["row"], view["col"], view["radius"], view["confidence"])
    rows = read_frames(screened.folder).to_pylist()
    with av.open(str(video)) as container:
        for row, frame in zip(rows[:60], container.decode(video=0), strict=False):
            result = capsieve.analyze(frame.to_ndarray(format="rgb24"), field_of_view=field)
            assert (row["flagged"], row["reason"]) == (result.label == "polyp", result.reason)
            assert (row["score"], row["radius_max"]) == (result.score, result.radius_max)
            assert row["texture_max"] == result.texture_max


def test_the_frame_counts_agree_with_the_table(screened):
    counts = frame_counts(screened)
    rows = read_frames(screened.folder).to_pylist()
    assert counts["found"] == len(rows) == counts["declared"] == FRAMES
    assert counts["flagged"] == sum(row["flagged"] for row in rows) > 50
    for reason, count in counts["rejected"].items():
        assert count == sum(row["reason"] == reason for row in rows)
    assert counts["rejected"]["texture-low"] > 0
    assert counts["rejected"]["texture-high"] > 0
    assert screened.complete


def test_the_record_contains_source_parameters_and_versions(video, screened):
    record = json.loads((screened.folder / "exam.json").read_text())
    (source,) = record["sources"]
    assert source["sha256"] == sha256(video.read_bytes()).hexdigest()
    assert source["path"] == str(video)
    assert source["description"]["colour"]
    assert Parameters.from_dict(record["parameters"]) == Parameters()
    assert record["versions"]["capsieve"] == capsieve.__version__
    assert record["fields_of_view"][0]["rows"] == 96


def test_events_contain_exactly_the_flagged_frames(screened):
    rows = read_frames(screened.folder).to_pylist()
    events = {e["event"]: e for e in pq.read_table(screened.folder / "events.parquet").to_pylist()}
    assert list(events) == list(range(1, len(events) + 1))
    for number, event in events.items():
        members = [row for row in rows if row["event"] == number]
        assert all(row["flagged"] for row in members)
        assert len(members) == event["frames"]
        assert (members[0]["frame"], members[-1]["frame"]) == (
            event["first_frame"],
            event["last_frame"],
        )
        assert max(row["score"] for row in members) == event["score"]
    assert all((row["event"] is not None) == row["flagged"] for row in rows)


def test_features_belong_to_frames_that_passed_pre_selection(screened):
    features = pq.read_table(screened.folder / "features.parquet").to_pylist()
    rows = read_frames(screened.folder).to_pylist()
    assert features
    for feature in features:
        assert not (rows[feature["frame"]]["reason"] or "").startswith("texture")
    best = {}
    for feature in features:
        key = feature["frame"]
        best[key] = max(best.get(key, 0), feature["radius"])
    assert all(rows[frame]["radius_max"] == radius for frame, radius in best.items())


def test_every_table_has_a_schema_version(screened):
    for name in TABLES:
        metadata = pq.read_schema(screened.folder / f"{name}.parquet").metadata
        assert json.loads(metadata[b"capsieve"]) == {"schema": 2, "table": name, "exam": "exam"}


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_workers(video, screened, tmp_path):
    for workers, cluster in ((2, None), (3, None), (None, "local:2")):
        out = tmp_path / f"{workers}-{cluster}"
        (exam,) = capsieve.screen(video, out, workers=workers, cluster=cluster)
        assert table_bytes(exam.folder) == table_bytes(screened.folder)


def test_a_finished_exam_is_not_screened_again(video, screened):
    before = (screened.folder / "exam.json").stat().st_mtime_ns
    (again,) = capsieve.screen(video, screened.folder.parent, workers=1)
    assert not again.new
    assert again.record == screened.record
    assert (screened.folder / "exam.json").stat().st_mtime_ns == before


@pytest.fixture
def small(tmp_path):
    return write_exam_images(tmp_path / "source" / "small", 12)


def test_other_settings_are_rejected_unless_overwritten(small, tmp_path):
    out = tmp_path / "out"
    (first,) = capsieve.screen(small, out, workers=1)
    before = table_bytes(first.folder)
    other = Parameters(texture_low=2.0)
    (refused,) = capsieve.screen(small, out, parameters=other, workers=1)
    assert isinstance(refused.error, OccupiedError)
    assert "texture_low: 3.0 there, 2.0 now" in str(refused.error)
    assert "--overwrite" in str(refused.error)
    assert table_bytes(first.folder) == before
    (again,) = capsieve.screen(small, out, parameters=other, workers=1, overwrite=True)
    assert again.complete


@pytest.mark.parametrize(
    "rule", [{"read": "10%"}, {"threshold": 90}, {"parameters": Parameters(radius_threshold=90)}]
)
def test_a_finished_exam_with_another_rule_leads_to_capsieve_flag(small, tmp_path, rule):
    (first,) = capsieve.screen(small, tmp_path, workers=1)
    before = table_bytes(first.folder)
    (refused,) = capsieve.screen(small, tmp_path, workers=1, **rule)
    assert isinstance(refused.error, OccupiedError)
    assert f"capsieve flag {first.folder}" in str(refused.error)
    assert table_bytes(first.folder) == before
    (again,) = capsieve.screen(small, tmp_path, workers=1, **rule, overwrite=True)
    assert frame_counts(again)["flagged"] < frame_counts(first)["flagged"]


def test_a_changed_source_is_rejected(small, tmp_path):
    out = tmp_path / "out"
    capsieve.screen(small, out, workers=1)
    (small / "frame3.png").unlink()
    (refused,) = capsieve.screen(small, out, workers=1)
    assert isinstance(refused.error, OccupiedError)
    assert "sha256" in str(refused.error)


def test_unfinished_work_of_another_version_is_rejected(small, tmp_path):
    out = tmp_path / "out"
    (done,) = capsieve.screen(small, out, workers=1)
    assert done.record
    plan = dict(done.record["identity"]) | {"capsieve": "0.0.1"}
    shutil.rmtree(done.folder)
    write_unfinished(done.folder, plan)
    (refused,) = capsieve.screen(small, out, workers=1)
    assert isinstance(refused.error, OccupiedError)
    assert "0.0.1" in str(refused.error)


@pytest.mark.parametrize("name", [f"{table}.parquet" for table in TABLES])
def test_an_exam_with_a_missing_or_changed_table_is_rejected_unless_fresh(small, tmp_path, name):
    out = tmp_path / "out"
    (done,) = capsieve.screen(small, out, workers=1)
    (done.folder / name).write_bytes(b"PAR1")
    (refused,) = capsieve.screen(small, out, workers=1)
    assert "--overwrite" in str(refused.error)
    (done.folder / name).unlink()
    (refused,) = capsieve.screen(small, out, workers=1)
    assert "--overwrite" in str(refused.error)
    (again,) = capsieve.screen(small, out, workers=1, overwrite=True)
    assert again.complete


def test_work_files_of_a_finished_exam_are_removed(small, tmp_path):
    (done,) = capsieve.screen(small, tmp_path / "out", workers=1)
    assert done.record
    write_unfinished(done.folder, done.record["identity"])
    (again,) = capsieve.screen(small, tmp_path / "out", workers=1)
    assert not again.new
    assert not is_unfinished(done.folder)


def test_an_unknown_field_of_view_is_rejected(small, tmp_path):
    with pytest.raises(ParameterError, match="'aut'") as raised:
        capsieve.screen(small, tmp_path / "out", field_of_view="aut")  # pyright: ignore
    assert raised.value.field == "field_of_view"


def test_an_unreadable_exam_does_not_stop_the_others(small, tmp_path):
    exams = small.parent
    (exams / "broken.mp4").write_text("not a video")
    (exams / "empty.avi").touch()
    write_exam_images(exams / "other", 3)
    found = {e.name: e for e in capsieve.screen(exams, tmp_path / "out", workers=1)}
    assert {name for name, exam in found.items() if exam.complete} == {"small", "other"}
    assert str(exams / "broken.mp4") in str(found["broken"].error)
    assert not (tmp_path / "out" / "broken").exists()
    assert not (tmp_path / "out" / "empty").exists()


def test_an_unreadable_image_keeps_its_number_and_is_a_problem(small, tmp_path):
    (small / "frame5.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    (exam,) = capsieve.screen(small, tmp_path / "out", workers=1)
    counts = frame_counts(exam)
    assert (counts["found"], counts["decoded"], counts["undecodable"]) == (12, 11, 1)
    assert exam.record
    assert not exam.complete
    (problem,) = exam.record["problems"]
    assert (problem["first_frame"], problem["file"]) == (5, "frame5.png")
    row = read_frames(exam.folder).to_pylist()[5]
    assert (row["status"], row["score"], row["file"]) == ("undecodable", None, "frame5.png")


def test_a_frame_that_is_too_small_is_decoded_and_not_scored(small, tmp_path):
    Image.fromarray(exam_frame(0)[:10, :10]).save(small / "frame5.png")
    (exam,) = capsieve.screen(small, tmp_path / "out", workers=1)
    assert frame_counts(exam)["unscorable"] == 1
    assert exam.record
    (problem,) = exam.record["problems"]
    assert (problem["first_frame"], problem["file"]) == (5, "frame5.png")


def test_a_folder_and_an_archive_of_the_same_images_give_the_same_table(small, tmp_path):
    archive = tmp_path / "source" / "zipped.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for image in small.iterdir():
            file.write(image, image.name)
    folder, zipped = capsieve.screen([small, archive], tmp_path / "out", workers=1)
    names = ["frame", "file", "pixel_hash", "flagged", "score", "texture_max", "event"]
    assert read_frames(folder.folder).select(names).equals(read_frames(zipped.folder).select(names))


def test_links_to_themselves_are_errors_of_files(small, tmp_path):
    loop = tmp_path / "loop.mp4"
    loop.symlink_to(loop)
    broken, good = capsieve.screen([loop, small], tmp_path / "out", workers=1)
    assert isinstance(broken.error, FileError)
    assert good.complete
    (again,) = capsieve.screen(small, loop, workers=1)
    assert isinstance(again.error, FileError)
    (again,) = capsieve.flag(good.folder, read=3, to=loop)
    assert isinstance(again.error, FileError)


def test_a_recording_of_unknown_length_gets_a_warning(tmp_path):
    path = tmp_path / "a.mkv"
    with av.open(str(path), "w", options={"live": "1"}) as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width = stream.height = 64
        for _ in range(10):
            pixels = np.full((64, 64, 3), 90, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    (exam,) = capsieve.screen(path, tmp_path / "out", workers=1)
    assert exam.complete
    warning = "a.mkv: the file does not declare its length: the recording may be incomplete."
    assert warning in record(exam)["warnings"]


def test_two_streams_are_two_heads(tmp_path):
    video = write_exam_video(tmp_path / "both.mp4", 40, streams=2)
    (exam,) = capsieve.screen(video, tmp_path / "out", workers=1)
    rows = read_frames(exam.folder).to_pylist()
    assert [(r["head"], r["frame"]) for r in rows] == [(h, n) for h in (0, 1) for n in range(40)]
    assert frame_counts(exam)["found"] == 80
    assert (
        len({row["pixel_hash"] for row in rows[:40]} & {row["pixel_hash"] for row in rows[40:]})
        < 40
    )


def test_two_files_named_as_heads_are_one_exam(tmp_path):
    write_exam_video(tmp_path / "in" / "both-head-0.mp4", 10)
    write_exam_video(tmp_path / "in" / "both-head-1.mp4", 12)
    (exam,) = capsieve.screen(tmp_path / "in", tmp_path / "out", workers=1)
    assert exam.record
    assert {h: counts["found"] for h, counts in exam.record["heads"].items()} == {"0": 10, "1": 12}


def test_a_given_field_of_view_is_used(small, tmp_path):
    circle = FieldOfView("circle", 47.5, 47.5, 40.0)
    (exam,) = capsieve.screen(small, tmp_path / "out", field_of_view=circle, workers=1)
    assert exam.record
    assert exam.record["fields_of_view"][0]["radius"] == 40.0
    (other,) = capsieve.screen(small, tmp_path / "out", field_of_view="whole", workers=1)
    assert "field_of_view" in str(other.error)


def test_near_duplicates_of_a_flagged_frame_are_not_to_be_read(tmp_path):
    folder = tmp_path / "still"
    folder.mkdir()
    for number in range(8):
        Image.fromarray(exam_frame(0)).save(folder / f"{number}.png")
    (exam,) = capsieve.screen(folder, tmp_path / "out", workers=1)
    counts = frame_counts(exam)
    assert (counts["flagged"], counts["to_read"], counts["events"]) == (8, 1, 1)
    assert read_frames(exam.folder)["duplicate_of"].to_pylist() == [None] + [0] * 7


@pytest.mark.filterwarnings("ignore:a 16-bit frame")
@pytest.mark.parametrize(("factor", "warned"), [(1, True), (257, False)])
def test_8_bit_values_in_16_bit_files_have_a_warning(tmp_path, factor, warned):
    (tmp_path / "exam").mkdir()
    for number in range(3):
        gray = factor * exam_frame(number).mean(axis=2).astype(np.uint16)
        Image.fromarray(gray).save(tmp_path / "exam" / f"{number}.png")
    (exam,) = capsieve.screen(tmp_path / "exam", tmp_path / "out", workers=1)
    assert exam.record is not None
    assert any("16-bit" in warning for warning in exam.record["warnings"]) is warned


def test_an_exam_outside_the_reference_range_has_warnings(tmp_path):
    folder = tmp_path / "blue"
    folder.mkdir()
    for number in range(5):
        pixels = np.full((96, 96, 3), (10, 20, 90), np.uint8)
        pixels[number * 10 : number * 10 + 8] += 20
        Image.fromarray(pixels).save(folder / f"{number}.png")
    (exam,) = capsieve.screen(folder, tmp_path / "out", workers=1)
    assert exam.record
    (warning,) = exam.record["warnings"]
    assert "darker" in warning
    assert "bluer" in warning
    measures = exam.record["range"]["measures"]
    assert measures["brightness"]["below"] == 1.0
    assert measures["blueness"]["above"] == 1.0


@pytest.mark.parametrize(
    ("inputs", "options", "error"),
    [
        ([], {}, capsieve.FileError),
        ("", {}, capsieve.FileError),
        (["absent.mp4"], {}, capsieve.FileError),
        (["*.mp4"], {}, capsieve.FileError),
        (["."], {"detector": "unheard-of"}, ParameterError),
    ],
)
def test_invalid_arguments_are_rejected_before_anything_is_written(
    inputs, options, error, tmp_path, monkeypatch
):
    Image.fromarray(exam_frame(0)).save(tmp_path / "frame.png")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        capsieve.screen(inputs, "out", workers=1, **options)
    assert not (tmp_path / "out").exists()


def test_progress_counts_every_frame(small, tmp_path):
    reports = []
    capsieve.screen(small, tmp_path / "out", workers=1, progress=reports.append)
    assert reports[0].done == 0
    assert reports[-1].done == reports[-1].total == 12


def test_a_finished_exam_of_another_version_stays_finished(small, tmp_path, monkeypatch):
    capsieve.screen(small, tmp_path, workers=1)
    monkeypatch.setattr("capsieve.screening.plan.__version__", "99.0")
    (again,) = capsieve.screen(small, tmp_path, workers=1)
    assert again.complete
    assert not again.new


def test_an_unchanged_source_is_not_read_again(small, tmp_path, monkeypatch):
    capsieve.screen(small, tmp_path, workers=1)
    monkeypatch.setattr("capsieve.sources.image_source.ImageSource.survey", None)
    (again,) = capsieve.screen(small, tmp_path, workers=1)
    assert again.complete
    assert not again.new


def test_a_source_with_another_time_and_the_same_content_is_still_finished(small, tmp_path):
    capsieve.screen(small, tmp_path, workers=1)
    os.utime(small / "frame0.png", (1, 1))
    (again,) = capsieve.screen(small, tmp_path, workers=1)
    assert again.complete
    assert not again.new


# Detectors that fail


class Failing:
    """Scores the brightness; fails on dark frames."""

    name = "failing"

    def __init__(self, limit=0.0, answer=None):
        self.limit = limit
        self.answer = answer
        self.identity = {"limit": limit, "answer": str(answer)}

    def score(self, frame, field_of_view=None):
        value = float(frame.mean())
        if value >= self.limit:
            return value
        if self.answer is None:
            raise IndexError("outside")
        return self.answer


def test_an_exam_without_a_single_score_has_an_error(small, tmp_path):
    (exam,) = capsieve.screen(small, tmp_path, detector=Failing(1000), workers=1)
    assert isinstance(exam.error, FrameError)
    assert "IndexError: outside" in str(exam.error)
    assert not exam.complete
    assert frame_counts(exam)["unscorable"] == 12
    (again,) = capsieve.screen(small, tmp_path, detector=Failing(1000), workers=1)
    assert isinstance(again.error, FrameError)


@pytest.mark.parametrize("answer", [None, float("nan"), float("inf"), "text", [1.0, 2.0]])
def test_a_detector_that_fails_on_some_frames_harms_no_other(small, tmp_path, answer):
    (whole,) = capsieve.screen(small, tmp_path / "whole", detector=Failing(), workers=1)
    (part,) = capsieve.screen(small, tmp_path / "part", detector=Failing(100, answer), workers=1)
    assert part.error is None
    assert not part.complete
    scores = read_frames(whole.folder)["score"].to_pylist()
    expected = [score if score >= 100 else None for score in scores]
    assert read_frames(part.folder)["score"].to_pylist() == expected
    assert frame_counts(part)["unscorable"] == expected.count(None) > 0


def test_an_object_without_the_protocol_is_rejected_by_name(small, tmp_path):
    with pytest.raises(ParameterError, match="score"):
        capsieve.screen(small, tmp_path / "out", detector=object())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("out", ["small", "small/results"])
def test_results_are_not_written_among_the_images(small, out):
    before = sorted(small.parent.rglob("*"))
    with pytest.raises(capsieve.FileError, match="input"):
        capsieve.screen(small, small.parent / out, workers=1)
    assert sorted(small.parent.rglob("*")) == before


def test_a_folder_of_exams_is_not_the_output_folder(small):
    with pytest.raises(capsieve.FileError, match="input"):
        capsieve.screen(small.parent, small.parent, workers=1)


def test_results_in_a_folder_next_to_the_exams_are_no_exam(small):
    folder = small.parent
    for _ in range(2):
        (exam,) = capsieve.screen(folder, folder / "results", workers=1)
        assert exam.complete


@pytest.mark.parametrize(("inputs", "out"), [("", "out"), ("small", "")])
def test_empty_paths_are_rejected(small, monkeypatch, inputs, out):
    monkeypatch.chdir(small.parent)
    with pytest.raises(capsieve.CapsieveError, match="empty"):
        capsieve.screen(inputs, out, workers=1)


def test_a_protected_exam_is_not_overwritten(small, tmp_path):
    (first,) = capsieve.screen(small, tmp_path / "out", workers=1)
    before = table_bytes(first.folder)
    options = {"workers": 1, "protected": {"small"}, "field_of_view": "whole"}
    (refused,) = capsieve.screen(small, tmp_path / "out", overwrite=True, **options)
    assert isinstance(refused.error, OccupiedError)
    for text in (str(first.folder), "-o"):
        assert text in str(refused.error)
    assert table_bytes(first.folder) == before
    (other,) = capsieve.screen(small, tmp_path / "other", **options)
    assert other.complete


def test_a_head_without_the_other_has_a_warning(small, tmp_path):
    two = [small.rename(small.with_name("x-head-0")), small.with_name("x-head-1")]
    shutil.copytree(*two)
    (alone,) = capsieve.screen(two[0], tmp_path / "1", workers=1)
    (both,) = capsieve.screen(two, tmp_path / "2", workers=1)
    assert any("x-head-0" in warning for warning in record(alone)["warnings"])
    assert not any("head" in warning for warning in record(both)["warnings"])


# Reading lists


def test_a_reading_list_flags_the_best_frames_and_keeps_the_papers_reasons(small, tmp_path):
    (exam,) = capsieve.screen(small, tmp_path, read=2, workers=1)
    rows = read_frames(exam.folder).to_pylist()
    best = sorted((row for row in rows if row["score"] > 0), key=lambda r: -r["score"])[:2]
    assert [row for row in rows if row["flagged"]] == sorted(best, key=lambda r: r["frame"])
    assert {row["reason"] for row in rows if row["score"] == 0} <= {"texture-low", "texture-high"}
    unlisted = [row["reason"] for row in rows if row["score"] > 0 and not row["flagged"]]
    assert set(unlisted) == {"score-low"}
    flagging = record(exam)["flagging"]
    assert (flagging["rule"], flagging["value"], flagging["frames"]) == ("count", 2.0, 2)
    assert flagging["last_score"] == min(row["score"] for row in best)
    assert flagging["score_threshold"] == 37
    assert flagging["share_above_threshold"] == 0.5


def test_two_heads_share_one_reading_list(tmp_path):
    video = write_exam_video(tmp_path / "both.mp4", 40, streams=2)
    (exam,) = capsieve.screen(video, tmp_path / "out", read="5%", workers=1)
    assert record(exam)["flagging"]["frames"] == 4
    rows = read_frames(exam.folder)
    flagged = rows.filter(rows["flagged"])
    assert min(flagged["score"].to_pylist()) >= sorted(rows["score"].to_pylist())[-4]


def test_a_capsule_that_stands_still_does_not_use_up_the_list(tmp_path):
    folder = tmp_path / "still"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(50):  # six bright still frames are 12 % of the exam
        still = 10 <= number < 16
        pixels = rng.integers(0, 60 if number % 10 else 120, (96, 96, 3), np.uint8)
        Image.fromarray(exam_frame(0) if still else pixels).save(folder / f"{number}.png")
    detector = Failing()
    (exam,) = capsieve.screen(folder, tmp_path / "out", detector=detector, read="10%", workers=1)
    rows = read_frames(exam.folder).to_pylist()
    flagged = [row["frame"] for row in rows if row["flagged"]]
    assert flagged == [0, *range(10, 16), 20, 30, 40]
    assert record(exam)["flagging"]["frames"] == 5
    assert frame_counts(exam)["to_read"] == 5


def test_a_detector_without_a_threshold_flags_the_best_tenth(small, tmp_path):
    (exam,) = capsieve.screen(small, tmp_path, detector=Failing(), workers=1)
    flagging = record(exam)["flagging"]
    assert (flagging["rule"], flagging["value"]) == ("share", 0.1)
    assert flagging["score_threshold"] is flagging["share_above_threshold"] is None


def test_a_list_that_is_longer_than_the_exam_has_a_warning(small, tmp_path):
    (exam,) = capsieve.screen(small, tmp_path, read=300, workers=1)
    assert any("--read 300" in warning for warning in record(exam)["warnings"])
    assert frame_counts(exam)["flagged"] == 6


def test_a_reading_list_of_an_incomplete_exam_has_a_warning(small, tmp_path):
    (small / "frame5.png").write_bytes(b"rubbish")
    (listed,) = capsieve.screen(small, tmp_path / "1", read=2, workers=1)
    (other,) = capsieve.screen(small, tmp_path / "2", workers=1)
    assert len(record(listed)["warnings"]) == len(record(other)["warnings"]) + 1


def test_a_reading_list_of_a_class_of_a_data_set_has_a_warning(tmp_path):
    images = write_exam_images(tmp_path / "Polyp", 12)
    (listed,) = capsieve.screen(images, tmp_path / "1", read=2, workers=1)
    (other,) = capsieve.screen(images, tmp_path / "2", workers=1)
    assert any("class" in warning for warning in record(listed)["warnings"])
    assert not any("class" in warning for warning in record(other)["warnings"])


@pytest.mark.parametrize("rule", [{"read": 0}, {"read": "0.1"}, {"read": "200%"}, {"read": -1}])
def test_an_impossible_reading_list_is_rejected(small, tmp_path, rule):
    with pytest.raises(ParameterError) as raised:
        capsieve.screen(small, tmp_path / "out", **rule)
    assert raised.value.field == "read"


def test_unfinished_work_may_be_continued_with_another_rule(small, tmp_path):
    (done,) = capsieve.screen(small, tmp_path / "done", read="10%", workers=1)
    plan = record(done)["identity"] | {"capsieve": capsieve.__version__}
    write_unfinished(tmp_path / "out" / "small", plan)
    (exam,) = capsieve.screen(small, tmp_path / "out", read="20%", workers=1)
    assert exam.complete
    assert record(exam)["flagging"]["value"] == 0.2
    assert record(exam)["identity"] == record(done)["identity"]


# Thumbnails


def test_only_frames_to_read_have_thumbnails(screened):
    rows = pq.read_table(screened.folder / "thumbnails.parquet").to_pylist()
    frames = read_frames(screened.folder).to_pylist()
    shown = [row["frame"] for row in frames if row["flagged"]]
    assert [row["frame"] for row in rows] == shown
    assert all(row["thumbnail"].startswith(b"\xff\xd8") for row in rows)
    assert all(row["evidence"] is None for row in rows)


def test_thumbnails_that_cannot_be_made_do_not_lose_the_exam(small, tmp_path, monkeypatch):
    def fail(self, frame):
        raise capsieve.FileError("the source has changed")

    monkeypatch.setattr("capsieve.sources.reader.FrameReader.pixels", fail)
    (exam,) = capsieve.screen(small, tmp_path, workers=1)
    assert exam.complete
    assert any("thumbnails of 6 of 6" in warning for warning in record(exam)["warnings"])
