"""Turn the fields of a settings dataclass into command-line options."""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import click

from capsieve.errors import ParameterError

Command = Callable[..., Any]

_METAVARS = {int: "N", float: "NUMBER"}


class PathType(click.Path):
    """A path. An empty text is refused, because ``Path("")`` is the current folder."""

    def __init__(self, **options: Any) -> None:
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path; fail if the text is empty."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        if "://" in str(value):
            self.fail(f"{value} is a URL; download it and give the path of the file", param, ctx)
        return super().convert(value, param, ctx)


def settings_options(settings: type[Any], **types: click.ParamType) -> Callable[[Command], Command]:
    """Return a decorator that adds an option for each field of a settings dataclass.

    The command receives one instance as its argument `settings`. A
    :class:`~capsieve.errors.ParameterError` about one of the fields, raised by the dataclass or by
    the command, is a usage error that names the option.

    Parameters
    ----------
    settings
        A dataclass. Fields with "help" in their metadata become options. The annotation gives the
        type: bool is a flag, a Literal is a choice, a tuple may be given several times, and None in
        a union makes no difference. The metadata may also have "metavar", "option" (such as
        ``"--train-patient"``, if it is not the name of the field), and "min" and "max" of a number.
    **types
        Click types, if the annotation of a field is another class, a union or a string.

    Examples
    --------
    >>> @click.command()
    ... @settings_options(ScreenSettings)  # doctest: +SKIP
    ... def command(settings: ScreenSettings) -> None: ...
    """
    chosen = [field for field in fields(settings) if "help" in field.metadata]
    names = {field.name: _option_name(field) for field in chosen}

    def decorate(function: Command) -> Command:
        @functools.wraps(function)
        def command(*arguments: Any, **values: Any) -> Any:
            given = {name: values.pop(name) for name in names}
            with usage_errors(names):
                return function(*arguments, settings=settings(**given), **values)

        for field in reversed(chosen):
            command = _option(field, names[field.name], types.get(field.name))(command)
        return command

    return decorate


@contextmanager
def usage_errors(names: Mapping[str, str]) -> Iterator[None]:
    """Turn a :class:`~capsieve.errors.ParameterError` of the block into a usage error.

    Parameters
    ----------
    names
        The option or argument that gives a field.
    """
    try:
        yield
    except ParameterError as error:
        if error.field not in names:
            raise
        message = str(error).removeprefix(f"{error.field}: ")
        context = click.get_current_context()
        hint = repr(names[error.field])
        raise click.BadParameter(message, ctx=context, param_hint=hint) from error


def _option_name(field: Field[Any]) -> str:
    return field.metadata.get("option", "--" + field.name.replace("_", "-"))


def _option(field: Field[Any], name: str, given: click.ParamType | None) -> Any:
    default = field.default if field.default_factory is MISSING else field.default_factory()
    if field.type is bool:
        declared = f"{name}/--no-{name.removeprefix('--')}" if default else name
        return click.option(
            declared, field.name, is_flag=True, default=default, help=field.metadata["help"]
        )
    presence: dict[str, Any] = {"required": True} if default is MISSING else {"default": default}
    several = get_origin(field.type) is tuple
    content = get_args(field.type)[0] if several else field.type
    return click.option(
        name,
        field.name,
        type=given or _click_type(field, content),
        multiple=several,
        **presence,
        show_default=default not in (MISSING, None, ()),
        metavar=field.metadata.get("metavar", _METAVARS.get(_plain(content))),
        help=field.metadata["help"],
    )


def _plain(annotation: Any) -> Any:
    """Return the type of a value that may be None; None for other unions."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    members = [member for member in get_args(annotation) if member is not NoneType]
    return members[0] if len(members) == 1 else None


def _click_type(field: Field[Any], annotation: Any) -> click.ParamType:
    annotation = _plain(annotation)
    if get_origin(annotation) is Literal:
        return click.Choice(get_args(annotation))
    limits = {key: field.metadata[key] for key in ("min", "max") if key in field.metadata}
    known = {
        str: click.STRING,
        int: click.IntRange(**limits) if limits else click.INT,
        float: click.FloatRange(**limits) if limits else click.FLOAT,
        Path: PathType(),
    }
    if annotation not in known:
        raise TypeError(f"the option of the field {field.name} needs a click type")
    return known[annotation]
