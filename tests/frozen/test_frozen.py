"""The program gives the stored results: a safety net for its rewrite.

Labels, reasons, counts and frame numbers are compared exactly, floats to 1e-5. Names of the program
are in names.py and nowhere else: a renamed column or option changes one line. If a commit
changes a result on purpose, it stores the parts concerned again and gives the reason in its
message::

    PYTHONPATH=src:tests python -m frozen.freeze automatic

Parts are the keys of ``parts.PARTS``: ``small-pixels`` and ``demo-pixels`` are hashes of the
phantom's frames and distinguish a changed phantom from a changed detector; ``automatic`` is the
only run that searches for the field of view. The demo study is slow to render; ``-m "not slow"``
leaves it, the killed run and the reading out.
"""

import pytest

from frozen import names, stored
from frozen.parts import PARTS, ROUNDS, Runs, frame_files, read_table

SLOW = ("reading", "demo-pixels", "demo-paper", "demo-curvature", "evaluation")
# The first test that needs a study renders it, which takes long on a busy machine.
pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return Runs(tmp_path_factory.mktemp("frozen"))


@pytest.mark.parametrize(
    "part", [pytest.param(part, marks=pytest.mark.slow if part in SLOW else ()) for part in PARTS]
)
def test_results_are_the_stored_ones(runs, part):
    found = PARTS[part](runs)
    problems = [
        f"{table}: {problem}"
        for table in sorted(found.keys() | stored.tables(part))
        for problem in stored.differences(stored.load(part, table), found[table])
    ]
    assert not problems, _told(problems)


@pytest.mark.slow
@pytest.mark.parametrize("table", ["frames", "features"])
def test_a_killed_and_resumed_run_gives_the_stored_results(runs, table):
    frames = frame_files(runs.study("small"))
    order = {(exam, number): place for place, (exam, number, _) in enumerate(frames)}
    expected = [
        {name: value for name, value in row.items() if name not in names.OF_THE_WHOLE_EXAM}
        | {"frame": str(order[row["exam"], int(row["frame"])] + turn * len(frames))}
        for turn in range(ROUNDS)
        for row in stored.load("small-paper", table)
    ]
    problems = stored.differences(expected, read_table(runs.resumed(), table))
    assert not problems, _told(problems)


def _told(problems):
    return "\n".join([f"{len(problems)} differences:", *problems[:30]])
