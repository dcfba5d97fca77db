"""``capsieve screen``: screen exams."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.field_of_view import FieldOfViewType
from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import ParametersFile, json_option, out_folder_option, quiet_option
from capsieve.cli.reader_entries import database_option, exams_with_entries
from capsieve.cli.settings_options import settings_options
from capsieve.screening.settings import ScreenSettings

if TYPE_CHECKING:
    from capsieve.screening.screen import ScreenedExam

_EXAMPLE = """\b
Example:
  capsieve screen exam.mp4 -o results
  capsieve screen exams/ -o results --workers 8
  capsieve screen exams/ -o learned --detector learned --read 5%
"""

SCHEMA = 3
"""Version of the JSON object; it grows when a name in it changes its meaning."""

_NAMED = 5  # exams that a message names
_INCOMPLETE = ("missing", "undecodable", "unscreened", "damaged", "unscorable")


@click.command("screen", epilog=_EXAMPLE)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@out_folder_option(
    "Folder for the results: OUT/EXAM for each exam. An interrupted run is continued."
)
@settings_options(
    ScreenSettings,
    detector=click.STRING,
    parameters=ParametersFile(),
    read=click.STRING,
    field_of_view=FieldOfViewType("auto", "whole"),
)
@database_option
@json_option()
@quiet_option
def command(
    settings: ScreenSettings,
    inputs: tuple[str, ...],
    out: Path,
    database: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Screen exams for polyps: every frame of every INPUT.

    INPUT is a video, a folder or a ZIP archive of images, a folder of exams, or a pattern. Two
    files NAME-head-0 and NAME-head-1 are one exam, and so are two streams of a video.

    With --overwrite, exams that have entries of readers are not changed.

    Exit status: 0 if every exam is complete, 1 if one failed or has missing frames.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import exam_progress
    from capsieve.screening.screen import screen

    if not all(inputs):
        raise click.BadParameter("the path is empty", param_hint="INPUT")
    protected = exams_with_entries(out, database) if settings.overwrite else {}
    announce_compilation()
    with interruptible(overwrite=settings.overwrite), exam_progress(quiet=quiet) as listener:
        exams = screen(inputs, out, settings=settings, progress=listener, protected=protected)
    if as_json:
        click.echo(exams_json(exams))
    else:
        say_found(exams, out)
    if not all(exam.complete for exam in exams):
        click.get_current_context().exit(1)


def say_found(exams: "Sequence[ScreenedExam]", out: Path) -> None:
    """Print the detector, the frames to read of each exam, and what is incomplete or failed."""
    from capsieve.cli.output import say
    from capsieve.report.words import detector_words

    for detector in dict.fromkeys(
        detector_words(exam.record["detector"]) for exam in exams if exam.record is not None
    ):
        say(f"Detector: {detector}")
    for exam in exams:
        if exam.record is not None:
            counts = exam.record["frame_counts"]
            say(
                f"{exam.name}: {counts['to_read']} of {counts['found']} frames to read, in "
                f"{_counted(counts['events'], 'event')}{'' if exam.new else ' (screened before)'}. "
                f"{exam.report}"
            )
            for warning in exam.record["warnings"]:
                say(f"  {warning}")
    for exam in exams:
        if exam.error is None and not exam.complete:
            say(f"capsieve: {exam.name} is not complete: {_what_is_missing(exam)}", err=True)
    for message, names in _failures(exams, out).items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        say(f"capsieve: {', '.join(names[:_NAMED])}{more}: {message}", err=True)
    records = [exam.record["frame_counts"] for exam in exams if exam.record is not None]
    if len(exams) > 1 and records:
        done = sum(exam.error is None for exam in exams)
        frames, to_read = (sum(counts[name] for counts in records) for name in ("found", "to_read"))
        say(f"{done} of {len(exams)} exams, {frames} frames, {to_read} to read.")


def _failures(exams: "Sequence[ScreenedExam]", out: Path) -> dict[str, list[str]]:
    """Return the names of the exams by message, with OUT/EXAM for the folders of several."""
    failed = [exam for exam in exams if exam.error is not None]
    names: defaultdict[str, list[str]] = defaultdict(list)
    for exam in failed:
        message = str(exam.error)
        if len(failed) > 1:
            message = message.replace(str(exam.folder), str(out.absolute() / "EXAM"))
        names[message].append(exam.name)
    return names


def _what_is_missing(exam: "ScreenedExam") -> str:
    assert exam.record is not None
    counts: Any = exam.record["frame_counts"]
    frames = [f"{_counted(counts[name], 'frame')} {name}" for name in _INCOMPLETE if counts[name]]
    problems = [problem["what"] for problem in exam.record["problems"] if not problem["frames"]]
    return "; ".join([*frames, *problems[:2]]) + f". See {exam.report}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def exams_json(exams: "Sequence[ScreenedExam]") -> str:
    """Return the outcome of every exam as JSON."""
    content = {
        "schema": SCHEMA,
        "exams": [
            {
                "exam": exam.name,
                "folder": str(exam.folder),
                "complete": exam.complete,
                "error": None if exam.error is None else str(exam.error),
                "new": exam.new,
                "frame_counts": None if exam.record is None else exam.record["frame_counts"],
                "flagging": None if exam.record is None else exam.record["flagging"],
                "warnings": [] if exam.record is None else exam.record["warnings"],
            }
            for exam in exams
        ],
    }
    return json.dumps(content, indent=2, allow_nan=False)
