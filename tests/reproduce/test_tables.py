"""The tables of the page, computed again from frames.parquet with plain NumPy."""

import csv
import re

import numpy as np
import pyarrow.parquet as pq
import pytest

READINGS = ("printed", "inferred")

pytestmark = pytest.mark.slow


class Frames:
    """All frames of a screening: R_max, T_max, labels, patients and polyps."""

    def __init__(self, study, reading):
        labels = {}
        with (study / "phantom" / "labels.csv").open() as file:
            for row in csv.DictReader(file):
                labels[row["exam"], int(row["frame"])] = row
        rows = []
        for path in sorted((study / reading).glob("*/frames.parquet")):
            table = pq.read_table(path, columns=["frame", "score", "texture_max"]).to_pylist()
            rows += [(row, labels.pop((path.parent.name, row["frame"]))) for row in table]
        assert not labels
        self.radius = np.array([row["score"] for row, _ in rows], float)
        self.texture = np.array([row["texture_max"] for row, _ in rows], float)
        self.polyp = np.array([label["label"] == "polyp" for _, label in rows])
        self.name = np.array([label["polyp"] for _, label in rows])
        self.patient = np.array([label["patient"] for _, label in rows])
        self.normal = ~self.polyp

    @property
    def threshold(self):
        """The smallest R_P with 90 % specificity on patient 4."""
        train = self.radius[self.normal & (self.patient == "4")]
        return next(r for r in range(1, 999) if 10 * (train < r).sum() >= 9 * train.size)

    def found(self, threshold):
        """Return how many polyps have a flagged frame."""
        return len({*self.name[self.polyp & (self.radius >= threshold)]})


@pytest.fixture(scope="module")
def tables(reproduced):
    return reproduced[1].tables


@pytest.fixture(scope="module")
def screened(reproduced):
    return {name: Frames(reproduced[0], name) for name in READINGS}


def counts(text):
    """Return the counts in ``31.3 % (5 of 16)``."""
    found = re.search(r"\((\S+) of (\S+)\)", text)
    assert found is not None, text
    return tuple(int(each.replace(",", "")) for each in found.groups())


def columns(table):
    return {column.key: table.column(column.key) for column in table.columns}


@pytest.mark.parametrize("reading", READINGS)
def test_the_numbers_of_the_text(tables, screened, reading):
    frames = screened[reading]
    quantity, values = tables["numbers"].column("quantity"), tables["numbers"].column(reading)
    shown = dict(zip(quantity, values, strict=True))
    flagged = frames.radius >= frames.threshold
    fourth = frames.patient == "4"
    assert shown["Polyp frames"] == str(frames.polyp.sum())
    assert shown["Normal frames"] == str(frames.normal.sum())
    assert shown["Threshold chosen on patient 4 for 90 %"] == str(frames.threshold)
    for name, among, hit in (
        ("Specificity, patient 4", frames.normal & fourth, ~flagged),
        ("Specificity, all patients", frames.normal, ~flagged),
        ("Specificity without patient 4", frames.normal & ~fourth, ~flagged),
        ("Sensitivity per frame", frames.polyp, flagged),
    ):
        assert counts(shown[name]) == ((among & hit).sum(), among.sum()), name
    polyps = len({*frames.name[frames.polyp]})
    assert counts(shown["Sensitivity per polyp"]) == (frames.found(frames.threshold), polyps)
    passing = (frames.texture >= 3) & (frames.texture <= 8)
    for word, among in (("Polyp", frames.polyp), ("Normal", frames.normal)):
        expected = (passing & among).sum(), among.sum()
        assert counts(shown[f"{word} frames that pass pre-selection"]) == expected
    false = (frames.normal & flagged).sum() / 4
    assert float(shown["False positives per patient"]) == pytest.approx(false, abs=0.06)
    higher = int(shown["Higher threshold, as many polyps"])
    assert frames.found(higher) == frames.found(frames.threshold)
    below = (frames.normal & (frames.radius < higher)).sum(), frames.normal.sum()
    assert counts(shown["Specificity at that threshold"]) == below


@pytest.mark.parametrize("reading", READINGS)
def test_the_first_rows_of_the_readings(tables, screened, reading):
    frames, table = screened[reading], columns(tables["readings"])
    row = {key: values[1 + READINGS.index(reading)] for key, values in table.items()}
    flagged = frames.radius >= frames.threshold
    assert row["threshold"] == frames.threshold
    assert row["specificity"] == pytest.approx((~flagged)[frames.normal].mean())
    assert row["sensitivity_frames"] == pytest.approx(flagged[frames.polyp].mean())
    assert row["sensitivity_polyps"] == pytest.approx(
        frames.found(frames.threshold) / len({*frames.name[frames.polyp]})
    )
    pairs = frames.radius[frames.polyp][:, None] - frames.radius[frames.normal]
    assert row["area"] == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    false = [(frames.radius[frames.normal] >= r).sum() for r in (37, 40)]
    assert row["specificity_37"] == pytest.approx(1 - false[0] / frames.normal.sum())
    assert row["ratio"] == (pytest.approx(false[1] / false[0]) if false[0] else None)
    assert row["smallest"] == frames.radius[frames.radius > 0].min()


@pytest.mark.parametrize("reading", READINGS)
def test_table_2_has_every_polyp(tables, screened, reading):
    frames, table = screened[reading], columns(tables["table-2"])
    flagged = frames.radius >= frames.threshold
    assert sorted(table["polyp"]) == sorted({*frames.name[frames.polyp]})
    for place, polyp in enumerate(table["polyp"]):
        shown = frames.polyp & (frames.name == polyp)
        assert table["frames"][place] == shown.sum()
        assert table[f"{reading}_flagged"][place] == (shown & flagged).sum()
        assert table[f"{reading}_detected"][place] == (shown & flagged).any()
    total = dict(zip(table, tables["table-2"].total, strict=True))
    assert (
        total[f"{reading}_detected"] == f"{frames.found(frames.threshold)} of {len(table['polyp'])}"
    )
    assert total[f"{reading}_flagged"] == (frames.polyp & flagged).sum()
    assert total["frames"] == frames.polyp.sum()


@pytest.mark.parametrize("reading", READINGS)
def test_table_3_has_every_patient(tables, screened, reading):
    frames, table = screened[reading], columns(tables["table-3"])
    false = frames.normal & (frames.radius >= frames.threshold)
    assert table["patient"] == ["1", "2", "3", "4"]
    for place, patient in enumerate(table["patient"]):
        own = frames.patient == patient
        normal = (frames.normal & own).sum()
        assert table["normal"][place] == normal
        assert table[f"{reading}_false"][place] == (false & own).sum()
        assert table[f"{reading}_rate"][place] == pytest.approx((false & own).sum() / normal)
    total = dict(zip(table, tables["table-3"].total, strict=True))
    assert total["normal"] == frames.normal.sum()
    assert total[f"{reading}_false"] == false.sum()
    assert total[f"{reading}_rate"] == pytest.approx(false.sum() / frames.normal.sum())


@pytest.mark.parametrize("reading", READINGS)
def test_the_base_of_table_4_is_the_screening(tables, screened, reading):
    frames, table = screened[reading], columns(tables["table-4"])
    row = {key: values[1 + READINGS.index(reading)] for key, values in table.items()}
    flagged = frames.radius >= frames.threshold  # all normal frames: there are fewer than 1,000
    assert row["frames_specificity"] == pytest.approx((~flagged)[frames.normal].mean())
    assert row["frames_sensitivity"] == pytest.approx(flagged[frames.polyp].mean())
    polyps = len({*frames.name[frames.polyp]})
    assert row["polyps_sensitivity"] == pytest.approx(frames.found(frames.threshold) / polyps)


def test_the_changes_of_table_4_follow_from_its_rates(tables):
    rows = tables["table-4"].rows
    assert len(rows) == 3 * 8
    for place, row in enumerate(rows[3:], 3):
        base = rows[place % 3]
        if row[1] == "Paper":
            continue
        for rate in (2, 4, 6):
            if base[rate]:
                change = 100 * abs(row[rate] - base[rate]) / base[rate]
                assert row[rate + 1] == pytest.approx(change)
        if base[2] < 1:
            more = 100 * ((1 - row[2]) / (1 - base[2]) - 1)
            shown = row[8].removesuffix(" %").replace("\N{MINUS SIGN}", "-")
            assert float(shown) == pytest.approx(more, abs=0.051)


def test_table_1_lists_every_parameter_of_the_paper_first(tables):
    in_paper = tables["table-1"].column("paper")
    assert [value is None for value in in_paper] == [False] * 17 + [True] * 5
    assert tables["table-1"].column("parameter")[:4] == ["N_x", "N_y", "R_mask", "n_iter"]
