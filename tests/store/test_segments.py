"""Segments are complete or absent, one run works in a folder, results are never mixed."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsieve.errors import FileError, OccupiedError
from capsieve.store import segments as module
from capsieve.store.segments import (
    LOCK,
    Segments,
    locked,
    remove_results,
    replace_results,
    unfinished,
)
from support.segment_rows import row, scored, segment, segment_file

ROWS = [scored("polyp"), scored("no-feature"), row(status="undecodable", problem="truncated")]
CONTENT = segment_file(ROWS)
PLAN = {"settings": {"field_of_view": [1.5, 2.25, 1e-3]}, "name": "Übung"}


@pytest.fixture
def work(tmp_path):
    segments = Segments(tmp_path)
    segments.begin(PLAN)
    return segments


def stored(work):
    (path,) = work.folder.glob("head-*")
    return path


def test_a_segment_is_read_as_it_was_stored(work):
    work.add(1, 7, CONTENT)
    assert work.has(1, 7)
    assert work.rows(1, 7).equals(segment(ROWS))
    assert not work.has(0, 7)
    assert not work.has(1, 8)


def test_a_segment_without_frames_is_stored(work):
    work.add(0, 0, segment_file([]))
    assert work.has(0, 0)


@pytest.mark.parametrize("length", [0, 1, 32, 100, -1])
def test_a_truncated_segment_is_absent(work, length):
    work.add(0, 0, CONTENT)
    stored(work).write_bytes(stored(work).read_bytes()[:length])
    assert not work.has(0, 0)
    work.add(0, 0, CONTENT)
    assert work.has(0, 0)


def test_any_changed_byte_makes_a_segment_absent(work):
    work.add(0, 0, CONTENT)
    path = stored(work)
    whole = path.read_bytes()
    for place in range(0, len(whole), len(whole) // 60):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        path.write_bytes(changed)
        assert not work.has(0, 0)
        with pytest.raises(FileError, match="--overwrite"):
            work.rows(0, 0)


def test_a_segment_with_other_columns_is_absent(work):
    with pa.BufferOutputStream() as buffer:
        pq.write_table(pa.table({"score": [1.0]}), buffer)
        work.add(0, 0, buffer.getvalue().to_pybytes())
    assert not work.has(0, 0)


def test_plan_and_segments_are_kept_when_the_work_continues(work, tmp_path):
    work.add(0, 0, CONTENT)
    again = Segments(tmp_path)
    again.begin({"other": 1})
    assert again.plan() == PLAN
    assert again.has(0, 0)


def test_segments_without_a_plan_are_removed(work):
    work.add(0, 0, CONTENT)
    (work.folder / "plan.json").unlink()
    work.begin(PLAN)
    assert not work.has(0, 0)


@pytest.mark.parametrize("content", [b"", b'{"schema"', b"\xff\xfe", b"[1]", b'{"schema": 99}'])
def test_a_damaged_plan_is_an_error_with_advice(work, content):
    (work.folder / "plan.json").write_bytes(content)
    with pytest.raises(FileError, match=r"plan\.json.*--overwrite"):
        work.plan()


def test_a_plan_of_another_schema_version_is_refused(work):
    (work.folder / "plan.json").write_text('{"schema": 1, "plan": {}}')
    with pytest.raises(FileError, match="schema version 1"):
        work.plan()


def test_removed_work_leaves_no_files(work, tmp_path):
    work.add(0, 0, CONTENT)
    work.remove()
    assert list(tmp_path.iterdir()) == []
    assert work.plan() is None
    work.remove()


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(FileError, match="cannot create"):
        Segments(tmp_path / "absent").begin({})
    with pytest.raises(FileError, match="cannot write"):
        Segments(tmp_path).add(0, 0, CONTENT)
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match="cannot lock"), locked(tmp_path / "file"):
        pass


def test_a_second_run_is_refused_and_the_holder_named(tmp_path):
    with locked(tmp_path):
        for _ in range(2):
            with pytest.raises(OccupiedError, match=f"process {os.getpid()} on "):
                locked(tmp_path).__enter__()
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from capsieve.store.segments import locked\n"
        "with locked(Path(sys.argv[1])): print('locked', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(OccupiedError, match=f"process {process.pid}"):
            locked(tmp_path).__enter__()
        process.send_signal(signal.SIGKILL)
    assert (tmp_path / LOCK).exists()
    with locked(tmp_path):
        pass


NAMES = ("frames.parquet", "events.parquet", "report.html", "exam.json")


def replace(folder, content):
    with replace_results(folder) as staging:
        for name in NAMES:
            (staging / name).write_text(content)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


class Killed(BaseException):
    """The process ends here: no later operation is done."""


def kill_at(patch, step):
    """Let every operation on files fail from one step on; return the operations that were done."""
    done = []

    def counted(name, operation):
        def run(*args, **options):
            if step is not None and len(done) >= step:
                raise Killed
            done.append(name)
            return operation(*args, **options)

        return run

    for name in ("replace", "unlink", "rmdir", "mkdir", "write_text"):
        patch.setattr(Path, name, counted(name, getattr(Path, name)))
    patch.setattr(shutil, "rmtree", counted("rmtree", shutil.rmtree))
    patch.setattr(module, "sync", counted("sync", module.sync))
    return done


@pytest.mark.parametrize("earlier", ["old", None])
def test_results_are_old_or_new_whenever_the_process_is_killed(tmp_path, earlier):
    old = dict.fromkeys(NAMES, "old") if earlier else {}
    new = dict.fromkeys(NAMES, "new")
    step = ends = 0
    while True:
        folder = tmp_path / str(step)
        folder.mkdir()
        if earlier:
            replace(folder, earlier)
        with pytest.MonkeyPatch.context() as patch:
            kill_at(patch, step)
            try:
                replace(folder, "new")
                killed = False
            except Killed:
                killed = True
        found = contents(folder)
        if "exam.json" in found:
            assert found in (old, new)
        with locked(folder):
            pass  # completes what was interrupted
        assert contents(folder) in (old, new)
        ends += contents(folder) == new
        replace(folder, "newer")
        assert contents(folder) == dict.fromkeys(NAMES, "newer")
        assert not [path for path in folder.iterdir() if path.is_dir()]
        if not killed:
            break
        step += 1
    assert step > 12  # it was killed at each of these steps
    assert ends > 5


def _no_space(path):
    raise OSError(28, "No space left on device")


def test_a_replacement_that_fails_keeps_the_earlier_results(tmp_path):
    replace(tmp_path, "old")
    with pytest.raises(ZeroDivisionError), replace_results(tmp_path):
        raise ZeroDivisionError
    with pytest.raises(BrokenPipeError), replace_results(tmp_path):
        raise BrokenPipeError  # of something else than the files
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "sync", _no_space)
        with pytest.raises(FileError, match="No space left"):
            replace(tmp_path, "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(NAMES)
    assert contents(tmp_path) == dict.fromkeys(NAMES, "old")


def test_an_exam_is_unfinished_until_it_has_a_record(tmp_path):
    assert not unfinished(tmp_path)
    Segments(tmp_path).begin(PLAN)
    assert unfinished(tmp_path)
    replace(tmp_path, "new")
    assert not unfinished(tmp_path)


def test_an_interrupted_replacement_is_unfinished(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "_complete_replacement", lambda _: None)
        replace(tmp_path, "new")
    assert unfinished(tmp_path)
    with locked(tmp_path):
        assert not unfinished(tmp_path)


def test_removed_results_leave_other_files(tmp_path):
    replace(tmp_path, "old")
    Segments(tmp_path).begin(PLAN)
    (tmp_path / "notes.txt").write_text("mine")
    remove_results(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
