"""``capsieve search``: options that contradict each other; the names of the options may change."""

import pytest


@pytest.mark.parametrize("more", [("--frames", "3"), ("--train-patient", "p")])
def test_options_of_the_operating_point_are_usage_errors(run, tmp_path, more):
    result = run("search", tmp_path, "--labels", tmp_path / "x.csv", "-o", tmp_path / "out", *more)
    assert result.exit_code == 2
    assert more[0] in result.stderr
    assert not (tmp_path / "out").exists()
