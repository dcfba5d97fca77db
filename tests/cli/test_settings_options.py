"""Options that are made from the fields of a dataclass."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import click
import pytest
from click.testing import CliRunner, Result

from capsieve.cli.settings_options import settings_options
from capsieve.errors import ParameterError


def option(default: Any, help_text: str = "", **metadata: Any) -> Any:
    return field(default=default, metadata={"help": help_text, **metadata})


@dataclass(frozen=True, kw_only=True)
class Settings:
    labels: Path = field(metadata={"help": "The labels.", "metavar": "FILE"})
    name: str | None = option(None)
    workers: int | None = option(None, min=1)
    share: float = option(0.5, "The share.", min=0, max=1)
    kind: Literal["threshold", "share"] = option("share")
    patients: tuple[str, ...] = option((), option="--patient")
    extra_names: bool = option(False)
    galleries: bool = option(True)
    size: "object" = field(default=(4, 3), metadata={"help": ""})
    internal: int = 7

    def __post_init__(self) -> None:
        if self.name == "":
            raise ParameterError("name", "must not be empty")


class Size(click.ParamType):
    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        rows, cols = value.split("x")
        return int(rows), int(cols)


def run(*arguments: str, error: Exception | None = None) -> tuple[Result, Settings | None]:
    received: list[Settings] = []

    @click.command()
    @click.option("--before")
    @settings_options(Settings, size=Size())
    @click.option("--quiet", is_flag=True)
    def command(settings: Settings, before: str | None, quiet: bool) -> None:
        received.append(settings)
        if error is not None:
            raise error

    result = CliRunner().invoke(command, arguments)
    return result, received[0] if received else None


def test_without_options_the_settings_have_their_defaults() -> None:
    result, settings = run("--labels", "a.csv")
    assert result.exit_code == 0, result.output
    assert settings == Settings(labels=Path("a.csv"))


def test_every_kind_of_field_is_read() -> None:
    given = ["--labels", "a.csv", "--name", "x", "--workers", "3", "--share", "0.25"]
    given += ["--kind", "threshold", "--patient", "p", "--patient", "q", "--extra-names"]
    result, settings = run(*given, "--no-galleries", "--size", "2x5", "--quiet", "--before", "b")
    assert result.exit_code == 0, result.output
    assert settings == Settings(
        labels=Path("a.csv"),
        name="x",
        workers=3,
        share=0.25,
        kind="threshold",
        patients=("p", "q"),
        extra_names=True,
        galleries=False,
        size=(2, 5),
    )


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        ["--labels", "a.csv", "--workers", "0"],
        ["--labels", "a.csv", "--share", "1.5"],
        ["--labels", "a.csv", "--kind", "other"],
        ["--labels", "a.csv", "--internal", "8"],
    ],
)
def test_wrong_values_are_usage_errors(wrong: list[str]) -> None:
    result, settings = run(*wrong)
    assert result.exit_code == 2
    assert settings is None


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--name", ""], None),
        (["--name", "x"], ParameterError("name", "must not be empty")),
    ],
)
def test_an_error_about_a_field_is_a_usage_error_that_names_the_option(
    arguments: list[str], error: Exception | None
) -> None:
    result, _ = run("--labels", "a.csv", *arguments, error=error)
    assert result.exit_code == 2
    assert "'--name': must not be empty" in result.output


def test_an_error_about_something_else_comes_through() -> None:
    error = ParameterError("radius_threshold", "is unknown")
    result, _ = run("--labels", "a.csv", error=error)
    assert result.exception is error


def test_the_help_shows_text_metavar_range_and_default() -> None:
    result, _ = run("--help")
    text = " ".join(result.output.split())
    assert "--labels FILE The labels. [required]" in text
    assert "The share. [default: 0.5; 0<=x<=1]" in text
    assert "internal" not in text
    assert text.index("--before") < text.index("--labels") < text.index("--quiet")


def test_a_field_of_an_unknown_type_needs_a_click_type() -> None:
    with pytest.raises(TypeError, match="size"):
        settings_options(Settings)(lambda: None)
