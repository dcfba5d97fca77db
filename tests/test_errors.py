"""The exceptions, and the boundary that makes them of the errors of the operating system."""

import pickle

import pytest

import capsieve
from capsieve import errors
from capsieve.errors import file_errors

ONE_OF_EACH = [
    errors.FrameError("the frame is empty"),
    errors.ParameterError("width", "must be a number, not 'wide'"),
    errors.FileError("no such file: a.png"),
    errors.OccupiedError("another run uses out/"),
    errors.LeakError("patient 3 is in train and in test"),
    errors.WorkerError("the workers do not start"),
    errors.MissingExtraError("needs an extra"),
]


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.FrameError, ValueError),
        (errors.ParameterError, ValueError),
        (errors.LeakError, ValueError),
        (errors.WorkerError, RuntimeError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_errors_are_also_of_a_builtin_class(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, capsieve.CapsieveError)
    assert issubclass(error, builtin)


def test_a_file_error_is_not_caught_by_handlers_of_os_errors() -> None:
    assert not issubclass(errors.FileError, OSError)
    assert issubclass(errors.OccupiedError, errors.FileError)


def test_all_errors_are_public_and_in_the_list_at_the_top_of_the_module() -> None:
    classes = {name for name, value in vars(errors).items() if isinstance(value, type)}
    classes = {name for name in classes if name.endswith("Error")}
    assert all(name in (errors.__doc__ or "") and hasattr(capsieve, name) for name in classes)


@pytest.mark.parametrize("error", ONE_OF_EACH, ids=lambda error: type(error).__name__)
def test_errors_survive_pickling(error: capsieve.CapsieveError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


def test_a_parameter_error_names_its_field() -> None:
    error = capsieve.ParameterError("width", "must be a number, not 'wide'")
    assert error.field == "width"
    assert str(error) == "width: must be a number, not 'wide'"


def test_file_errors_names_the_action_the_path_the_reason_and_the_advice(tmp_path) -> None:
    path = tmp_path / "missing.txt"
    with pytest.raises(capsieve.FileError) as caught, file_errors("read", path, "check the name"):
        path.read_text()
    assert isinstance(caught.value.__cause__, FileNotFoundError)
    text = str(caught.value)
    assert text.startswith(f"cannot read {path}: ")
    assert text.endswith("; check the name")


def test_text_that_is_not_utf8_is_a_file_error(tmp_path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(b"\xe9")
    with pytest.raises(capsieve.FileError, match=str(path)), file_errors("read", path):
        path.read_text(encoding="utf-8")


@pytest.mark.parametrize("error", [*ONE_OF_EACH, ValueError("x"), KeyboardInterrupt()], ids=repr)
def test_other_errors_pass_through_unchanged(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, file_errors("read", "a"):
        raise error
    assert caught.value is error
