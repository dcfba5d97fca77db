"""What a stop does to work at hand."""

import signal
from contextlib import suppress

import pytest

from capsieve.cli.interrupting import interruptible


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_kill_is_taken_for_ctrl_c(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Interrupted; the same command goes on from here.\n"),
        ({"fresh": True}, "Interrupted; the same command without --fresh goes on from here.\n"),
        ({"kept": False}, "Interrupted; nothing was kept, and the same command begins again.\n"),
    ],
    ids=["kept", "fresh", "not kept"],
)
def test_it_says_what_a_stop_leaves(
    capsys: pytest.CaptureFixture[str], options: dict[str, bool], words: str
) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible(**options):
        raise KeyboardInterrupt
    assert capsys.readouterr() == ("", words)


@pytest.mark.parametrize("ending", [None, KeyboardInterrupt(), ValueError("broken")])
def test_afterwards_a_kill_is_what_it_was(
    capsys: pytest.CaptureFixture[str], ending: BaseException | None
) -> None:
    seen: list[int] = []
    usual = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with suppress(KeyboardInterrupt, ValueError), interruptible():
            if ending is not None:
                raise ending
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, usual)
    assert seen == [signal.SIGTERM]
    assert ("Interrupted" in capsys.readouterr().err) == isinstance(ending, KeyboardInterrupt)
