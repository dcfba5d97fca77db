"""``capsieve demo``: render, screen and evaluate a synthetic study."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.settings_options import PathType, settings_options
from capsieve.option_fields import option

if TYPE_CHECKING:
    from capsieve.cli.progress import Bar
    from capsieve.result_table import Table
    from capsieve.screening.screen import ScreenedExam
    from capsieve.statistics.results import Evaluation

_PANELS = "nine-panels.png"
_STAGES = {
    "Rendering": 18.0,
    "Screening, paper": 10.0,
    "Screening, learned": 7.0,
    "Evaluating": 6.0,
}
_MEASURES = ("polyps.sensitivity", "frames.sensitivity", "frames.specificity", "frames.auc")

_EXAMPLE = """\b
Example:
  capsieve demo
  capsieve demo -o /tmp/demo
"""


@dataclass(frozen=True)
class DemoSettings:
    """How the demo runs."""

    workers: int | None = option(None, "Processes; by default one per core.", metavar="N", min=1)
    overwrite: bool = option(False, "Replace an earlier demo in this folder.")
    quiet: bool = option(False, "Show no progress.")


@click.command("demo", epilog=_EXAMPLE)
@click.option(
    "-o",
    "--out",
    type=PathType(file_okay=False),
    default=Path("capsieve-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the study and the results.",
)
@settings_options(DemoSettings)
def command(settings: DemoSettings, out: Path) -> None:
    """Render a synthetic study of five exams, screen it and evaluate the results.

    The study has 16 polyps. The published algorithm and, if it is installed, the learned detector
    are compared with equally many frames to read. An interrupted demo continues with the same
    command.
    """
    from capsieve.atomic_write import check_replaceable
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import progress_bar
    from capsieve.errors import file_errors
    from capsieve.evaluation.evaluate import evaluate
    from capsieve.report import tables
    from capsieve.report.index import write_index

    with file_errors("create the folder", out):
        out.mkdir(parents=True, exist_ok=True)
    check_replaceable(out / _PANELS)
    announce_compilation()
    if not settings.quiet:
        click.echo("Rendering, screening and evaluating five synthetic exams ...", err=True)
    # Without a terminal one line is enough.
    quiet = settings.quiet or not sys.stderr.isatty()
    with interruptible(overwrite=settings.overwrite), progress_bar(_STAGES, quiet=quiet) as bar:
        study = _render(out / "study", settings, bar)
        paper = _screen(study, out / "results", settings, bar, "Screening, paper")
        learned = None
        if find_spec("onnxruntime") is not None:
            counts = [exam.record["frame_counts"] for exam in paper if exam.record is not None]
            read = max(round(sum(count["to_read"] for count in counts) / len(counts)), 1)
            stage = "Screening, learned"
            learned = _screen(study, out / "results-learned", settings, bar, stage, read)
        bar.start("Evaluating")
        evaluation = evaluate(
            out / "results",
            study / "labels.csv",
            out / "evaluation",
            regions=study,
            baseline=None if learned is None else out / "results-learned",
        )
        bar.update(0.8)
        panels = _explain_best_polyp(evaluation, out)
        done = [exam.folder for exam in paper if exam.record is not None]
        index = write_index(out / "results", done)
    click.echo(f"\n{tables.terminal(_exam_table(paper, learned), title=False)}")
    click.echo(f"\n{tables.terminal(_result_table(evaluation), title=False)}")
    click.echo("\nThe frames are synthetic: these numbers test the software, not a detector.")
    paths = {
        "Exams": index,
        "Evaluation": out / "evaluation" / "report.html",
        "Best polyp": panels,
        "Study": study,
    }
    for title, path in paths.items():
        if path is not None:
            click.echo(f"{title + ':':<12}{path.absolute()}")
    click.echo(f"{'Read them:':<12}{_review_command(out / 'results')}")
    failed = [exam for exam in (*paper, *(learned or ())) if not exam.complete]
    for exam in failed:
        click.echo(f"capsieve: {exam.name} is not complete. {exam.error or ''}".rstrip(), err=True)
    if failed:
        click.get_current_context().exit(1)


def _render(folder: Path, settings: DemoSettings, bar: "Bar") -> Path:
    from capsieve.cli.progress import frame_counter
    from capsieve.phantom import plan_study, write_study

    plan = plan_study("demo")
    bar.start("Rendering")
    advance = frame_counter(bar, sum(exam.plan.frames for exam in plan.exams))
    return write_study(
        plan,
        folder,
        workers=settings.workers,
        overwrite=settings.overwrite,
        progress=lambda exam, count: advance(count),
    ).parent


def _screen(
    study: Path, out: Path, settings: DemoSettings, bar: "Bar", stage: str, read: int | None = None
) -> "list[ScreenedExam]":
    """Screen with the paper's detector, or with the learned one and a reading list."""
    from capsieve.cli.progress import exam_listener
    from capsieve.screening.screen import screen

    bar.start(stage)
    return screen(
        study / "exams",
        out,
        detector="paper" if read is None else "learned",
        read=read,
        workers=settings.workers,
        overwrite=settings.overwrite,
        progress=exam_listener(bar),
    )


def _exam_table(
    paper: "Sequence[ScreenedExam]", learned: "Sequence[ScreenedExam] | None"
) -> "Table":
    """Frames, frames to read and events of each exam by detector."""
    from capsieve.result_table import Column, Table

    columns = [Column("exam", "Exam"), Column("frames", "Frames", "count")]
    rows = [[exam.name, *_counts(exam, "found")] for exam in paper]
    for name, exams in {"paper": paper, "learned": learned}.items():
        if exams is not None:
            columns.append(Column(f"{name}_to_read", f"To read, {name}", "count"))
            columns.append(Column(f"{name}_events", f"Events, {name}", "count"))
            counts = [_counts(exam, "to_read", "events") for exam in exams]
            rows = [[*row, *more] for row, more in zip(rows, counts, strict=True)]
    return Table("exams", "Exams", tuple(columns), tuple(map(tuple, rows)))


def _counts(exam: "ScreenedExam", *names: str) -> list[int | None]:
    counts = None if exam.record is None else exam.record["frame_counts"]
    return [None if counts is None else counts[name] for name in names]


def _result_table(evaluation: "Evaluation") -> "Table":
    """The main results of the paper's detector and, at the same share read, of the learned one."""
    from capsieve.report import text
    from capsieve.result_table import Column, Table

    both = evaluation.comparison
    sides = [evaluation.metrics] if both is None else [both.first, both.second]
    found = [{each.key: each for each in side if each.subset == "all"} for side in sides]
    read = text.metric(evaluation.metric("effort.share_of_frames"))
    rows = []
    for key in _MEASURES:
        values = [f"{text.metric(side[key])} {text.counts(side[key])}".strip() for side in found]
        rows.append((found[0][key].name, *values))
    columns = (
        Column("measure", f"{read} of the frames read"),
        *(Column(name, name, "number") for name in ("paper", "learned")[: len(found)]),
    )
    return Table("results", "Results", columns, tuple(rows))


def _review_command(results: Path) -> str:
    """Return the command that opens the results in the review app, as this one was called."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        program = f"{shlex.quote(sys.executable)} -m capsieve"
    else:
        program = "capsieve" if shutil.which("capsieve") else shlex.quote(str(called))
    command = f"{program} review {shlex.quote(str(results.absolute()))}"
    if find_spec("fastapi") is None or find_spec("sqlalchemy") is None:
        return f"pip install 'capsieve[review]' && {command}"
    return command


def _explain_best_polyp(evaluation: "Evaluation", out: Path) -> Path | None:
    """Draw the nine panels of the found polyp with the highest score."""
    import capsieve
    from capsieve.report import figures
    from capsieve.report.nine_panels import nine_panels
    from capsieve.store.exam import Exam

    row = best_polyp_frame(evaluation)
    if row is None:
        return None
    frames = evaluation.frames
    exam, head = Exam(Path(evaluation.results) / str(frames.exam[row])), int(frames.head[row])
    with exam.reader(head) as reader:
        pixels = reader.pixels(int(frames.frame[row]))
    field_of_view = exam.field_of_view(head, *pixels.shape[:2])
    explanation = capsieve.explain(pixels, exam.parameters, field_of_view)
    path = out / _PANELS
    figures.save(nine_panels(explanation, exam.parameters), path)
    return path


def best_polyp_frame(evaluation: "Evaluation") -> int | None:
    """Return the row of the flagged polyp frame with the highest score and the ball on the polyp.

    None if there is no such frame. Without outlines every flagged polyp frame counts.
    """
    frames = evaluation.frames
    found = frames.flagged & frames.polyp_frames
    if evaluation.on_polyp is not None:
        found &= evaluation.on_polyp
    return max(found.nonzero()[0].tolist(), key=lambda row: frames.score[row], default=None)
