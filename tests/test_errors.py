import pickle

import pytest

import capsieve
from capsieve import errors

ONE_OF_EACH = [
    errors.FrameError("the frame is empty"),
    errors.ParameterError("width", "must be a number, not 'wide'"),
    errors.FileError("no such file: a.png"),
    errors.LeakError("patient 3 is in train and in test"),
    errors.MissingExtraError("needs an extra"),
]


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.FrameError, ValueError),
        (errors.ParameterError, ValueError),
        (errors.FileError, OSError),
        (errors.LeakError, ValueError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_every_error_is_of_the_family_and_of_a_builtin_kind(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, capsieve.CapsieveError)
    assert issubclass(error, builtin)


@pytest.mark.parametrize("name", errors.__all__)
def test_every_error_stands_in_the_tree_at_the_top_of_the_file(name: str) -> None:
    assert errors.__doc__ is not None
    assert name in errors.__doc__


def test_every_class_of_the_file_is_exported() -> None:
    classes = [name for name, value in vars(errors).items() if isinstance(value, type)]
    assert sorted(classes) == errors.__all__


@pytest.mark.parametrize("error", ONE_OF_EACH, ids=lambda error: type(error).__name__)
def test_errors_survive_the_way_between_processes(error: capsieve.CapsieveError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert copy.__dict__ == error.__dict__


def test_a_parameter_error_names_its_field() -> None:
    error = capsieve.ParameterError("width", "must be a number, not 'wide'")
    assert error.field == "width"
    assert str(error) == "width: must be a number, not 'wide'"
