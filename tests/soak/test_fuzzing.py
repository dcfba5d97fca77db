"""Damaged inputs are read as before, reported, or refused with one message."""

import itertools
import random
import time
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path

import pytest

from soak.subjects import SUBJECTS
from soak.trials import CLASSES, FAULTS, Class, damaged, intact_reading, run_trial

_SHOWN = 40


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_damaged_inputs(
    soak_seed: int, soak_minutes: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Damage every subject in turn until the time is over; print counts and faults."""
    end = time.monotonic() + 60 * soak_minutes
    intact = {}
    for name in SUBJECTS:
        (tmp_path / name).mkdir()
        intact[name] = intact_reading(name, tmp_path / name)
    counts: dict[str, Counter[Class]] = defaultdict(Counter)
    faults: list[str] = []
    for number in itertools.count():
        names = random.Random(f"{soak_seed} {number}").sample(list(SUBJECTS), len(SUBJECTS))
        for name in names:
            seed = f"{soak_seed}-{number}"
            damage = partial(damaged, name, seed)
            outcome = run_trial(name, tmp_path / name, intact[name], damage)
            counts[name][outcome.found] += 1
            if outcome.found in FAULTS:
                faults.append(f"{name} {seed}: {outcome.found}: {outcome.detail}")
        if time.monotonic() > end:
            break
    with capsys.disabled():
        print("\n" + table(counts))
        for fault in faults[:_SHOWN]:
            print(f"\n{fault}")
    assert not faults


def table(counts: dict[str, Counter[Class]]) -> str:
    """Return counts by subject and class."""
    lines = [f"{'':20}" + "".join(f"{one:>15}" for one in CLASSES)]
    totals: Counter[Class] = Counter()
    for name in sorted(counts):
        totals += counts[name]
        lines.append(f"{name:20}" + "".join(f"{counts[name][one]:>15,}" for one in CLASSES))
    lines.append(f"{'all':20}" + "".join(f"{totals[one]:>15,}" for one in CLASSES))
    return "\n".join(lines)
