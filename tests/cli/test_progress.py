"""Progress where there is no terminal."""

from capsieve.cli import progress


def test_plain_lines_tell_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    with progress.frame_progress("Rendering", 4) as advance:
        advance(1)
        advance(2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Rendering: 1 of 4 frames")
    assert lines[1].startswith("Rendering: 3 of 4 frames")


def test_quiet_says_nothing(capsys):
    with progress.frame_progress("Rendering", 4, quiet=True) as advance:
        advance(4)
    assert capsys.readouterr().err == ""
