"""What calibration frames chose: its file, the hashes next to it, and both in results."""

import json
from hashlib import sha256

import pytest

from capsieve import FileError, Parameters
from capsieve.frame_table import FlagRule
from capsieve.store.choice import (
    STORED_HASHES,
    Choice,
    read_choice,
    store_choice,
    stored_choice,
    write_choice,
)

HASHES = frozenset(f"{number:032x}" for number in range(20))
CHOICE = Choice(
    chosen='share "to" read = 10 %',
    hashes=HASHES,
    detector="models/é.onnx",
    model="ab",
    rule=FlagRule("share", 0.1),
)


@pytest.fixture
def file(tmp_path):
    write_choice(tmp_path / "calibrated.toml", CHOICE, Parameters(radius_threshold=41).to_toml())
    return tmp_path / "calibrated.toml"


def test_a_choice_is_read_as_it_was_written(file):
    read = read_choice(file)
    for name in ("chosen", "scores", "hashes", "detector", "model", "rule"):
        assert getattr(read, name) == getattr(CHOICE, name)


def test_the_file_has_parameters_that_know_where_they_were_loaded_from(file):
    loaded = Parameters.load(file)
    assert loaded == Parameters(radius_threshold=41)
    assert loaded.calibration_file == file
    (file.parent / "plain.toml").write_text(loaded.to_toml())
    assert Parameters.load(file.parent / "plain.toml").calibration_file is None


def test_the_hashes_are_one_per_line_and_their_sha256_is_in_the_table(file):
    content = file.with_name("calibrated.frames.txt").read_bytes()
    assert content.decode().splitlines()[1:] == sorted(HASHES)
    assert sha256(content).hexdigest() in file.read_text()


def missing(file, hashes):
    hashes.unlink()


def changed(file, hashes):
    hashes.write_bytes(hashes.read_bytes() + b"00\n")


def of_another_schema(file, hashes):
    before = hashes.read_bytes()
    after = before.replace(b"schema 1", b"schema 2")
    hashes.write_bytes(after)
    digests = (sha256(content).hexdigest() for content in (before, after))
    file.write_text(file.read_text().replace(*digests))


@pytest.mark.parametrize("damage", [missing, changed, of_another_schema])
def test_hashes_that_cannot_be_used_are_named_with_what_to_do(file, damage):
    hashes = file.with_name("calibrated.frames.txt")
    damage(file, hashes)
    with pytest.raises(FileError, match=r"calibrated\.frames\.txt.*calibrate") as raised:
        read_choice(file)
    assert ("schema 2" in str(raised.value)) == (damage is of_another_schema)


@pytest.mark.parametrize(
    ("line", "other", "named"),
    [
        ('rule = "share"', 'rule = "neither"', "calibration.rule"),
        ("frames = 20", "", "calibration.frames"),
        ("frames = 20", "frames = 20\nmore = 1", "calibration.more"),
        ('file = "', 'file = "../', "calibration.file"),
    ],
)
def test_a_wrong_table_is_refused_with_the_entry(file, line, other, named):
    content = file.read_text()
    assert line in content
    file.write_text(content.replace(line, other))
    with pytest.raises(FileError, match=named):
        read_choice(file)


def test_results_keep_the_hashes_of_all_exams(tmp_path):
    exams = []
    for name, hashes in (("a", {"1", "2"}), ("b", {"2", "3"}), ("c", None)):
        (tmp_path / name).mkdir()
        record = {}
        if hashes:
            choice = Choice(chosen=f"R_P of {name}", scores=name == "b", hashes=frozenset(hashes))
            record["calibration"] = store_choice(tmp_path / name, choice)
            assert json.loads(json.dumps(record)) == record
        exams.append((tmp_path / name, record))
    found = stored_choice(exams)
    assert found is not None
    assert found.hashes == {"1", "2", "3"}
    assert found.chosen == "R_P of a and R_P of b"
    assert found.scores
    assert stored_choice(exams[2:]) is None
    (tmp_path / "b" / STORED_HASHES).unlink()
    with pytest.raises(FileError, match=STORED_HASHES):
        stored_choice(exams)
