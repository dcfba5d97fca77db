"""``capsieve model``: the content of a model file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from capsieve.learned.card import ModelCard
    from capsieve.learned.model_file import ModelFile
    from capsieve.result_table import Table

SCHEMA = 2
"""Version of the JSON object; it grows when a name in it changes its meaning."""

_EXAMPLE = """\b
Example:
  capsieve model show learned
  capsieve model show mine.onnx
  capsieve model show mine.onnx --json
"""


@click.group("model", epilog=_EXAMPLE)
def command() -> None:
    """Show model files."""


@command.command("show", epilog=_EXAMPLE)
@click.argument("file", metavar="FILE")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def show(file: str, as_json: bool) -> None:
    """Print the card of a model, and how it is run.

    FILE is a model that capsieve trained, an ONNX file with a TOML file next to it, or the word
    learned for the model that is part of capsieve (./learned is a file of this name). A trial
    batch shows whether it runs.
    """
    from capsieve.errors import CapsieveError
    from capsieve.learned.detector import SHIPPED
    from capsieve.learned.model_file import read_model
    from capsieve.learned.runtime import runner
    from capsieve.learned.trial import try_model

    model = read_model(SHIPPED if file == "learned" else Path(file))
    problem = ""
    try:
        if model.path != SHIPPED:
            try_model(model.path, model.sha256, model.spec)
        runner(model.path, model.sha256, model.spec)
    except CapsieveError as error:
        problem = str(error)
    if not as_json:
        _print(model)
        if problem:
            click.echo(f"capsieve: it cannot be run here: {problem}", err=True)
        return
    content = {
        "schema": SCHEMA,
        "file": str(model.path),
        "bytes": len(model.content),
        "sha256": model.sha256,
        "runs": not problem,
        "problem": problem,
        "training_frames": len(model.training_phashes),
        "spec": model.spec.to_dict(),
        "card": None if model.card is None else model.card.to_dict(),
    }
    click.echo(json.dumps(content, indent=2, allow_nan=False))


def _print(model: "ModelFile") -> None:
    from capsieve.report.tables import terminal
    from capsieve.report.text import bytes_text, plain

    card = model.card
    title = model.path.name if card is None else f"{card.name} ({card.kind})"
    lines = [f"{model.path}, {bytes_text(len(model.content))}, SHA-256 {model.sha256}"]
    if card is None:
        lines.append(
            "It has no card: training data, performance and limits are unknown. Measure it with "
            "capsieve evaluate before you trust it."
        )
    else:
        lines.append(f"Trained {card.created} with capsieve {card.capsieve}, seed {card.seed}.")
        if card.intended_use:
            lines.append(f"Intended use: {card.intended_use}")
        lines.append(f"Terms of the weights: {card.terms or 'not stated'}")
        lines += [f"Limit: {limit}" for limit in card.limits]
        if card.prevalence is not None:
            lines.append(
                f"Its probabilities are calibrated for {100 * card.prevalence:.3g} % of frames "
                "with a polyp."
            )
    click.secho(plain(title), bold=True)
    for line in lines:
        click.echo(plain(line))
    for table in [_spec_table(model), *([] if card is None else _card_tables(card))]:
        click.echo(f"\n{terminal(table)}")
        if table.caption:
            click.echo(plain(table.caption))


def _spec_table(model: "ModelFile") -> "Table":
    spec, rows = model.spec.to_dict(), dict[str, object]()
    mask = model.spec.output.kind == "mask"
    for name, value in spec.items():
        for entry, content in (value if isinstance(value, dict) else {"": value}).items():
            of_masks = entry in ("pixels", "frame_score", "level")
            if content != "" and name != "schema_version" and (mask or not of_masks):
                rows[f"{name}.{entry}" if entry else name] = content
    return _pairs("spec", "How it is run", rows)


def _card_tables(card: "ModelCard") -> "list[Table]":
    from capsieve.result_table import Column, Table

    grouping = "It is unknown by what the frames were grouped."
    if card.grouped_by:
        grouping = f"Never on both sides of a split: {card.grouped_by} ({card.group_count:,})."
    columns = (
        Column("name", "Data"),
        Column("licence", "Licence"),
        Column("frames", "Frames", "count"),
        Column("groups", "Groups", "count"),
        Column("polyps", "Polyps or runs", "count"),
        Column("labels", "Labels"),
        Column("citation", "Citation"),
    )
    rows = []
    for each in card.data:
        labels = ", ".join(f"{count:,} {label}" for label, count in each.labels.items())
        counts = (each.frames, each.groups, each.polyps)
        rows.append((each.name, each.licence, *counts, labels, each.citation))
    reference = f"1 and 99 % quantiles of {card.range.reference}."
    hashes = {name: text or "unknown" for name, text in card.hashes.to_dict().items()}
    found = [
        Table("data", "Training data", columns, tuple(rows), grouping),
        metrics_table(card),
        _pairs("settings", "Settings of the training", card.settings),
        _pairs("range", "Range of inputs", _ranges(card.quantiles), reference),
        _pairs("usual", "Usual values without a polyp (5 to 95 %)", _ranges(card.usual_values)),
        _pairs("hashes", "SHA-256 of", hashes),
    ]
    return [table for table in found if table.rows]


def metrics_table(card: "ModelCard") -> "Table":
    """Return the metrics of a card."""
    from capsieve.result_table import Column, Table

    return Table(
        "metrics",
        f"Performance ({card.evaluation})",
        (
            Column("source", "Source"),
            Column("what", "Metric"),
            Column("value", "Value", "number", 3),
            Column("low", "95 % from", "number", 3),
            Column("high", "to", "number", 3),
            Column("count", "Over", "count"),
        ),
        tuple((m.source, m.what, m.value, m.low, m.high, m.count) for m in card.metrics),
    )


def _pairs(key: str, title: str, content: Mapping[str, Any], caption: str = "") -> "Table":
    from capsieve.result_table import Column, Table

    columns = (Column("entry", "Entry"), Column("value", "Value"))
    rows = tuple((name, _entry(value)) for name, value in content.items())
    return Table(key, title, columns, rows, caption)


def _ranges(quantiles: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    return {name: f"{low:.4g} to {high:.4g}" for name, (low, high) in quantiles.items()}


def _entry(content: object) -> str:
    if isinstance(content, list):
        shown = ", ".join(_entry(each) for each in content[:3])
        return shown if len(content) <= 3 else f"{shown}, ... ({len(content)} in all)"
    if isinstance(content, bool):
        return "yes" if content else "no"
    return f"{content:.6g}" if isinstance(content, float) else str(content)
