from dataclasses import replace

import numpy as np
import pytest

from capsieve.errors import ParameterError
from capsieve.learned.training.cnn_batches import (
    auxiliary_targets,
    draw_rows,
    foreign_frames,
    pools,
)
from capsieve.learned.training.cnn_settings import NetworkSettings
from capsieve.learned.training.examples import Examples
from capsieve.statistics.judged import NORMAL, OTHER, POLYP, UNLABELLED
from learned.training.disc_frames import disc_frames

FRAMES = disc_frames(48)
ALL = np.arange(48)
SETTINGS = NetworkSettings()


def two_sources() -> Examples:
    """Return a source of 30 polyps and 10 negatives, and one of 10 polyps and 90 negatives."""
    truth = np.repeat([POLYP, NORMAL, POLYP, NORMAL], [30, 10, 10, 90]).astype(np.int8)
    return replace(
        disc_frames(140, size=4),
        truth=truth,
        source=np.repeat([0, 1], [40, 100]).astype(np.int32),
        polyp=np.where(truth == POLYP, 0, -1).astype(np.int32),
    )


def test_polyps_come_first_and_have_their_share() -> None:
    rows = draw_rows(pools(FRAMES, ALL, SETTINGS), SETTINGS, np.random.default_rng(0))
    assert len(rows) == 32
    assert (FRAMES.truth[rows[:16]] == POLYP).all()
    assert (FRAMES.truth[rows[16:]] != POLYP).all()


def test_negatives_are_of_sources_with_polyps() -> None:
    rows = draw_rows(pools(FRAMES, ALL, SETTINGS), SETTINGS, np.random.default_rng(0))
    assert (FRAMES.source[rows] == 0).all()


def test_foreign_frames_have_the_share_asked_for() -> None:
    settings = NetworkSettings(foreign=0.25)
    rows = draw_rows(pools(FRAMES, ALL, settings), settings, np.random.default_rng(0))
    assert np.count_nonzero(FRAMES.source[rows] == 1) == 8
    assert foreign_frames(FRAMES, ALL).sum() == np.count_nonzero(FRAMES.source == 1)


def test_only_chosen_and_labelled_frames_are_drawn() -> None:
    truth = FRAMES.truth.copy()
    truth[ALL % 5 == 0] = UNLABELLED
    drawn = pools(replace(FRAMES, truth=truth), ALL[:30], NetworkSettings(foreign=0.1))
    rows = np.concatenate(list(drawn.rows.values()))
    assert sorted(rows) == [row for row in range(30) if row % 5]


def test_a_source_tells_nothing_about_the_class() -> None:
    examples = two_sources()
    drawn = pools(examples, np.arange(140), SETTINGS)
    for kind in ("polyps", "negatives"):
        second = examples.source[drawn.rows[kind]] == 1
        assert drawn.chances[kind][second].sum() == pytest.approx(10 / 40)
        assert drawn.chances[kind].sum() == pytest.approx(1)


def test_polyps_can_weigh_alike_whatever_their_frames() -> None:
    drawn = pools(FRAMES, ALL, NetworkSettings(run_balance=1.0))
    code = FRAMES.polyp[drawn.rows["polyps"]]
    sums = [drawn.chances["polyps"][code == polyp].sum() for polyp in (0, 1)]
    assert sums == pytest.approx([0.5, 0.5])
    assert np.count_nonzero(code == 0) != np.count_nonzero(code == 1)


def test_polyp_frames_without_a_name_count_as_polyps_of_their_own() -> None:
    examples = replace(FRAMES, polyp=np.full(48, -1, np.int32))
    drawn = pools(examples, ALL, NetworkSettings(run_balance=1.0))
    assert np.ptp(drawn.chances["polyps"]) == 0


def test_other_findings_have_their_share_of_the_negatives() -> None:
    drawn = pools(FRAMES, ALL, NetworkSettings(others=0.3))
    other = FRAMES.truth[drawn.rows["negatives"]] == OTHER
    assert drawn.chances["negatives"][other].sum() == pytest.approx(0.3)
    assert drawn.chances["negatives"].sum() == pytest.approx(1)


@pytest.mark.parametrize("kept", [NORMAL, OTHER])
def test_negatives_of_one_kind_have_all(kept: int) -> None:
    chosen = ALL[np.isin(FRAMES.truth, (POLYP, kept))]
    chances = pools(FRAMES, chosen, NetworkSettings(others=0.0)).chances["negatives"]
    assert chances.sum() == pytest.approx(1)
    assert np.ptp(chances) == 0


@pytest.mark.parametrize("kept", [POLYP, NORMAL])
def test_one_class_alone_is_refused(kept: int) -> None:
    with pytest.raises(ParameterError, match="no source has both"):
        pools(FRAMES, ALL[FRAMES.truth == kept], SETTINGS)


def test_foreign_frames_that_are_not_there_are_refused() -> None:
    with pytest.raises(ParameterError, match="no frame is of a source without polyps"):
        pools(FRAMES, ALL[FRAMES.source == 0], NetworkSettings(foreign=0.1))


def test_auxiliary_targets_are_the_findings_beside_polyps() -> None:
    names, targets = auxiliary_targets(FRAMES, ALL)
    assert names == ("erosion", "ulcer")
    other = FRAMES.truth == OTHER
    assert (targets[other] == 1).all()
    assert not targets[~other].any()


def test_frames_without_a_finding_have_no_auxiliary_target() -> None:
    examples = replace(FRAMES, finding=np.where(ALL < 8, FRAMES.finding, -1).astype(np.int32))
    _, targets = auxiliary_targets(examples, ALL)
    assert targets[:8].any()
    assert not targets[8:].any()
