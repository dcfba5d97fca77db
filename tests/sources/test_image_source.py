import hashlib
import os
import pickle
import struct
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from capsieve import FileError
from capsieve.sources import image_source
from capsieve.sources.base import Place, Segment, open_source
from capsieve.sources.image_source import ImageSource
from support.stored_images import claimed_png, image_bytes, levels, numbered, write_files, write_zip

KINDS = ("folder", "zip")


def store(path, files, kind="folder", names=""):
    """Write files to a folder or archive and return the source."""
    path.mkdir(exist_ok=True)
    if kind == "zip":
        write_zip(path / "exam.zip", files)
        return ImageSource(Place("zip", str(path / "exam.zip"), names=names))
    return ImageSource(Place("folder", str(write_files(path / "exam", files)), names=names))


def all_frames(source):
    return [frame for segment in source.survey().segments for frame in source.frames(segment)]


@pytest.mark.parametrize("kind", KINDS)
def test_frames_are_in_natural_order_with_their_names(tmp_path, kind):
    source = store(tmp_path, numbered(12), kind)
    frames = all_frames(source)
    assert [frame.file for frame in frames] == [f"frame{number}.png" for number in range(12)]
    assert levels(frames) == list(range(12))
    assert all(
        frame.packet is None and frame.time is None and not frame.problem for frame in frames
    )
    assert isinstance(open_source(source.place), ImageSource)


@pytest.mark.parametrize(
    ("ending", "kind"),
    [("jpg", "JPEG"), ("JPEG", "JPEG"), ("PnG", "PNG"), ("bmp", "BMP"), ("tif", "TIFF")],
)
def test_formats_of_images(tmp_path, ending, kind):
    (frame,) = all_frames(store(tmp_path, {f"a.{ending}": image_bytes(kind=kind)}))
    assert frame.pixels is not None
    assert frame.pixels.shape == (6, 8, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_not_frames_are_left_out(tmp_path, kind):
    files = {"a.png": image_bytes(), "notes.txt": b"", "Thumbs.db": b"", "b": b""}
    files |= {"._a.png": b"x", ".hidden.png": b"", "__MACOSX/._c.png": b"x"}
    if kind == "folder":
        (tmp_path / "exam" / "folder.png").mkdir(parents=True)
    else:
        files["folder.png/"] = b""
    assert store(tmp_path, files, kind).names() == ["a.png"]


@pytest.mark.parametrize("kind", KINDS)
def test_survey_hashes_the_images_and_does_not_decode(tmp_path, kind, monkeypatch):
    files = numbered(11) | {"notes.txt": b""}
    source = store(tmp_path, files, kind)
    del files["notes.txt"]
    monkeypatch.setattr(image_source, "decode_image", None)
    survey = source.survey()
    listing = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items()
    )
    assert survey.sha256 == hashlib.sha256(listing.encode()).hexdigest()
    assert survey.size == sum(map(len, files.values()))
    assert survey.declared == (11 if kind == "zip" else None)


def test_description_has_the_size_of_the_first_readable_image(tmp_path):
    files = {"a.png": b"broken", "b.PNG": image_bytes(), "c.jpg": b""}
    description = store(tmp_path, files).survey().description
    assert description["codec"] == "2 PNG, 1 JPEG"
    assert (description["rows"], description["cols"]) == (6, 8)


@pytest.mark.parametrize("kind", KINDS)
def test_segments_contain_every_image_once_and_are_independent(tmp_path, kind):
    source = store(tmp_path, numbered(500), kind)
    segments = source.survey().segments
    assert [segment.number for segment in segments] == [0, 1, 2]
    assert [segment.frames for segment in segments] == [240, 240, 20]
    expected = [frame for segment in segments for frame in source.expected(segment)]
    assert [frame.file for frame in expected] == [f"frame{number}.png" for number in range(500)]
    assert all(frame.pixels is None and not frame.problem for frame in expected)
    last = pickle.loads(pickle.dumps(segments[2]))
    assert levels(ImageSource(source.place).frames(last)) == [n % 256 for n in range(480, 500)]


BROKEN = {
    "empty": (b"", "empty"),
    "text": (b"no image", "it is not a JPEG"),
    "truncated": (image_bytes(rows=99, cols=99, kind="JPEG")[:-200], "damaged or truncated"),
    "large": (claimed_png(30000, 30000), "megapixels"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("content", "problem"), BROKEN.values(), ids=BROKEN)
def test_undecodable_images_keep_their_number(tmp_path, kind, content, problem):
    frames = all_frames(store(tmp_path, numbered(3) | {"frame1.png": content}, kind))
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert frames[1].file == "frame1.png"
    assert problem in frames[1].problem
    assert "frame1.png" not in frames[1].problem


def damaged_jpeg(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (99, 99, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "whole.jpg")
    whole = (tmp_path / "whole.jpg").read_bytes()
    return whole[: len(whole) // 3] + whole[len(whole) * 2 // 3 :]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_jpeg_files_have_pixels_and_a_problem(tmp_path, kind):
    frames = all_frames(store(tmp_path, numbered(2) | {"x.jpg": damaged_jpeg(tmp_path)}, kind))
    assert all(frame.pixels is not None for frame in frames)
    assert [bool(frame.problem) for frame in frames] == [False, False, True]


def special_pipe(path):
    os.mkfifo(path)


def special_link_to_nowhere(path):
    path.symlink_to("nowhere")


def special_link_to_itself(path):
    path.symlink_to(path.name)


def special_huge(path):
    path.touch()
    os.truncate(path, 10**12)


def special_device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    "make",
    [special_pipe, special_link_to_nowhere, special_link_to_itself, special_huge, special_device],
)
def test_special_files_are_not_read_and_keep_their_number(tmp_path, make):
    source = store(tmp_path, {"a.png": image_bytes(), "c.png": image_bytes()})
    make(tmp_path / "exam" / "b.png")
    frames = all_frames(source)
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert frames[1].problem
    assert source.stamp()


def test_a_link_to_an_image_is_an_image(tmp_path):
    source = store(tmp_path, {"a.png": image_bytes(1)})
    write_files(tmp_path, {"x.dat": image_bytes(7)})
    (tmp_path / "exam" / "b.png").symlink_to(tmp_path / "x.dat")
    assert levels(all_frames(source)) == [1, 7]


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
def test_an_image_that_changed_since_the_survey_is_an_error(tmp_path, change):
    source = store(tmp_path, numbered(3))
    (segment,) = source.survey().segments
    stamp = source.stamp()
    change(tmp_path / "exam" / "frame1.png")
    frames = source.frames(segment)
    assert next(frames).file == "frame0.png"
    with pytest.raises(FileError, match=r"changed while it was being read \(frame1.png"):
        next(frames)
    assert source.stamp() != stamp


def test_a_broken_file_that_became_readable_is_a_change(tmp_path):
    source = store(tmp_path, {"a.png": b"broken"})
    (tmp_path / "exam" / "b.png").symlink_to("nowhere")
    (segment,) = source.survey().segments
    write_files(tmp_path / "exam", {"nowhere": image_bytes()})
    with pytest.raises(FileError, match=r"changed while it was being read \(b.png"):
        list(source.frames(segment))


def test_digests_depend_on_contents_and_names(tmp_path):
    contents = [
        {"1.png": b"x", "2.png": b"y"},
        {"1.png": b"x", "2.png": b"z"},
        {"1.png": b"x", "3.png": b"y"},
    ]
    surveys = [
        store(tmp_path / f"{number}{kind}", files, kind).survey()
        for kind in KINDS
        for number, files in enumerate(contents)
    ]
    assert len({survey.segments[0].digest for survey in surveys}) == 3
    assert len({survey.sha256 for survey in surveys}) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("form", "names"), [("{{}}-head-{}.png", "-head-1"), ("e/head-{}/{{}}.png", "e/head-1/")]
)
def test_only_the_images_of_the_head_are_frames(tmp_path, kind, form, names):
    files = numbered(2, form.format(0)) | numbered(3, form.format(1))
    source = store(tmp_path, files, kind, names)
    frames = all_frames(source)
    assert [frame.file for frame in frames] == [form.format(1).format(n) for n in range(3)]
    assert levels(frames) == [0, 1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_spread_and_skip_images_that_cannot_be_decoded(tmp_path, kind):
    files = numbered(100) | {"frame5.png": b"broken", "frame95.png": b""}
    source = store(tmp_path, files, kind)
    survey = source.survey()
    sampled = [int(pixels[0, 0, 0]) for pixels in source.samples(survey, 10)]
    assert sampled == [6, 15, 25, 35, 45, 55, 65, 75, 85, 96]
    assert len(source.samples(survey, 1000)) == 98


def test_a_folder_without_readable_images_has_no_samples(tmp_path):
    source = store(tmp_path, {"a.png": b"", "b.png": b"x"})
    survey = source.survey()
    assert source.samples(survey, 5) == []
    assert survey.description["rows"] is None


@pytest.mark.parametrize("kind", KINDS)
def test_content_by_name_from_several_threads(tmp_path, kind):
    files = numbered(50)
    source = store(tmp_path, files, kind)
    with ThreadPoolExecutor(4) as pool:
        contents = list(pool.map(source.read, [*files] * 4))
    assert contents == [*files.values()] * 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["absent.png", "../evil.png", "/etc/passwd", ""])
def test_no_other_files_are_read(tmp_path, kind, name):
    write_files(tmp_path, {"evil.png": image_bytes()})
    with pytest.raises(FileError):
        store(tmp_path, numbered(1), kind).read(name)


def test_names_that_are_not_text_are_refused(tmp_path):
    source = store(tmp_path, {})
    with open(os.fsencode(tmp_path) + b"/exam/a\xe4.png", "wb") as file:
        file.write(image_bytes(9))
    with pytest.raises(FileError, match="not UTF-8 text; rename it"):
        source.names()


def test_an_empty_or_absent_folder(tmp_path):
    with pytest.raises(FileError, match="contains no images"):
        store(tmp_path, {}).survey()
    with pytest.raises(FileError, match="cannot list"):
        ImageSource(Place("folder", str(tmp_path / "absent"))).survey()


# Archives


def archive(path):
    return ImageSource(Place("zip", str(path)))


def spoil(path, name):
    """Change a byte of an entry's content."""
    with zipfile.ZipFile(path) as opened:
        offset = opened.getinfo(name).header_offset + 30 + len(name) + 20
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damage_in_an_archive_affects_one_frame(tmp_path, method):
    path = write_zip(tmp_path / "a.zip", numbered(3), method=method)
    spoil(path, "frame1.png")
    frames = all_frames(archive(path))
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert "damaged" in frames[1].problem


def test_an_archive_that_changed_since_the_survey_is_an_error(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(3))
    source = archive(path)
    (segment,) = source.survey().segments
    spoil(path, "frame1.png")
    with pytest.raises(FileError, match=r"changed while it was being read \(frame1.png"):
        list(source.frames(segment))
    for change in (lambda: path.write_bytes(b""), path.unlink):
        change()
        with pytest.raises(FileError):
            list(source.frames(segment))


def test_an_archive_is_opened_once_per_process_and_never_unpacked(tmp_path, monkeypatch):
    path = write_zip(tmp_path / "a.zip", numbered(500))
    survey = archive(path).survey()
    monkeypatch.setattr(zipfile, "ZipFile", None)
    assert all(len(list(archive(path).frames(segment))) for segment in survey.segments)
    assert list(tmp_path.iterdir()) == [path]


def test_entries_with_other_compressions_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(1), method=zipfile.ZIP_LZMA)
    with pytest.raises(FileError, match="compression"):
        archive(path).survey()


def test_entries_with_the_same_name_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(2))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as opened:
        opened.writestr("frame1.png", b"x")
    with pytest.raises(FileError, match=r"2 files named frame1\.png"):
        archive(path).survey()


def patch_directory(path, place, form, value):
    """Change a field of the last entry of the directory."""
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, content.rfind(b"PK\x01\x02") + place, value)
    path.write_bytes(content)


def test_encrypted_entries_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(2))
    patch_directory(path, 8, "<H", 1)
    with pytest.raises(FileError, match="encrypted"):
        archive(path).survey()


def zeros(size):
    """Return compressed zeros."""
    packer = zlib.compressobj(9, wbits=-15)
    chunks = [packer.compress(bytes(10**6)) for _ in range(size // 10**6)]
    return b"".join([*chunks, packer.flush()])


@pytest.mark.parametrize(("declared", "match"), [(10**9, "larger"), (31_000_000, "more bytes")])
def test_sizes_that_are_too_large_are_refused(tmp_path, declared, match):
    path = write_zip(tmp_path / "bomb.zip", {"bomb.png": zeros(10**7)}, method=0)
    patch_directory(path, 24, "<L", declared)
    with pytest.raises(FileError, match=match):
        archive(path).survey()


def test_an_entry_is_never_unpacked_beyond_its_declared_size(tmp_path):
    path = write_zip(tmp_path / "liar.zip", {"liar.png": zeros(10**8)}, method=0)
    patch_directory(path, 10, "<H", zipfile.ZIP_DEFLATED)
    patch_directory(path, 24, "<L", 1000)
    source = archive(path)
    segment = Segment(0, 1, "", [("liar.png", -1)])
    (frame,) = source.frames(segment)
    assert frame.pixels is None
    assert "damaged" in frame.problem


def test_a_huge_directory_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = write_zip(tmp_path / "a.zip", numbered(100))
    monkeypatch.setattr(image_source, "LARGEST_FILE", 2000)
    with pytest.raises(FileError, match="directory is too large"):
        archive(path).survey()


@pytest.mark.parametrize(
    ("content", "match"),
    [(b"", "not a ZIP"), (b"text" * 99, "not a ZIP"), (b"PK\x05\x06" + bytes(18), "no images")],
)
def test_files_that_are_not_archives(tmp_path, content, match):
    write_files(tmp_path, {"a.zip": content})
    with pytest.raises(FileError, match=match):
        archive(tmp_path / "a.zip").survey()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_archive(tmp_path, share):
    path = write_zip(tmp_path / "a.zip", numbered(30))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(FileError, match="truncated"):
        archive(path).survey()


def test_an_archive_with_a_comment_or_a_prefix_is_read(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(3))
    with zipfile.ZipFile(path, "a") as opened:
        opened.comment = b"from the reading centre"
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    assert levels(all_frames(archive(path))) == [0, 1, 2]


def test_damaged_archives_raise_no_other_error(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(4))
    whole = path.read_bytes()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        content = bytearray(whole)
        for position in rng.integers(len(whole) // 2 * (seed % 2), len(whole), 6):
            content[position] = rng.integers(256)
        path.write_bytes(content)
        os.utime(path, ns=(seed, seed))
        try:
            frames = all_frames(archive(path))
        except FileError:
            continue
        assert all(frame.pixels is not None or frame.problem for frame in frames)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_no_flipped_bit_in_the_directory_removes_a_frame(tmp_path, method):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as file:
        for number in range(3):
            file.writestr(f"frame{number}.png", image_bytes(number))
        file.writestr("notes.txt", "text")
    assert len(archive(path).names()) == 3
    content = path.read_bytes()
    for place in range(content.index(b"PK\x01\x02"), len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            with suppress(FileError):
                assert len(archive(path).names()) == 3


def test_a_folder_and_an_encrypted_text_in_an_archive_do_not_matter(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.mkdir("images")
        file.writestr("images/1.png", image_bytes(1))
        file.writestr("notes.txt", "text")
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.rindex(mark) + offset] |= 1  # of the last entry
    path.write_bytes(content)
    assert archive(path).names() == ["images/1.png"]
