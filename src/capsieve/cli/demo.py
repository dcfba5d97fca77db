"""``capsieve demo``: render, screen and evaluate a synthetic study."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.options import workers_option

if TYPE_CHECKING:
    from capsieve.result_table import Table
    from capsieve.screening.screen import ScreenedExam
    from capsieve.statistics.results import Evaluation

__all__ = ["best_polyp_frame", "command"]

_PANELS = "nine-panels.png"

_EXAMPLE = """\b
Example:
  capsieve demo
  capsieve demo -o /tmp/demo
"""


@click.command("demo", epilog=_EXAMPLE)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("capsieve-demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the study and the results.",
)
@workers_option
@click.option("--overwrite", is_flag=True, help="Replace an earlier demo in this folder.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(out: Path, workers: int | None, overwrite: bool, quiet: bool) -> None:
    """Render a synthetic study of five exams, screen it and evaluate the results.

    The study has 16 polyps. An interrupted demo continues with the same command.
    """
    from capsieve.atomic_write import check_replaceable
    from capsieve.cli.output import say_compiling
    from capsieve.cli.progress import exam_progress, frame_progress
    from capsieve.compiling import is_compiled
    from capsieve.errors import FileError
    from capsieve.evaluation.evaluate import evaluate
    from capsieve.phantom import plan_study, write_study
    from capsieve.report import tables
    from capsieve.report.evaluation import summary
    from capsieve.screening.screen import screen

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot create the folder {out}: {error.strerror}") from error
    check_replaceable(out / _PANELS)
    if not is_compiled("analysis"):
        say_compiling()
    plan = plan_study("demo")
    total = sum(exam.plan.frames for exam in plan.exams)
    click.echo(f"Rendering a synthetic study of {len(plan.exams)} exams ...", err=True)
    quiet = quiet or not sys.stderr.isatty()  # keep logs short
    with frame_progress("Rendering", total, quiet=quiet) as advance:
        study = write_study(
            plan,
            out / "study",
            workers=workers,
            overwrite=overwrite,
            progress=lambda exam, count: advance(count),
        ).parent
    click.echo("Screening it with the published algorithm as printed ...", err=True)
    with exam_progress(quiet=quiet) as listener:
        exams = screen(
            study / "exams",
            out / "results",
            workers=workers,
            overwrite=overwrite,
            progress=listener,
        )
    click.echo("Evaluating the results against the ground truth ...", err=True)
    evaluation = evaluate(out / "results", study / "labels.csv", out / "evaluation", regions=study)
    panels = _explain_best_polyp(evaluation, out)
    click.echo(f"\n{tables.terminal(_exam_table(exams), title=False)}")
    click.echo(f"\n{tables.terminal(summary(evaluation))}")
    click.echo("\nThe frames are synthetic: these values test the software, not a detector.")
    paths = {
        "Reports of the exams": out / "results" / "EXAM" / "report.html",
        "Report of the evaluation": out / "evaluation" / "report.html",
        "Evidence for the best polyp": panels,
        "Study with ground truth": study,
    }
    for title, path in paths.items():
        if path is not None:
            click.echo(f"{title + ':':<29}{path.absolute()}")
    click.echo(f"{'Read the exams:':<29}{_review_command(out / 'results')}")
    if not all(exam.complete for exam in exams):
        for exam in exams:
            if exam.error is not None:
                click.echo(f"capsieve: {exam.name} failed: {exam.error}", err=True)
        click.get_current_context().exit(1)


def _exam_table(exams: "Sequence[ScreenedExam]") -> "Table":
    from capsieve.result_table import Column, Table

    labels = {"found": "Frames", "to_read": "To read", "events": "Events"}
    counts = [exam.record["frame_counts"] if exam.record is not None else {} for exam in exams]
    rows = [[count.get(key) for key in labels] for count in counts]
    return Table(
        "exams",
        "Exams",
        (Column("exam", "Exam"), *(Column(*each, "count") for each in labels.items())),
        tuple((exam.name, *row) for exam, row in zip(exams, rows, strict=True)),
        total=("Total", *(sum(filter(None, column)) for column in zip(*rows, strict=True))),
    )


def _review_command(results: Path) -> str:
    """Return the command that opens the results in the review app, as this one was called."""
    from importlib.util import find_spec

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
