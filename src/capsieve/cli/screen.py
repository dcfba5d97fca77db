"""``capsieve screen``: whole exams."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import (
    field_of_view_option,
    full_names_option,
    json_option,
    out_folder_option,
    parameters_option,
    quiet_option,
    workers_option,
)

if TYPE_CHECKING:
    from capsieve.engine.screening import ScreenedExam
    from capsieve.engine.views import FieldChoice

__all__ = ["command", "say_found"]

_EXAMPLE = """\b
Example:
  capsieve screen exam.mp4 -o results
  capsieve screen exams/ -o results --workers 8
  capsieve screen exams/ -o learned --detector learned
  capsieve screen front.mp4 back.mp4 --one-exam patient-7 -o results
"""

SCHEMA = 1
"""Version of the JSON object; it grows when a name in it changes its meaning."""


@click.command("screen", epilog=_EXAMPLE)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@out_folder_option(
    "Folder for the results: OUT/EXAM for each exam. An interrupted run goes on there."
)
@click.option(
    "--detector",
    default="paper",
    show_default=True,
    metavar="NAME|FILE.onnx",
    help="What scores frames: paper, curvature, learned, or a model file.",
)
@parameters_option("Parameters other than the paper's; see capsieve parameters.")
@field_of_view_option
@click.option(
    "--one-exam",
    metavar="NAME",
    help="The INPUTs are the heads of one exam of this name, in this order.",
)
@full_names_option
@workers_option
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Work on a Dask cluster: tcp://HOST:PORT, or local:N for N Dask workers here.",
)
@click.option("--fresh", is_flag=True, help="Remove earlier results of these exams first.")
@json_option()
@quiet_option
def command(
    inputs: tuple[str, ...],
    out: Path,
    detector: str,
    parameters_file: Path | None,
    field_of_view: "FieldChoice",
    one_exam: str | None,
    full_names: bool,
    workers: int | None,
    cluster: str | None,
    fresh: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Screen exams for polyps: every frame of every INPUT.

    INPUT is a video, a folder or a ZIP archive of images, a folder of exams, a pattern, or - for
    a video through standard input. Two files NAME-head-0 and NAME-head-1 are one exam, and so are
    two streams of a video.

    Exit status: 0 when every exam is complete, 1 when one failed or has frames missing.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import exam_progress
    from capsieve.engine.screening import screen
    from capsieve.parameters import Parameters

    if workers is not None and cluster is not None:
        raise click.UsageError("--workers is for this machine, --cluster for others: say one.")
    parameters = None if parameters_file is None else Parameters.load(parameters_file)
    announce_compilation()
    with interruptible(fresh=fresh), exam_progress(quiet=quiet) as listener:
        exams = screen(
            inputs,
            out,
            detector=detector,
            parameters=parameters,
            field_of_view=field_of_view,
            workers=workers,
            cluster=cluster,
            fresh=fresh,
            one_exam=one_exam,
            full_names=full_names,
            progress=listener,
        )
    if as_json:
        click.echo(_json(exams))
    else:
        say_found(exams)
    if not all(exam.complete for exam in exams):
        click.get_current_context().exit(1)


def say_found(exams: "Sequence[ScreenedExam]") -> None:
    """Print what was found in each exam, and what went wrong, at the end once more."""
    for exam in exams:
        if exam.record is not None:
            _say_exam(exam, exam.record)
    failed = [exam for exam in exams if exam.record is None]
    partial = [exam for exam in exams if exam.record is not None and not exam.complete]
    for exam in partial:
        click.echo(f"capsieve: {exam.name} is not complete: {_what_is_missing(exam)}", err=True)
    for exam in failed:
        click.echo(f"capsieve: {exam.name} failed: {' '.join(str(exam.error).split())}", err=True)
    if len(exams) > 1:
        done = len(exams) - len(failed)
        frames = sum(exam.record["ledger"]["found"] for exam in exams if exam.record)
        to_read = sum(exam.record["ledger"]["to_read"] for exam in exams if exam.record)
        click.echo(f"{done} of {len(exams)} exams, {frames} frames, {to_read} to read.")


def _say_exam(exam: "ScreenedExam", record: Any) -> None:
    ledger = record["ledger"]
    before = "" if exam.anew else " (screened before)"
    click.echo(
        f"{exam.name}: {ledger['to_read']} of {ledger['found']} frames to read, "
        f"in {_counted(ledger['events'], 'event')}{before}. {exam.report}"
    )
    for warning in record["warnings"]:
        click.echo(f"  {warning}")


def _what_is_missing(exam: "ScreenedExam") -> str:
    assert exam.record is not None
    ledger: Any = exam.record["ledger"]
    names = ("missing", "undecodable", "unscreened", "damaged", "unscorable")
    counts = [f"{_counted(ledger[name], 'frame')} {name}" for name in names if ledger[name]]
    problems = [problem["what"] for problem in exam.record["problems"] if not problem["frames"]]
    return "; ".join([*counts, *problems[:2]]) + f". See {exam.report}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _json(exams: "Sequence[ScreenedExam]") -> str:
    content = {
        "schema": SCHEMA,
        "exams": [
            {
                "exam": exam.name,
                "folder": str(exam.folder),
                "complete": exam.complete,
                "error": None if exam.error is None else str(exam.error),
                "anew": exam.anew,
                "ledger": None if exam.record is None else exam.record["ledger"],
                "warnings": [] if exam.record is None else exam.record["warnings"],
            }
            for exam in exams
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False)
