import hashlib
import pickle
import stat
import struct
import zipfile
import zlib

import numpy as np
import pytest

from capsieve import FileError
from capsieve.sources import archive_checks
from capsieve.sources.image_archive import ImageArchive, archive_heads
from capsieve.sources.source import Place, open_source
from support.stored_images import claimed_png, image_bytes, levels, numbered, write_files, write_zip


def archive_of(path, names=""):
    return ImageArchive(Place("zip", str(path), names=names))


def all_frames(source):
    return [frame for segment in source.survey().segments for frame in source.frames(segment)]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_frames_come_in_natural_order_with_their_names(tmp_path, method):
    path = write_zip(tmp_path / "exam.zip", numbered(12), method=method)
    frames = all_frames(archive_of(path))
    assert [frame.file for frame in frames] == [f"frame{number}.png" for number in range(12)]
    assert levels(frames) == list(range(12))


def test_a_place_opens_it(tmp_path):
    assert isinstance(open_source(Place("zip", str(tmp_path / "a.zip"))), ImageArchive)


def test_survey(tmp_path):
    path = write_zip(tmp_path / "exam.zip", numbered(245) | {"notes.txt": b"x"})
    survey = archive_of(path).survey()
    assert survey.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert survey.size == path.stat().st_size
    assert survey.declared == 245
    assert [segment.frames for segment in survey.segments] == [240, 5]
    assert survey.description["codec"] == "245 PNG"
    assert (survey.description["rows"], survey.description["cols"]) == (6, 8)


def test_a_segment_needs_nothing_else(tmp_path):
    path = write_zip(tmp_path / "exam.zip", numbered(245))
    last = pickle.loads(pickle.dumps(archive_of(path).survey().segments[1]))
    source = archive_of(path)
    frames = list(source.frames(last))
    assert levels(frames) == [240, 241, 242, 243, 244]
    assert [frame.file for frame in source.expected(last)] == [frame.file for frame in frames]


def test_nothing_is_written(tmp_path):
    path = write_zip(tmp_path / "exam.zip", numbered(3))
    all_frames(archive_of(path))
    assert list(tmp_path.iterdir()) == [path]


def test_shadows_and_hidden_files_are_left_out(tmp_path):
    files = {"a/1.png": image_bytes(), "__MACOSX/a/._1.png": b"x", "a/.t.png": b"x", "a/": b""}
    path = write_zip(tmp_path / "exam.zip", files)
    assert [frame.file for frame in all_frames(archive_of(path))] == ["a/1.png"]


@pytest.mark.parametrize(
    "content", [b"", b"text", image_bytes(kind="JPEG")[:-50], claimed_png(30000, 30000)]
)
def test_what_cannot_be_decoded_keeps_its_place(tmp_path, content):
    path = write_zip(tmp_path / "exam.zip", numbered(3) | {"frame1.png": content})
    frames = all_frames(archive_of(path))
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert frames[1].problem


def spoil(path, name):
    """Change a byte of an entry's content."""
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo(name).header_offset + 30 + len(name) + 20
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_damaged_entry_is_that_frame_alone(tmp_path, method):
    path = write_zip(tmp_path / "exam.zip", numbered(3), method=method)
    spoil(path, "frame1.png")
    frames = all_frames(archive_of(path))
    assert [frame.pixels is None for frame in frames] == [False, True, False]
    assert "damaged" in frames[1].problem


def test_a_change_after_the_survey_is_noticed(tmp_path):
    path = write_zip(tmp_path / "exam.zip", numbered(3))
    source = archive_of(path)
    (segment,) = source.survey().segments
    spoil(path, "frame1.png")
    with pytest.raises(FileError, match=r"changed while it was being read \(frame1.png"):
        list(source.frames(segment))
    path.write_bytes(b"")
    with pytest.raises(FileError, match="changed while it was being read"):
        list(source.frames(segment))
    path.unlink()
    with pytest.raises(FileError, match="cannot read"):
        list(source.frames(segment))


def test_two_heads(tmp_path):
    files = numbered(2, "e/head-0/{}.png") | numbered(3, "e/head-1/{}.png")
    path = write_zip(tmp_path / "a.zip", files)
    assert archive_heads(str(path)) == {0: "e/head-0/", 1: "e/head-1/"}
    assert len(all_frames(archive_of(path, "e/head-1/"))) == 3
    path = write_zip(tmp_path / "b.zip", numbered(2, "{}-head-0.png") | {"0_HEAD1.png": b""})
    assert archive_heads(str(path)) == {0: "-head-0", 1: "-head-1"}
    assert [frame.file for frame in all_frames(archive_of(path, "-head-1"))] == ["0_HEAD1.png"]


def test_one_exam_per_archive(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"p1/a.png": b"", "p2/a.png": b""})
    with pytest.raises(FileError, match="one exam per archive"):
        archive_heads(str(path))


def test_a_frame_is_found_by_its_name(tmp_path):
    path = write_zip(tmp_path / "exam.zip", numbered(3))
    assert np.all(archive_of(path).frame_named("frame2.png").pixels == 2)
    with pytest.raises(FileError, match=r"holds no image 'x.png'"):
        archive_of(path).frame_named("x.png")


def test_samples_are_spread(tmp_path):
    path = write_zip(tmp_path / "exam.zip", numbered(100) | {"frame5.png": b""})
    source = archive_of(path)
    sampled = [int(pixels[0, 0, 0]) for pixels in source.samples(source.survey(), 5)]
    assert sampled == [10, 30, 50, 70, 90]


def with_entry(path, info, content=b"x"):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", image_bytes())
        archive.writestr(info, content)
    return path


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("/etc/evil.png", "absolute"),
        ("C:/evil.png", "absolute"),
        ("../../evil.png", "climbs out"),
        ("a/../../evil.txt", "climbs out"),
        ("..\\evil.png", "backslash"),
        ("a\nb.png", "control"),
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name, match):
    path = with_entry(tmp_path / "evil.zip", zipfile.ZipInfo(name))
    with pytest.raises(FileError, match=match):
        archive_of(path).survey()


@pytest.mark.parametrize(("kind", "match"), [(stat.S_IFLNK, "link"), (stat.S_IFIFO, "special")])
def test_links_and_special_files_are_refused(tmp_path, kind, match):
    info = zipfile.ZipInfo("b.png")
    info.external_attr = (kind | 0o777) << 16
    path = with_entry(tmp_path / "evil.zip", info, b"/etc/passwd")
    with pytest.raises(FileError, match=match):
        archive_of(path).survey()


def test_uncommon_packing_is_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(1), method=zipfile.ZIP_BZIP2)
    with pytest.raises(FileError, match="uncommon"):
        archive_of(path).survey()


def test_an_entry_that_is_there_twice_is_refused(tmp_path):
    with pytest.warns(UserWarning, match="Duplicate"):
        path = with_entry(tmp_path / "a.zip", zipfile.ZipInfo("a.png"))
    with pytest.raises(FileError, match="twice"):
        archive_of(path).survey()


def patch_directory(path, place, form, value):
    """Change a field of the last entry of the directory."""
    content = bytearray(path.read_bytes())
    struct.pack_into(form, content, content.rfind(b"PK\x01\x02") + place, value)
    path.write_bytes(content)


def test_encrypted_entries_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(2))
    patch_directory(path, 8, "<H", 1)
    with pytest.raises(FileError, match="encrypted"):
        archive_of(path).survey()


def test_overlapping_entries_are_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(2))
    patch_directory(path, 42, "<L", 0)  # the second entry begins where the first one does
    with pytest.raises(FileError, match="overlaps"):
        archive_of(path).survey()


def test_an_entry_that_reaches_beyond_the_end_is_refused(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(2))
    patch_directory(path, 20, "<L", 10**6)
    with pytest.raises(FileError, match="beyond"):
        archive_of(path).survey()


def zeros(size):
    """Return so many zeros, packed for an entry, without ever holding them."""
    packer = zlib.compressobj(9, wbits=-15)
    chunks = [packer.compress(bytes(10**6)) for _ in range(size // 10**6)]
    return b"".join([*chunks, packer.flush()])


@pytest.mark.parametrize(("claim", "match"), [(10**9, "1000 MB"), (150_000_000, "packed more")])
def test_bombs_are_refused(tmp_path, claim, match):
    path = write_zip(tmp_path / "bomb.zip", {"bomb.png": zeros(10**7)}, method=0)
    patch_directory(path, 24, "<L", claim)
    if match == "packed more":
        patch_directory(path, 20, "<L", 10_000)
    with pytest.raises(FileError, match=match):
        archive_of(path).survey()


def test_an_entry_is_never_unpacked_beyond_its_claim(tmp_path):
    path = write_zip(tmp_path / "liar.zip", {"liar.png": zeros(10**8)}, method=0)
    patch_directory(path, 10, "<H", zipfile.ZIP_DEFLATED)
    patch_directory(path, 24, "<L", 1000)
    (frame,) = all_frames(archive_of(path))
    assert frame.pixels is None
    assert "damaged" in frame.problem


def test_too_many_entries_are_refused_before_they_become_objects(tmp_path, monkeypatch):
    monkeypatch.setattr(archive_checks, "_MOST_ENTRIES", 10)
    path = write_zip(tmp_path / "a.zip", numbered(11))
    # The count that the archive claims is not believed.
    content = bytearray(path.read_bytes())
    struct.pack_into("<HH", content, len(content) - 14, 1, 1)
    path.write_bytes(content)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(FileError, match="more than 10 files"):
        archive_of(path).survey()


@pytest.mark.parametrize(
    ("content", "match"),
    [(b"", "empty"), (b"text" * 99, "not a ZIP"), (b"PK\x05\x06" + bytes(18), "no images")],
)
def test_what_is_no_archive(tmp_path, content, match):
    write_files(tmp_path, {"a.zip": content})
    with pytest.raises(FileError, match=match):
        archive_of(tmp_path / "a.zip").survey()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_cut_off_archive(tmp_path, share):
    path = write_zip(tmp_path / "a.zip", numbered(30))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(FileError, match="cut off"):
        archive_of(path).survey()


def test_an_archive_with_a_comment_or_something_before_it_is_read(tmp_path):
    path = write_zip(tmp_path / "a.zip", numbered(3))
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"from the reading centre"
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    assert all(frame.pixels is not None for frame in all_frames(archive_of(path)))


def test_a_zipped_video_is_told_apart(tmp_path):
    path = write_zip(tmp_path / "a.zip", {"exam.mp4": b"x"})
    with pytest.raises(FileError, match="unpack it and screen the video"):
        archive_of(path).survey()


@pytest.mark.parametrize("seed", range(40))
def test_broken_bytes_never_raise_anything_else(tmp_path, seed):
    rng = np.random.default_rng(seed)
    path = write_zip(tmp_path / "a.zip", numbered(4))
    content = bytearray(path.read_bytes())
    start = len(content) // 2 if seed % 2 else 0
    for position in rng.integers(start, len(content), 6):
        content[position] = rng.integers(256)
    path.write_bytes(content)
    try:
        frames = all_frames(archive_of(path))
    except FileError:
        return
    assert all(frame.pixels is not None or frame.problem for frame in frames)
