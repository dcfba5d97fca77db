"""Galleries show the scored frames, and read each source once."""

import shutil

import numpy as np

from capsieve.report.evaluation.gallery_pictures import recalling
from capsieve.sources.base import Place
from capsieve.sources.reader import FrameReader
from support.screened_source import write_screened_source
from support.stored_images import numbered, write_files
from support.videos import make_video


def test_frames_of_several_exams_and_heads_are_read_with_one_reader_each(tmp_path, monkeypatch):
    path = str(make_video(tmp_path, "mp4-h264", streams=2))
    heads = [Place("video", path, head, stream=head) for head in (0, 1)]
    video = write_screened_source(tmp_path / "out" / "video", heads)
    folder = write_files(tmp_path / "images", numbered(4))
    images = write_screened_source(tmp_path / "out" / "images", [Place("folder", str(folder))])
    opened = []
    init = FrameReader.__init__

    def opening(self, place, **options):
        opened.append(place)
        init(self, place, **options)

    monkeypatch.setattr(FrameReader, "__init__", opening)
    places = [
        ("video", 0, 50),
        ("images", 0, 2),
        ("video", 1, 7),
        ("video", 0, 3),
        ("video", 0, 49),
    ]
    found = recalling(tmp_path / "out")(places)
    assert len(opened) == 3
    assert set(found) == set(places)
    for exam, head, frame in places:
        frames = (video if exam == "video" else images).pixels(head)
        np.testing.assert_array_equal(found[exam, head, frame], frames[frame])


def test_frames_that_are_missing_or_changed_are_left_out(tmp_path):
    for exam in ("gone", "changed"):
        folder = write_files(tmp_path / exam, numbered(4))
        write_screened_source(tmp_path / "out" / exam, [Place("folder", str(folder))])
    shutil.rmtree(tmp_path / "gone")
    shutil.copy(tmp_path / "changed" / "frame1.png", tmp_path / "changed" / "frame2.png")
    places = [("gone", 0, 1), ("changed", 0, 2), ("changed", 0, 3), ("changed", 0, 99)]
    assert set(recalling(tmp_path / "out")(places)) == {("changed", 0, 3)}
