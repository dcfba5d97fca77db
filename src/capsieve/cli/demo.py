"""``capsieve demo``: the whole way on a synthetic study, with nothing else needed."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from capsieve.cli.options import workers_option

if TYPE_CHECKING:
    from capsieve.engine.screening import ScreenedExam

__all__ = ["as_called", "command"]

_TRAINING = "4"  # the paper's training patient

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
    help="Folder for study and results; it is made where it is absent.",
)
@workers_option
@click.option("--fresh", is_flag=True, help="Start over, whatever the folder holds.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def command(out: Path, workers: int | None, fresh: bool, quiet: bool) -> None:
    """Render a synthetic study, screen it, and judge what was found by the truth.

    The study has five patients and 16 polyps. As in the paper, the threshold is chosen on patient
    4. An interrupted demo goes on where it was.
    """
    from capsieve.cli.evaluate import say_evaluation
    from capsieve.cli.output import say_first_run
    from capsieve.cli.progress import exam_progress, frame_progress
    from capsieve.cli.screen import say_found
    from capsieve.engine.evaluating import evaluate
    from capsieve.engine.screening import screen
    from capsieve.errors import FileError
    from capsieve.phantom.study import plan_study
    from capsieve.phantom.writing import write_study

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"cannot make the folder {out}: {error.strerror}") from error
    say_first_run()
    click.echo("Rendering a synthetic study: five patients, 16 polyps.", err=True)
    plan = plan_study("demo")
    total = sum(exam.plan.frames for exam in plan.exams)
    with frame_progress("Rendering", total, quiet=quiet) as advance:
        study = write_study(
            plan,
            out / "study",
            workers=workers,
            fresh=fresh,
            progress=lambda exam, count: advance(count),
        ).parent
    click.echo("Screening it.", err=True)
    with exam_progress(quiet=quiet) as listener:
        exams = screen(
            study / "exams", out / "results", workers=workers, fresh=fresh, progress=listener
        )
    click.echo("Judging it by the truth.", err=True)
    evaluation = evaluate(
        out / "results",
        study / "labels.csv",
        out / "evaluation",
        regions=study,
        train_patients=[_TRAINING],
    )
    panels = _explain_best(exams, out)
    say_found(exams)
    click.echo()
    say_evaluation(evaluation)
    click.echo()
    click.echo(f"The study and its truth:       {study.absolute()}")
    if panels is not None:
        click.echo(f"The best event, step by step:  {panels.absolute()}")
    click.echo(f"An exam, to read:              {exams[0].report}")
    click.echo(f"All figures, in a browser:     {(out / 'evaluation' / 'report.html').absolute()}")
    click.echo(f"The exams, to read and decide: {_reading_command(out / 'results')}")
    if not all(exam.complete for exam in exams):
        click.get_current_context().exit(1)


def _reading_command(results: Path) -> str:
    """Return what to type to read the exams, with what is missing for it."""
    from importlib.util import find_spec

    command = f"{as_called()} review {shlex.quote(str(results.absolute()))}"
    if find_spec("fastapi") is None or find_spec("sqlalchemy") is None:
        return f"pip install 'capsieve[review]' && {command}"
    return command


def as_called() -> str:
    """Return how this program was called, so that the next command finds it too."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m capsieve"
    return "capsieve" if shutil.which("capsieve") else shlex.quote(str(called))


def _explain_best(exams: "Sequence[ScreenedExam]", out: Path) -> Path | None:
    """Draw the nine panels of the best event of all."""
    import pyarrow.parquet as pq

    import capsieve
    from capsieve.report.nine_panels import nine_panels, save_figure
    from capsieve.store.recall import recall

    best: tuple[float, Path, int] | None = None
    for exam in exams:
        if exam.record is not None and exam.record["ledger"]["events"]:
            first = pq.read_table(exam.folder / "events.parquet").slice(0, 1).to_pylist()[0]
            if best is None or first["score"] > best[0]:
                best = first["score"], exam.folder, first["best_frame"]
    if best is None:
        return None
    frame = recall(best[1], best[2])
    explanation = capsieve.explain(frame.pixels, frame.parameters, frame.field_of_view)
    path = out / "nine-panels.png"
    save_figure(nine_panels(explanation, frame.parameters), path)
    return path
