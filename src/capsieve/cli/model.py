"""``capsieve model``: what is in a model file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from capsieve.learned.card import ModelCard
    from capsieve.learned.model_file import ModelFile
    from capsieve.statistics.table import Table

__all__ = ["command"]

SCHEMA = 1
"""Version of the JSON object; it grows when a name in it changes its meaning."""

_OF_MASKS = {"schema", "output.pixels", "output.frame_score", "output.level"}

_EXAMPLE = """\b
Example:
  capsieve model show learned
  capsieve model show mine.onnx
  capsieve model show mine.onnx --json
"""


@click.group("model", epilog=_EXAMPLE)
def command() -> None:
    """Look into model files."""


@command.command("show", epilog=_EXAMPLE)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON, and only that.")
def show(file: Path, as_json: bool) -> None:
    """Print the card of a model, and how it is run.

    FILE is a model that capsieve trained, an ONNX file with a TOML file beside it, or the word
    learned for the model that capsieve ships with. Nothing in the file is executed.
    """
    from capsieve.learned.detector import SHIPPED
    from capsieve.learned.model_file import read_model

    shipped = str(file) == "learned" and not file.exists()
    model = read_model(SHIPPED if shipped else file)
    runs, problem = _trial(model)
    if as_json:
        click.echo(_json(model, runs, problem))
        return
    _say(model)
    if not runs:
        click.echo(f"capsieve: it cannot be run here: {problem}", err=True)


def _trial(model: "ModelFile") -> tuple[bool, str]:
    """Load a model as a detector would; return whether that works, and why not."""
    from capsieve.errors import CapsieveError
    from capsieve.learned.runtime import Runner

    try:
        Runner(model.content, model.spec, name=str(model.path))
    except CapsieveError as error:
        return False, str(error)
    return True, ""


def _json(model: "ModelFile", runs: bool, problem: str) -> str:
    content = {
        "schema": SCHEMA,
        "file": str(model.path),
        "bytes": len(model.content),
        "sha256": model.sha256,
        "runs": runs,
        "problem": problem,
        "spec": model.spec.to_dict(),
        "card": None if model.card is None else model.card.to_dict(),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def _say(model: "ModelFile") -> None:
    from capsieve.report.evaluation.table_files import table_text
    from capsieve.report.formats import bytes_text, plain

    card = model.card
    title = model.path.name if card is None else f"{card.name} ({card.kind})"
    click.secho(plain(title), bold=True)
    click.echo(f"{plain(model.path)}, {bytes_text(len(model.content))}, SHA-256 {model.sha256}")
    if card is None:
        click.echo(
            "It has no card: nobody wrote down what it learned from, how well it does on other "
            "frames, and what it is not for. Measure it with capsieve evaluate before you trust it."
        )
    else:
        click.echo(
            plain(f"Trained {card.created} with capsieve {card.capsieve}, seed {card.seed}.")
        )
        if card.intended_use:
            click.echo(f"Intended use: {plain(card.intended_use)}")
        for limit in card.limits:
            click.echo(f"Limit: {plain(limit)}")
        if card.prevalence is not None:
            click.echo(
                f"Its probabilities hold where {100 * card.prevalence:.3g} % of the frames show "
                "a polyp."
            )
    tables = [_spec_table(model), *([] if card is None else _card_tables(card))]
    for table in tables:
        click.echo("")
        click.echo(table_text(table))
        if table.caption:
            click.echo(plain(table.caption))


def _spec_table(model: "ModelFile") -> "Table":
    """Return how the model is run, one entry a row; long lists by their length."""
    from capsieve.statistics.table import Column, Table

    unread = {"schema", "output.map"} if model.spec.output.kind == "mask" else _OF_MASKS
    rows: list[tuple[str, str]] = []
    for name, value in model.spec.to_dict().items():
        inner: dict[str, Any] = value if isinstance(value, dict) else {"": value}
        for entry, content in inner.items():
            full = f"{name}.{entry}" if entry else name
            if full not in unread and content != "":
                rows.append((full, _entry(content)))
    return Table(
        "spec", "How it is run", (Column("entry", "Entry"), Column("value", "Value")), tuple(rows)
    )


def _entry(content: object) -> str:
    if isinstance(content, list):
        shown = ", ".join(_entry(each) for each in content[:3])
        return shown if len(content) <= 3 else f"{shown}, ... ({len(content)} in all)"
    if isinstance(content, bool):
        return "yes" if content else "no"
    return f"{content:.6g}" if isinstance(content, float) else str(content)


def _card_tables(card: "ModelCard") -> "list[Table]":
    from capsieve.statistics.table import Column, Table

    def pairs(key: str, title: str, content: dict[str, object], caption: str = "") -> Table:
        columns = (Column("entry", "Entry"), Column("value", "Value"))
        rows = tuple((name, _entry(value)) for name, value in content.items())
        return Table(key, title, columns, rows, caption)

    kept = (
        f"Never on both sides of a split: {card.kept_apart} ({card.group_count:,})."
        if card.kept_apart
        else "Which frames were kept apart is not told."
    )
    data = Table(
        "data",
        "What it learned from",
        (
            Column("name", "Data"),
            Column("licence", "Licence"),
            Column("frames", "Frames", "count"),
            Column("groups", "Groups", "count"),
            Column("polyps", "Polyps or runs", "count"),
            Column("labels", "Labels"),
            Column("citation", "Citation"),
        ),
        tuple(
            (
                each.name,
                each.licence,
                each.frames,
                each.groups,
                each.polyps,
                ", ".join(f"{count:,} {label}" for label, count in each.labels.items()),
                each.citation,
            )
            for each in card.data
        ),
        kept,
    )
    metrics = Table(
        "metrics",
        f"How well it did ({card.judged})",
        (
            Column("source", "Source"),
            Column("what", "Figure"),
            Column("value", "Value", "number", 3),
            Column("low", "95 % from", "number", 3),
            Column("high", "to", "number", 3),
            Column("count", "Over", "count"),
        ),
        tuple((m.source, m.what, m.value, m.low, m.high, m.count) for m in card.metrics),
    )
    measures = {
        name: f"{low:.4g} to {high:.4g}" if low < high else f"{low:.4g}, a single value"
        for name, (low, high) in card.quantiles.items()
    }
    hashes = {
        "labels": card.hashes.labels or "not told",
        "frames": card.hashes.frames or "not told",
        "graph": card.hashes.graph,
    }
    reference = f"1 and 99 % quantiles of {card.range.reference}."
    found = [
        data,
        metrics,
        pairs("settings", "Settings of the training", dict(card.settings)),
        pairs("range", "Range of inputs", dict(measures), reference),
        pairs("hashes", "SHA-256 of", dict(hashes)),
    ]
    return [table for table in found if table.rows]
