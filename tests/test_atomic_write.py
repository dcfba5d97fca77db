import os
import threading
import time

import pytest

from capsieve import FileError
from capsieve.atomic_write import atomic_write, check_replaceable, remove_leftovers, sync


def write(path, text, *, durable=False):
    with atomic_write(path, durable=durable) as temporary:
        temporary.write_text(text)


@pytest.mark.parametrize("durable", [False, True])
def test_the_file_appears_complete_and_nothing_else_remains(tmp_path, durable):
    with atomic_write(tmp_path / "a.png", durable=durable) as temporary:
        assert temporary.suffix == ".png"
        temporary.write_text("new")
        assert not (tmp_path / "a.png").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
    assert (tmp_path / "a.png").read_text() == "new"


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt, OSError])
def test_a_failed_or_interrupted_write_leaves_the_old_file_and_no_temporary_one(tmp_path, failure):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with atomic_write(path) as temporary:
            temporary.write_text("half")
            raise failure

    with pytest.raises((failure, FileError)):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_threads_that_write_one_path_do_not_mix_their_contents(tmp_path):
    path = tmp_path / "a.txt"
    both_opened = threading.Barrier(2)
    errors: list[Exception] = []

    def run(letter: str) -> None:
        try:
            with atomic_write(path) as temporary, temporary.open("w") as file:
                both_opened.wait(timeout=20)
                for _ in range(50):
                    file.write(letter * 100)
                    file.flush()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(letter,)) for letter in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert path.read_text() in ("a" * 5000, "b" * 5000)
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_inside_a_write_of_the_same_path_has_its_own_file(tmp_path):
    with atomic_write(tmp_path / "a") as outer:
        outer.write_text("outer")
        write(tmp_path / "a", "inner")
        assert outer.read_text() == "outer"
    assert (tmp_path / "a").read_text() == "outer"


@pytest.mark.parametrize("name", ["missing/a.png", "."])
def test_a_missing_folder_and_a_folder_are_refused_before_the_block(tmp_path, name):
    with pytest.raises(FileError, match=str(tmp_path)), atomic_write(tmp_path / name):
        pytest.fail("the block must not run")


def test_a_full_disk_is_a_file_error_with_the_path(tmp_path):
    with pytest.raises(FileError) as caught, atomic_write(tmp_path / "a.png"):
        raise OSError(28, os.strerror(28))
    assert str(tmp_path / "a.png") in str(caught.value)


def make_old(path):
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(path, (two_days_ago, two_days_ago))


def test_errors_about_other_files_and_connections_are_raised_unchanged(tmp_path):
    for error in (FileNotFoundError(2, "No such file", "labels.csv"), BrokenPipeError(32, "pipe")):
        with pytest.raises(type(error)) as caught, atomic_write(tmp_path / "a.png"):
            raise error
        assert caught.value is error
    assert list(tmp_path.iterdir()) == []


def test_leftovers_are_deleted_by_age_and_never_while_they_may_be_in_use(tmp_path):
    with atomic_write(tmp_path / "roc.svg") as temporary:
        temporary.touch()
        remove_leftovers(tmp_path)
        assert temporary.exists()
        make_old(temporary)
        others = [tmp_path / ".mine.part.svg", tmp_path / ".roc.12345.part.svg", tmp_path / "a"]
        for path in others:
            path.touch()
            make_old(path)
        remove_leftovers(tmp_path)
        assert not temporary.exists()
        assert all(path.exists() for path in others)
        temporary.touch()


def test_files_and_folders_can_be_synced(tmp_path):
    write(tmp_path / "a", "text", durable=True)
    sync(tmp_path / "a")
    sync(tmp_path)


def test_tables_are_recognised_by_their_columns_or_by_the_record_next_to_them(tmp_path):
    table, record = tmp_path / "table.csv", tmp_path / "record.json"
    table.write_text("exam,frame\na,1\n")
    with pytest.raises(FileError, match=r"table\.csv"):
        check_replaceable(table, columns=["exam", "frame", "part"])
    check_replaceable(table, columns=["exam", "frame"])
    record.write_text('{"schema": 1, "name": "of another program"}')
    with pytest.raises(FileError, match=r"table\.csv"):
        check_replaceable(table, record=record)
    record.write_text('{"schema": 1, "capsieve": "1.0"}')
    check_replaceable(table, record=record)
