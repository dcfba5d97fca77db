import os
from pathlib import Path

import av
import numpy as np
import pytest

from capsieve import FileError
from capsieve.sources.base import open_source
from capsieve.sources.discovery import find_exams
from support.stored_images import image_bytes, numbered, write_files, write_zip


def write_video(path: Path, *, streams: int = 1) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w", format="matroska" if streams > 1 else "mp4") as container:
        made = [container.add_stream("mpeg4", rate=5) for _ in range(streams)]
        for stream in made:
            stream.width = stream.height = 32
            stream.pix_fmt = "yuv420p"
        for stream in made:
            for _ in range(2):
                frame = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8))
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    return path


def names(exams):
    return [exam.name for exam in exams]


def test_a_video_is_an_exam(tmp_path):
    path = write_video(tmp_path / "exam.one.mp4")
    (exam,) = find_exams([path])
    assert (exam.name, exam.error) == ("exam.one", None)
    assert [(place.kind, place.path) for place in exam.places] == [("video", str(path))]


def test_two_streams_are_two_heads(tmp_path):
    (exam,) = find_exams([write_video(tmp_path / "a.mkv", streams=2)])
    assert [(place.head, place.stream) for place in exam.places] == [(0, 0), (1, 1)]


def test_three_streams_are_too_many(tmp_path):
    (exam,) = find_exams([write_video(tmp_path / "a.mkv", streams=3)])
    assert exam.places == ()
    assert "3 video streams" in str(exam.error)


def test_an_archive_is_an_exam(tmp_path):
    (exam,) = find_exams([write_zip(tmp_path / "a.zip", numbered(2))])
    assert exam.name == "a"
    assert [place.kind for place in exam.places] == ["zip"]


def test_a_folder_of_images_is_an_exam(tmp_path, monkeypatch):
    write_files(tmp_path / "e.1", numbered(2))
    monkeypatch.chdir(tmp_path / "e.1")
    for typed in (".", "../e.1", str(tmp_path / "e.1")):
        (exam,) = find_exams([typed])
        assert exam.name == "e.1"
        assert [place.path for place in exam.places] == [str(tmp_path / "e.1")]


@pytest.mark.parametrize("form", ["head-{}/{{}}.png", "{{}}-head-{}.png", "{{}}_HEAD{}.png"])
def test_two_heads_of_images(tmp_path, form):
    files = numbered(2, form.format(0)) | numbered(3, form.format(1))
    write_files(tmp_path / "folder", files)
    write_zip(tmp_path / "archive.zip", files)
    for exam in find_exams([tmp_path / "folder", tmp_path / "archive.zip"]):
        assert [place.head for place in exam.places] == [0, 1]
        counts = [open_source(place).survey().segments[0].frames for place in exam.places]
        assert counts == [2, 3]


def test_images_of_which_only_some_say_their_head(tmp_path):
    write_files(tmp_path, numbered(2, "{}-head-0.png") | {"0-head-1.png": b"", "c.png": b""})
    (exam,) = find_exams([tmp_path])
    assert "without a head" in str(exam.error)


def test_a_folder_of_exams(tmp_path):
    write_video(tmp_path / "exam10.mp4")
    write_files(tmp_path / "exam2", numbered(2))
    write_zip(tmp_path / "exam1.ZIP", numbered(2))
    write_files(tmp_path / "exam3", numbered(1, "head-0/{}.png") | numbered(1, "head-1/{}.png"))
    write_files(tmp_path, {"labels.csv": b"", ".hidden/a.png": b"", "notes/a.txt": b""})
    assert names(find_exams([tmp_path])) == ["exam1", "exam2", "exam3", "exam10"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("x-head-0.mp4", "x-head-1.mp4"), ("x_head1.mp4", "x_Head0.mp4"), ("head-0.mp4", "head1.mp4")],
)
def test_two_files_that_differ_in_the_head_are_one_exam(tmp_path, first, second):
    folder = tmp_path / "x"
    paths = [write_video(folder / first), write_video(folder / second)]
    for typed in ([folder], paths):
        (exam,) = find_exams(typed)
        assert exam.name == "x"
        assert [place.head for place in exam.places] == [0, 1]
        assert [Path(place.path).stem[-1] for place in exam.places] == ["0", "1"]


def test_two_folders_that_differ_in_the_head_are_one_exam(tmp_path):
    write_files(tmp_path, numbered(1, "x-head-0/{}.png") | numbered(1, "x-head-1/{}.png"))
    (exam,) = find_exams([tmp_path])
    assert (exam.name, len(exam.places)) == ("x", 2)


def test_images_and_videos_in_one_folder_must_be_named_apart(tmp_path):
    write_video(write_files(tmp_path / "a", numbered(1)) / "b.mp4")
    for typed in (tmp_path, tmp_path / "a"):
        (exam,) = find_exams([typed])
        assert (exam.name, exam.places) == ("a", ())
        assert "images and also b.mp4" in str(exam.error)


def advice(path):
    (exam,) = find_exams([path])
    assert exam.places == ()
    return str(exam.error).rpartition("give ")[2]


def test_a_folder_without_exams_names_the_folder_or_pattern_with_exams(tmp_path):
    assert "ZIP archive" in advice(tmp_path)
    write_files(tmp_path, {"truth/e/masks/a.png": b"", "exams/e/1.png": image_bytes()})
    assert advice(tmp_path) == f"{tmp_path}/exams"
    write_files(tmp_path, {"more/f/1.png": image_bytes()})
    assert advice(tmp_path) == f"'{tmp_path}/*/*'"


def test_the_pattern_for_the_capsule_vision_layout_works(tmp_path):
    for part in ("training", "validation"):
        for name in ("Normal/KID", "Normal/KVASIR", "Polyp/KID"):
            write_files(tmp_path / "Dataset" / part / name, numbered(1))
    write_files(tmp_path / "Dataset", {"training/labels.xlsx": b"x"})
    assert advice(tmp_path / "Dataset") == f"'{tmp_path}/Dataset/*/*/*' --full-names"
    exams = find_exams([f"{tmp_path}/Dataset/*/*/*"], full_names=True)
    assert len(exams) == 6
    assert all(exam.error is None and exam.warning for exam in exams)


def test_links_to_folders_are_not_followed_in_a_search(tmp_path):
    write_files(tmp_path / "study", {"e/1.png": image_bytes()})
    (tmp_path / "study" / "circle").symlink_to(tmp_path / "study")
    (tmp_path / "study" / "again").symlink_to(tmp_path / "study" / "e")
    (tmp_path / "study" / "loop.mp4").symlink_to("loop.mp4")
    exams = find_exams([tmp_path / "study"])
    assert names(exams) == ["e", "loop"]
    assert exams[1].error is not None


def test_patterns_are_expanded_in_natural_order(tmp_path):
    write_files(tmp_path, {f"s/e{number}/1.png": image_bytes() for number in (10, 9, 1)})
    assert names(find_exams([f"{tmp_path}/s/e*"])) == ["e1", "e9", "e10"]
    assert names(find_exams([f"{tmp_path}/**/e9"])) == ["e9"]
    with pytest.raises(FileError, match="nothing matches"):
        find_exams([f"{tmp_path}/*.mp4"])


def test_a_name_that_looks_like_a_pattern_is_a_name_first(tmp_path):
    write_files(tmp_path / "e[1]", numbered(1))
    assert names(find_exams([tmp_path / "e[1]"])) == ["e[1]"]


def test_the_same_path_twice_is_taken_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, {"s/e/1.png": image_bytes()})
    assert names(find_exams(["s/e", "s", "s/../s/e", tmp_path / "s" / "e"])) == ["e"]


@pytest.mark.parametrize(
    ("paths", "full_names", "advised"),
    [
        (("a/Exam", "b/exam"), False, True),
        (("a/b-c", "a-b/c"), True, False),
        (("a/e\u0301", "a/\xe9"), False, False),
    ],
)
def test_exams_of_the_same_name_are_refused(tmp_path, paths, full_names, advised):
    for path in paths:
        write_files(tmp_path / path, numbered(1))
    with pytest.raises(FileError, match=r"different output folders") as caught:
        find_exams([tmp_path / path for path in paths], full_names=full_names)
    assert all(str(tmp_path / path) in str(caught.value) for path in paths)
    assert ("--full-names" in str(caught.value)) == advised


def test_a_broken_input_does_not_stop_the_others(tmp_path):
    write_files(tmp_path, {"a.mp4": b"", "b.zip": b"x", "d/1.png": image_bytes()})
    os.mkfifo(tmp_path / "c.mp4")
    exams = find_exams([tmp_path])
    assert names(exams) == ["a", "b", "c", "d"]
    assert [exam.error is None for exam in exams] == [False, False, False, True]
    assert [len(exam.places) for exam in exams] == [0, 0, 0, 1]


def test_an_ambiguous_folder_does_not_stop_the_others(tmp_path):
    write_video(tmp_path / "a.mkv")
    write_video(write_files(tmp_path, {"x/1.png": b"", "y/1.png": image_bytes()}) / "x" / "a.mkv")
    exams = find_exams([tmp_path])
    assert names(exams) == ["a", "x", "y"]
    assert [exam.error is None for exam in exams] == [True, False, True]


def test_an_input_that_is_no_exam_does_not_stop_the_others(tmp_path):
    write_files(tmp_path, {"readme.txt": b"x", "image.png": image_bytes(), "empty/a.txt": b""})
    write_video(tmp_path / "one.mp4")
    one, *others = find_exams([tmp_path / "readme.txt", f"{tmp_path}/*"])
    assert (one.name, one.error) == ("one", None)
    assert names(others) == ["readme", "empty", "image"]
    assert all(other.error is not None and not other.places for other in others)


def test_what_is_no_exam_takes_no_name_and_no_head_from_an_exam(tmp_path):
    write_files(tmp_path, {"A.csv": b"x", "a.txt": b"x", "x-head-0.csv": b"x", "x.json": b"{}"})
    for name in ("a.mp4", "x-head-0.mp4", "x-head-1.mp4"):
        write_video(tmp_path / name)
    a, x, *others = find_exams([f"{tmp_path}/*"])
    assert (a.name, len(a.places)) == ("a", 1)
    assert (x.name, len(x.places)) == ("x", 2)
    assert sorted(names(others)) == ["A (2)", "a (3)", "x (2)", "x-head-0"]


@pytest.mark.parametrize("inner", ["e/1.png", "clip.mp4", "e.zip", "deep/er/still/1.png"])
def test_exams_that_lie_deeper_are_not_passed_over_in_silence(tmp_path, inner):
    write_files(tmp_path, {"e0/1.png": image_bytes(), f"site/{inner}": image_bytes()})
    write_files(tmp_path, {"notes/more/a.txt": b"", "notes/.hidden/1.png": b""})
    (tmp_path / "empty").mkdir()
    exam, site = find_exams([tmp_path])
    assert (exam.name, exam.error) == ("e0", None)
    assert (site.name, site.places) == ("site", ())
    assert "give it as input" in str(site.error)


def test_a_deeper_folder_that_is_named_too_is_no_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path, {"s/e0/1.png": image_bytes(), "s/site/e1/1.png": image_bytes()})
    for typed in (["s", "s/site"], ["s/../s/site", tmp_path / "s"], ["s", "s/s*"]):
        exams = find_exams(typed)
        assert sorted(names(exams)) == ["e0", "e1"]
        assert all(exam.error is None for exam in exams)


def test_a_broken_head_is_named(tmp_path):
    write_video(tmp_path / "x-head-0.mp4")
    write_files(tmp_path, {"x-head-1.mp4": b""})
    (exam,) = find_exams([tmp_path])
    assert (exam.name, exam.places) == ("x", ())
    assert "x-head-1.mp4" in str(exam.error)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.png", image_bytes(), "capsieve explain"),
        ("a", image_bytes(kind="JPEG"), "capsieve explain"),
        ("a.csv", b"exam,frame\n", "is not an exam"),
        ("a.dcm", bytes(128) + b"DICM", "DICOM"),
    ],
)
def test_what_is_no_exam_is_told(tmp_path, name, content, match):
    write_files(tmp_path, {name: content})
    (exam,) = find_exams([tmp_path / name])
    assert (exam.name, exam.places) == ("a", ())
    assert match in str(exam.error)


def test_unknown_endings_are_tried_by_content(tmp_path):
    video = write_video(tmp_path / "a.mp4").rename(tmp_path / "first.bin")
    archive = write_zip(tmp_path / "second.dat", numbered(1))
    exams = find_exams([video, archive])
    assert [exam.places[0].kind for exam in exams] == ["video", "zip"]


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        find_exams([tmp_path / "absent.mp4"])
    for name in ("a\0b", "\0/*"):
        with pytest.raises(FileError, match="cannot read"):
            find_exams([name])
    for nothing in ([], [""]):
        with pytest.raises(FileError, match="input"):
            find_exams(nothing)
    with pytest.raises(FileError, match="no such file"):
        find_exams([write_video(tmp_path / "a.mp4"), tmp_path / "absent.mp4"])


def test_what_is_no_file_is_told(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    pipe, loop = find_exams([tmp_path / "pipe", tmp_path / "loop"])
    assert "it is a pipe" in str(pipe.error)
    assert "cannot read" in str(loop.error)


def test_names_that_no_folder_should_have_are_cleaned(tmp_path):
    write_files(tmp_path, {"a\nb\\c/1.png": image_bytes()})
    assert names(find_exams([tmp_path])) == ["a_b_c"]
    assert names(find_exams([write_video(tmp_path / ".mp4.mp4")])) == ["_mp4"]


def test_a_path_that_is_not_text_is_named(tmp_path):
    os.mkdir(os.fsencode(tmp_path) + b"/a\xe4")
    with open(os.fsencode(tmp_path) + b"/a\xe4/1.png", "wb") as file:
        file.write(image_bytes())
    (exam,) = find_exams([tmp_path])
    assert exam.places == ()
    assert "rename it" in str(exam.error)
    str(exam.error).encode()


def test_full_names_tell_folders_of_the_same_name_apart(tmp_path):
    for place in ("training/Polyp/KID", "training/Ulcer/KID", "validation/Polyp/KID"):
        write_files(tmp_path / place, numbered(1))
    found = find_exams([f"{tmp_path}/*/*/*"], full_names=True)
    assert names(found) == ["training-Polyp-KID", "training-Ulcer-KID", "validation-Polyp-KID"]
    part = find_exams([f"{tmp_path}/training/*/*"], full_names=True)
    assert names(part) == ["Polyp-KID", "Ulcer-KID"]
    with pytest.raises(FileError, match="--full-names"):
        find_exams([f"{tmp_path}/*/*/*"])


def test_a_single_exam_has_its_own_name_in_full_too(tmp_path):
    write_files(tmp_path / "a" / "b", numbered(1))
    assert names(find_exams([tmp_path / "a" / "b"], full_names=True)) == ["b"]


def test_control_characters_reach_neither_names_nor_messages(tmp_path):
    write_files(tmp_path, {"a\u202egnp/1.png": image_bytes(), "b\u2066.txt": b"x"})
    exam, other = find_exams([tmp_path / "a\u202egnp", tmp_path / "b\u2066.txt"])
    assert (exam.name, other.name) == ("a_gnp", "b_")
    assert "b\\u2066.txt" in str(other.error)
    assert "\u2066" not in str(other.error)


def test_folders_named_like_classes_have_a_warning(tmp_path):
    for name in ("Polyp", "normal clean mucosa", "patient-1", "abnormal-042"):
        write_files(tmp_path / "normal" / name, numbered(1))
    write_video(tmp_path / "normal" / "videos" / "Ulcer.mp4")
    exams = find_exams([tmp_path / "normal", tmp_path / "normal" / "videos"])
    assert {exam.name for exam in exams if exam.warning} == {"Polyp", "normal clean mucosa"}
