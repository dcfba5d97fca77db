import hashlib
import os
import pickle

import numpy as np
import pytest

from capsieve import FileError
from capsieve.sources.image_folder import ImageFolder
from capsieve.sources.source import Place, open_source
from support.stored_images import claimed_png, image_bytes, levels, numbered, write_files


def folder_of(path, names=""):
    return ImageFolder(Place("folder", str(path), names=names))


def all_frames(source):
    return [frame for segment in source.survey().segments for frame in source.frames(segment)]


def test_frames_come_in_natural_order_with_their_names(tmp_path):
    write_files(tmp_path, numbered(12))
    frames = all_frames(folder_of(tmp_path))
    assert [frame.file for frame in frames] == [f"frame{number}.png" for number in range(12)]
    assert levels(frames) == list(range(12))
    assert all(frame.pts is None and frame.time is None and not frame.problem for frame in frames)


def test_a_place_opens_it(tmp_path):
    assert isinstance(open_source(Place("folder", str(tmp_path))), ImageFolder)


@pytest.mark.parametrize(
    ("ending", "kind"),
    [("jpg", "JPEG"), ("JPEG", "JPEG"), ("PnG", "PNG"), ("bmp", "BMP"), ("tif", "TIFF")],
)
def test_kinds_of_images(tmp_path, ending, kind):
    write_files(tmp_path, {f"a.{ending}": image_bytes(kind=kind)})
    (frame,) = all_frames(folder_of(tmp_path))
    assert frame.pixels is not None
    assert frame.pixels.shape == (6, 8, 3)


def test_what_is_no_frame_is_left_out(tmp_path):
    write_files(tmp_path, {"a.png": image_bytes(), "notes.txt": b"", "Thumbs.db": b"", "b": b""})
    write_files(tmp_path, {"._a.png": b"shadow", ".hidden.png": b"", "__MACOSX/c.png": b"x"})
    (tmp_path / "folder.png").mkdir()
    assert [frame.file for frame in all_frames(folder_of(tmp_path))] == ["a.png"]


def test_sha256_is_that_of_the_listing(tmp_path):
    files = numbered(11)
    write_files(tmp_path, files)
    listing = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()
    )
    survey = folder_of(tmp_path).survey()
    assert survey.sha256 == hashlib.sha256(listing.encode()).hexdigest()
    assert survey.size == sum(map(len, files.values()))
    assert survey.declared is None


def test_description(tmp_path):
    write_files(tmp_path, {"a.png": b"broken", "b.PNG": image_bytes(), "c.jpg": b""})
    description = folder_of(tmp_path).survey().description
    assert description["codec"] == "2 PNG, 1 JPEG"
    assert (description["rows"], description["cols"]) == (6, 8)
    assert "sRGB" in description["colour"]


def test_segments_hold_every_file_once(tmp_path):
    write_files(tmp_path, dict.fromkeys((f"{number}.png" for number in range(500)), b"x"))
    source = folder_of(tmp_path)
    survey = source.survey()
    assert [segment.number for segment in survey.segments] == [0, 1, 2]
    assert [segment.frames for segment in survey.segments] == [240, 240, 20]
    expected = [frame for segment in survey.segments for frame in source.expected(segment)]
    assert [frame.file for frame in expected] == [f"{number}.png" for number in range(500)]
    assert all(frame.pixels is None and not frame.problem for frame in expected)


def test_a_segment_needs_nothing_else(tmp_path):
    write_files(tmp_path, numbered(245))
    last = pickle.loads(pickle.dumps(folder_of(tmp_path).survey().segments[1]))
    frames = list(folder_of(tmp_path).frames(last))
    assert levels(frames) == [240, 241, 242, 243, 244]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b"no image", "it is not a JPEG"),
        (image_bytes(rows=99, cols=99, kind="JPEG")[:-200], "damaged or cut off"),
        (claimed_png(30000, 30000), "100 megapixels"),
    ],
    ids=["empty", "text", "cut off", "absurd"],
)
def test_what_cannot_be_decoded_keeps_its_place(tmp_path, content, problem):
    write_files(tmp_path, numbered(3) | {"frame1.png": content})
    frames = all_frames(folder_of(tmp_path))
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert frames[1].file == "frame1.png"
    assert problem in frames[1].problem
    assert "frame1.png" not in frames[1].problem


def special_pipe(path):
    os.mkfifo(path)


def special_link_to_nowhere(path):
    path.symlink_to("nowhere")


def special_link_in_a_circle(path):
    path.symlink_to(path.name)


def special_huge(path):
    path.touch()
    os.truncate(path, 10**12)  # a hole, which takes no room


def special_device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "make",
    [
        special_pipe,
        special_link_to_nowhere,
        special_link_in_a_circle,
        special_huge,
        special_device,
    ],
)
def test_what_must_not_be_read_keeps_its_place(tmp_path, make):
    write_files(tmp_path, {"a.png": image_bytes(), "c.png": image_bytes()})
    make(tmp_path / "b.png")
    frames = all_frames(folder_of(tmp_path))
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert frames[1].problem


def test_a_link_to_an_image_is_an_image(tmp_path):
    write_files(tmp_path, {"away/x.dat": image_bytes(7), "exam/a.png": image_bytes(1)})
    (tmp_path / "exam" / "b.png").symlink_to(tmp_path / "away" / "x.dat")
    frames = all_frames(folder_of(tmp_path / "exam"))
    assert levels(frames) == [1, 7]


def change_content(path):
    path.write_bytes(image_bytes(200))


def change_by_a_byte(path):
    path.write_bytes(path.read_bytes() + b"x")


def change_to_nothing(path):
    path.unlink()


def change_to_a_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "change", [change_content, change_by_a_byte, change_to_nothing, change_to_a_pipe]
)
def test_a_change_after_the_survey_is_noticed(tmp_path, change):
    write_files(tmp_path, numbered(3))
    source = folder_of(tmp_path)
    (segment,) = source.survey().segments
    change(tmp_path / "frame1.png")
    frames = source.frames(segment)
    assert next(frames).file == "frame0.png"
    with pytest.raises(FileError, match=r"changed while it was being read \(frame1.png"):
        next(frames)


def test_a_broken_file_that_is_mended_is_a_change_too(tmp_path):
    write_files(tmp_path, {"a.png": b"broken"})
    (tmp_path / "b.png").symlink_to("nowhere")
    source = folder_of(tmp_path)
    (segment,) = source.survey().segments
    write_files(tmp_path, {"nowhere": image_bytes()})
    with pytest.raises(FileError, match=r"changed while it was being read \(b.png"):
        list(source.frames(segment))


def test_digests_tell_contents_and_names_apart(tmp_path):
    write_files(tmp_path / "a", {"1.png": b"x", "2.png": b"y"})
    write_files(tmp_path / "b", {"1.png": b"x", "2.png": b"z"})
    write_files(tmp_path / "c", {"1.png": b"x", "3.png": b"y"})
    write_files(tmp_path / "d", {"1.png": b"x", "2.png": b"y"})
    digests = [folder_of(tmp_path / name).survey().segments[0].digest for name in "abcd"]
    assert len(set(digests[:3])) == 3
    assert digests[0] == digests[3]


def test_heads_that_share_a_folder_are_told_apart(tmp_path):
    files = numbered(3, "00{}-head-0.png") | {
        f"00{number}-head-1.png": image_bytes(100 + number) for number in range(3)
    }
    write_files(tmp_path, files)
    second = all_frames(folder_of(tmp_path, "-head-1"))
    assert [frame.file for frame in second] == [f"00{number}-head-1.png" for number in range(3)]
    assert levels(second) == [100, 101, 102]
    assert len(all_frames(folder_of(tmp_path, "-head-0"))) == 3


def test_a_head_in_a_folder_inside(tmp_path):
    write_files(tmp_path, numbered(2, "head-0/{}.png") | numbered(3, "head-1/{}.png"))
    frames = all_frames(folder_of(tmp_path, "head-1/"))
    assert [frame.file for frame in frames] == ["head-1/0.png", "head-1/1.png", "head-1/2.png"]
    assert all(frame.pixels is not None for frame in frames)


def test_samples_are_spread_and_skip_what_does_not_decode(tmp_path):
    write_files(tmp_path, numbered(100) | {"frame5.png": b"broken", "frame95.png": b""})
    source = folder_of(tmp_path)
    sampled = [int(pixels[0, 0, 0]) for pixels in source.samples(source.survey(), 10)]
    assert sampled == [6, 15, 25, 35, 45, 55, 65, 75, 85, 96]


def test_no_more_samples_than_images(tmp_path):
    write_files(tmp_path, numbered(3))
    source = folder_of(tmp_path)
    assert len(source.samples(source.survey(), 10)) == 3


def test_a_folder_without_a_readable_image_gives_no_samples(tmp_path):
    write_files(tmp_path, {"a.png": b"", "b.png": b"x"})
    source = folder_of(tmp_path)
    survey = source.survey()
    assert source.samples(survey, 5) == []
    assert survey.description["rows"] is None


def test_a_frame_is_found_by_its_name(tmp_path):
    write_files(tmp_path, numbered(3))
    frame = folder_of(tmp_path).frame_named("frame2.png")
    assert frame.file == "frame2.png"
    assert np.all(frame.pixels == 2)


@pytest.mark.parametrize("name", ["absent.png", "../evil.png", "/etc/passwd", "notes.txt", ""])
def test_no_other_file_is_found_by_its_name(tmp_path, name):
    write_files(tmp_path, {"evil.png": image_bytes(), "exam/a.png": image_bytes()})
    write_files(tmp_path, {"exam/notes.txt": image_bytes()})
    with pytest.raises(FileError, match="holds no image"):
        folder_of(tmp_path / "exam").frame_named(name)


def test_names_that_are_not_text_are_read_and_escaped(tmp_path):
    with open(os.fsencode(tmp_path) + b"/a\xe4.png", "wb") as file:
        file.write(image_bytes(9))
    source = folder_of(tmp_path)
    (frame,) = all_frames(source)
    assert frame.file == "a\\xe4.png"
    assert np.all(frame.pixels == 9)
    assert np.all(source.frame_named("a\\xe4.png").pixels == 9)


def test_an_empty_or_absent_folder(tmp_path):
    with pytest.raises(FileError, match="holds no images"):
        folder_of(tmp_path).survey()
    with pytest.raises(FileError, match="cannot list"):
        folder_of(tmp_path / "absent").survey()
