import itertools

import pytest

from capsieve.review.decisions.cleanliness import judge_cleanliness


@pytest.mark.parametrize(
    ("grades", "total", "words"),
    [
        ((3, 3, 3), 9, "excellent"),
        ((3, 2, 3), 8, "excellent"),
        ((2, 2, 3), 7, "good"),
        ((2, 2, 2), 6, "good"),
        ((3, 3, 1), 7, "inadequate"),
        ((3, 3, 0), 6, "inadequate"),
        ((1, 2, 2), 5, "inadequate"),
        ((0, 0, 0), 0, "inadequate"),
    ],
)
def test_the_published_classes(grades: tuple[int, ...], total: int, words: str) -> None:
    for order in itertools.permutations(grades):
        judged = judge_cleanliness(dict(zip(("right", "transverse", "left"), order, strict=True)))
        assert (judged.sum, judged.words) == (total, words)


@pytest.mark.parametrize("missing", ["right", "transverse", "left"])
def test_a_missing_segment_gives_no_grade(missing: str) -> None:
    grades: dict[str, int | None] = {"right": 0, "transverse": 0, "left": 0}
    for none in ({**grades, missing: None}, {k: v for k, v in grades.items() if k != missing}):
        judged = judge_cleanliness(none)
        assert (judged.sum, judged.words) == (None, None)
        assert judged.segments[missing] is None


@pytest.mark.parametrize("grades", list(itertools.product(range(4), repeat=3)))
def test_all_grades_add_up_as_published(grades: tuple[int, int, int]) -> None:
    # The rule as it was published, class by class, instead of one after the other.
    excellent = sum(grades) in (8, 9) and 0 not in grades and 1 not in grades
    good = sum(grades) in (6, 7) and 0 not in grades and 1 not in grades
    inadequate = sum(grades) in range(6) or 0 in grades or 1 in grades
    assert excellent + good + inadequate == 1
    words = {excellent: "excellent", good: "good", inadequate: "inadequate"}[True]
    judged = judge_cleanliness(dict(zip(("right", "transverse", "left"), grades, strict=True)))
    assert (judged.sum, judged.words) == (sum(grades), words)
