import numpy as np
import pytest

from capsieve.errors import FileError, ParameterError
from capsieve.frame_table import NORMAL, POLYP
from capsieve.learned.features import NAMES
from capsieve.training.card import (
    CardTexts,
    model_threshold,
    out_of_fold_metrics,
    read_card_texts,
    window_metrics,
)
from capsieve.training.card import _usual_values as usual_values
from capsieve.training.windows import Windows
from support.made_frames import made_frames

FRAMES = made_frames()
ROUND = FRAMES.source == 0


def made_probability(seed=0):
    rng = np.random.default_rng(seed)
    return 1 / (1 + np.exp(-rng.normal(size=len(FRAMES)) - 2.0 * (FRAMES.truth == POLYP)))


def found(probability, **options):
    options = {"specificity": 0.9, "bootstrap_samples": 100, "seed": 0} | options
    return {
        (one.source, one.what): one for one in out_of_fold_metrics(FRAMES, probability, **options)
    }


def crossed(probability, target=0.9):
    """Flag each fold with the lowest observed score that keeps the specificity on the others."""
    flagged = np.zeros(len(FRAMES), bool)
    for fold in range(5):
        others = ROUND & (FRAMES.fold != fold)
        normal = np.sort(probability[others & (FRAMES.truth == NORMAL)])
        lowest = normal[int(np.ceil(target * len(normal))) - 1]
        threshold = probability[others & (probability > lowest)].min()
        flagged[FRAMES.fold == fold] = probability[FRAMES.fold == fold] >= threshold
    return flagged


def test_figures_follow_from_the_scores():
    probability = made_probability()
    flagged, metrics = crossed(probability), found(probability)
    polyp, normal = ROUND & (FRAMES.truth == POLYP), ROUND & (FRAMES.truth == NORMAL)
    sensitivity = metrics["round", "Sensitivity per frame, for 90 %"]
    assert sensitivity.value == pytest.approx(flagged[polyp].mean())
    assert sensitivity.count == polyp.sum()
    assert metrics["round", "Specificity, for 90 %"].value == pytest.approx(
        1 - flagged[normal].mean()
    )
    area = (probability[polyp][:, None] > probability[normal]).mean()
    assert metrics["round", "AUC per frame"].value == pytest.approx(area)
    hit = [
        flagged[FRAMES.labelled.polyp.code == code].any()
        for code in np.unique(FRAMES.labelled.polyp.code[polyp])
    ]
    assert metrics["round", "Sensitivity per polyp, for 90 %"].value == pytest.approx(np.mean(hit))


def test_a_source_without_polyps_has_false_positives_only():
    probability = made_probability()
    metrics, flagged = found(probability), crossed(probability)
    names = {what for source, what in metrics if source == "square"}
    assert not any("Sensitivity" in name or "AUC" in name for name in names)
    expected = flagged[FRAMES.source == 1].sum() / 2
    assert metrics["square", "False positives per exam, for 90 %"].value == pytest.approx(expected)


def test_frames_without_a_score_are_missed_polyps():
    probability = made_probability()
    everything = found(probability)["round", "Sensitivity per frame, for 90 %"]
    probability[FRAMES.truth == POLYP] = np.nan
    nothing = found(probability)["round", "Sensitivity per frame, for 90 %"]
    assert (everything.count, nothing.count) == (80, 80)
    assert nothing.value == 0


def test_figures_are_given_for_the_target_and_for_95_percent():
    names = {what for _, what in found(made_probability(), specificity=0.8)}
    assert {"Specificity, for 80 %", "Specificity, for 95 %"} <= names
    names = {what for _, what in found(made_probability(), specificity=0.95)}
    assert not any("90 %" in name for name in names)


def test_the_threshold_is_chosen_on_normal_frames_of_trained_sources():
    probability = made_probability()
    threshold = model_threshold(FRAMES, probability, 0.9)
    normal = probability[ROUND & (FRAMES.truth == NORMAL)]
    assert (normal < threshold).mean() >= 0.9
    probability[FRAMES.source == 1] = 0.999
    assert model_threshold(FRAMES, probability, 0.9) == threshold


def test_texts_are_those_of_the_source_or_of_all(tmp_path):
    path = tmp_path / "texts.toml"
    path.write_text(
        'name = "mine"\nlimits = ["Small bowel."]\n[[data]]\nname = "all"\n'
        '[[data]]\nsource = "round"\nname = "one"\nlicence = "CC0"\n'
    )
    texts = read_card_texts(path)
    assert texts.of("round").licence == "CC0"
    assert (texts.of("square").name, texts.of("square").licence) == ("all", "not stated")
    assert CardTexts().of("round").name == ""
    texts.check(["round", "square"])
    with pytest.raises(ParameterError, match="'round'"):
        texts.check(["square"])


@pytest.mark.parametrize("content", ["name = 3\n", 'nam = "x"\n', "[[", None])
def test_an_invalid_file_of_texts_is_named(tmp_path, content):
    path = tmp_path / "texts.toml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(FileError, match=r"texts\.toml"):
        read_card_texts(path)


def test_usual_values_leave_out_frames_without_features():
    values = np.tile(np.arange(101, dtype=np.float32)[:, None], (1, len(NAMES)))
    values[7] = np.nan
    found = usual_values(values)
    assert found["bump.texture"] == pytest.approx((4.95, 95.0), abs=0.2)
    assert usual_values(np.full((3, len(NAMES)), np.nan, np.float32)) == {}


def made_windows(frames=40):
    """Return pairs of windows; the polyp covers less than 8 % in half of the frames."""
    frame = np.repeat(np.arange(frames), 2)
    polyp = np.arange(2 * frames) % 2 == 0
    covered = np.where(polyp, np.where(frame < frames // 2, 0.05, 0.5), 0).astype(np.float32)
    return Windows(
        name="endoscope",
        crops=(),
        polyp=polyp,
        covered=covered,
        radius=np.full(2 * frames, 0.3, np.float32),
        frame=frame,
        files=tuple(map(str, range(frames))),
        pixel_hash=("",) * frames,
        phash=np.zeros((frames, 2, 32), np.uint8),
        key="",
    )


def of_windows(windows, logits, folds=2):
    fold = windows.folds(folds)
    options = {"specificity": 0.9, "bootstrap_samples": 200, "seed": 0}
    return {one.what: one for one in window_metrics(windows, logits, fold, **options)}


def test_windows_are_compared_with_those_of_their_fold():
    windows = made_windows()
    logits = np.random.default_rng(0).normal(size=len(windows)) + 1.0 * windows.polyp
    fold = windows.folds(2)
    metrics = of_windows(windows, logits + 100.0 * fold)
    areas = [
        (logits[windows.polyp & (fold == code)][:, None] > logits[~windows.polyp & (fold == code)])
        for code in (0, 1)
    ]
    area = metrics["AUC per window"]
    assert area.value == pytest.approx(np.mean(areas))
    assert area.low is not None
    assert area.high is not None
    assert area.low < np.mean(areas) < area.high
    found = []
    for code in (0, 1):
        normal = np.sort(logits[~windows.polyp & (fold == code)])
        threshold = normal[int(0.9 * len(normal)) - 1]
        found.append(logits[(windows.covered > 0.2) & (fold == code)] > threshold)
    large = metrics["Sensitivity per window, polyp covers 20 to 100 %, for 90 %"]
    assert large.value == pytest.approx(np.concatenate(found).mean())
    assert large.count == 20


def test_sizes_without_windows_have_no_figure_and_equal_logits_count_half():
    windows = made_windows()
    metrics = of_windows(windows, np.zeros(len(windows)))
    assert not any("8 to 20 %" in name for name in metrics)
    assert metrics["AUC per window"].value == pytest.approx(0.5)
