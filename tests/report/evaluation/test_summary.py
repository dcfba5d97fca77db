"""The answers in plain words."""

from capsieve.report.evaluation.summary import headline_tiles, summary_sentences
from capsieve.statistics.evaluation import Evaluation, OperatingPoint
from made_evaluation import made_evaluation
from made_tables import made_metrics, share


def answer(evaluation: Evaluation, question: str) -> str:
    return dict(summary_sentences(evaluation)).get(question, "")


def test_folds_are_told_beside_the_threshold_of_the_screening() -> None:
    folds = (
        share("polyps.cross-fitted.sensitivity", "Sensitivity per polyp", 9, 16, "Found."),
        share("frames.cross-fitted.specificity", "Specificity", 494, 550, "Passed over."),
    )
    words = answer(made_evaluation(metrics=(*made_metrics(), *folds)), "How good is it?")
    assert "In folds" in words
    assert "finds 9 of 16 polyps (56.25 %) and passes over 494 of 550 normal frames" in words
    assert "In folds" not in answer(made_evaluation(), "How good is it?")


def test_frames_are_told_of_a_test_part_whose_polyps_have_no_names() -> None:
    metrics = (
        share("frames.all.sensitivity", "Sensitivity per frame", 3, 18, "Found."),
        share("frames.all.specificity", "Specificity", 17, 17, "Passed over."),
        share("frames.test.sensitivity", "Sensitivity per frame", 1, 6, "Found."),
        share("frames.test.specificity", "Specificity", 5, 5, "Passed over."),
    )
    words = answer(made_evaluation(metrics=metrics), "How good is it?")
    assert "finds 1 of 6 polyp frames (16.7 %) and passes over 5 of 5 normal frames" in words


def test_a_comparison_is_told_with_its_intervals() -> None:
    words = answer(made_evaluation(), "How do the two compare?")
    assert words.startswith("sigma2 = 33 minus sigma2 = 30")
    assert "difference in specificity" in words
    assert "(95 %)" in words
    assert not answer(made_evaluation(comparison=None), "How do the two compare?")


def test_the_large_numbers_are_those_of_the_test_part_where_a_part_chose_the_threshold() -> None:
    test = (
        share("frames.test.sensitivity", "Sensitivity per frame (test part)", 1, 6, "Found."),
        share("frames.test.specificity", "Specificity (test part)", 5, 5, "Passed over."),
    )
    chosen = (OperatingPoint("chosen", 37.0, "By the training part."),)
    whole = made_evaluation(metrics=(*made_metrics(), *test), points=chosen)
    tiles = {tile.name: tile.below for tile in headline_tiles(whole)}
    assert tiles["Sensitivity per frame"] == "1 of 6, test part"
    screened = (OperatingPoint("screened", 37.0, "As screened."),)
    tiles = headline_tiles(made_evaluation(metrics=(*made_metrics(), *test), points=screened))
    assert all("test part" not in tile.below for tile in tiles)
