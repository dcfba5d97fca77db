"""Which frame an outline belongs to."""

import numpy as np

from capsieve.statistics.judged import NORMAL, POLYP, Judged
from capsieve.statistics.regions.placing import PlacedRegions, place_regions
from capsieve.statistics.regions.region import Box, MaskFile, Region, RegionSet
from support.small_judged import small_judged

BOX = Box(0, 0, 9, 9)


def place(judged: Judged, *regions: Region) -> PlacedRegions:
    return place_regions(RegionSet(regions, (), "test", "test"), judged)


def of_file(file: str, box: Box = BOX) -> Region:
    return Region(None, None, None, file, box, where=file)


def image_exams() -> Judged:
    return small_judged(
        [1] * 4,
        exam=[0, 0, 1, 1],
        exams=("a", "b"),
        frame=[0, 1, 0, 1],
        file=["001.jpg", "002.jpg", "001.jpg", "003.png"],
        truth=[POLYP] * 4,
    )


def test_a_file_is_found_with_its_folder() -> None:
    placed = place(image_exams(), of_file("study/b/001.jpg"), of_file("a/001.jpg"))
    assert placed.frame.tolist() == [0, 2]
    assert placed.problems == ()


def test_a_name_that_fits_two_frames_is_not_used() -> None:
    placed = place(image_exams(), of_file("001.jpg"))
    assert len(placed.frame) == 0
    assert [problem.rows for problem in placed.problems] == [1]


def test_a_stem_fits_any_ending() -> None:
    placed = place(image_exams(), of_file("003"), of_file("labels/a/002"))
    assert placed.frame.tolist() == [1, 3]


def test_a_whole_name_fits_only_its_own_ending() -> None:
    assert len(place(image_exams(), of_file("003.jpg")).frame) == 0


def test_windows_paths_are_paths() -> None:
    assert place(image_exams(), of_file("x\\b\\001.jpg")).frame.tolist() == [2]


def test_frames_of_videos_are_found_by_number() -> None:
    judged = small_judged(
        [1] * 4,
        exam=[0, 0, 1, 1],
        exams=("a", "b"),
        head=[0, 0, 0, 1],
        frame=[5, 6, 5, 5],
        truth=[POLYP] * 4,
    )
    regions = [
        Region("a", None, 6, "a/000006", BOX),
        Region("b", 1, 5, None, BOX),
        Region("b", None, 5, None, BOX),
        Region("a", None, 7, None, BOX),
        Region("c", None, 5, None, BOX),
    ]
    placed = place(judged, *regions)
    assert placed.frame.tolist() == [1, 3]
    assert sum(problem.rows for problem in placed.problems) == 3


def test_outlines_on_other_frames_are_counted() -> None:
    judged = small_judged([1, 1], file=["1.png", "2.png"], truth=[POLYP, NORMAL])
    mask = Region(None, None, None, "2", MaskFile("absent.png"))
    placed = place(judged, of_file("1.png"), of_file("2.png"), mask)
    assert placed.frame.tolist() == [0]
    assert [(problem.rows, problem.used) for problem in placed.problems] == [(1, False)] * 2
    assert "not opened" in placed.problems[1].what


def test_the_same_outline_twice_is_one() -> None:
    judged = small_judged([1], file=["1.png"], truth=[POLYP])
    placed = place(
        judged, of_file("1.png"), of_file("1.png"), of_file("1.png", Box(20, 20, 30, 30))
    )
    assert placed.frame.tolist() == [0, 0]
    assert [(problem.rows, problem.used) for problem in placed.problems] == [(1, True)]


def test_without_frames_nothing_is_placed() -> None:
    placed = place(small_judged(np.empty(0)), of_file("1.png"))
    assert len(placed.frame) == 0
    assert placed.problems[0].rows == 1
