"""A calibration as tables."""

import numpy as np
import pytest

from capsieve.calibration.outcome import Calibration
from capsieve.calibration.portions import FOLDS, Portion
from capsieve.calibration.tables import figures_table, interval_notes, machine_table
from capsieve.calibration.target import Scale, Target
from capsieve.parameters import Parameters
from capsieve.statistics.metric import Interval, Metric

FIGURES = (
    "frames.{}.specificity",
    "frames.{}.sensitivity",
    "polyps.{}.sensitivity",
    "polyps.{}.sensitivity_long",
    "effort.{}.share_of_frames",
    "effort.{}.frames_per_exam",
    "effort.{}.events_per_exam",
    "effort.{}.minutes_per_exam",
)
WIDE = Interval("bootstrap over patients", 0.25, 0.75, "rests on 12 patients", 12, 100)
NONE = Interval("bootstrap over patients", None, None, "only 3 patients", 3)


def figure(key, **changes):
    fields = {"name": key.split(".")[-1], "value": 0.5, "definition": "A share."}
    return Metric(
        key, **(fields | {"numerator": 1, "denominator": 2, "intervals": (WIDE,)}) | changes
    )


def made(portions=("all", FOLDS), changes=None):
    """A calibration whose figures are all 1 of 2, but for the changes by key."""
    keys = ["choice.new", *(name.format(portion) for portion in portions for name in FIGURES)]
    metrics = [figure(key, **(changes or {}).get(key, {})) for key in keys]
    threshold = Metric("choice.threshold", "R_P", 40.0, "It.", "score", intervals=(NONE,))
    return Calibration(
        results="results",
        labels="labels.csv",
        settings={},
        target=Target(),
        scale=Scale("R_P", 1.0, 85.0),
        detector="paper",
        screened=37.0,
        base=Parameters(),
        parameters=Parameters(radius_threshold=40),
        threshold=40.0,
        how="By hand.",
        fold_thresholds={"1": 38.0, "2": 41.0},
        portions=tuple(Portion(key, np.ones(2, bool), key != FOLDS, True) for key in portions),
        metrics=(threshold, *metrics),
        unit="polyp",
        resampled="patient",
        problems=(),
        warnings=(),
        leaks=(),
    )


def test_the_thresholds_of_the_folds_stand_beside_the_chosen_one():
    table = figures_table(made())
    assert [column.label for column in table.columns[1::2]] == [
        "All frames (optimistic)",
        "Each fold by the others",
    ]
    assert table.rows[0] == ("R_P", "40", "–", "38 to 41", "–")
    assert table.rows[1][1:3] == ("50.0 % (1 of 2)", "25.0 to 75.0 %")


def test_machines_read_full_numbers_and_what_is_optimistic():
    table = machine_table(made())
    rows = {row[0]: row for row in table.rows}
    assert rows[f"frames.{FOLDS}.specificity"][1:] == (False, "share", 0.5, 0.25, 0.75, 1, 2)
    assert rows["frames.all.specificity"][1] is True
    assert rows["choice.threshold"][1:6] == (None, "score", 40.0, None, None)


def test_what_holds_for_all_portions_is_said_once():
    notes = interval_notes(made())
    assert len([note for note in notes if "rests on 12 patients" in note]) == 1
    assert "R_P: no interval: only 3 patients." in notes


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        (
            {"intervals": (NONE,)},
            "R_P; training part (optimistic), sensitivity: no interval: only 3",
        ),
        (
            {"value": None, "intervals": (), "note": "No value: nobody."},
            "Training part (optimistic), sensitivity: no value: nobody.",
        ),
    ],
)
def test_a_note_about_one_portion_names_it(changes, note):
    notes = interval_notes(made(("train", "test"), {"frames.train.sensitivity": changes}))
    assert any(each.startswith(note) for each in notes), notes


def test_what_has_no_value_is_a_dash_without_counts():
    changes = {"value": None, "numerator": 0, "denominator": 0, "intervals": ()}
    table = figures_table(made(("all",), {"frames.all.sensitivity": changes}))
    assert table.rows[2][1:] == ("–", "–")
