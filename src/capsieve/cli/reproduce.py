"""``capsieve reproduce``: the paper's study on the phantom or on one's own exams."""

from pathlib import Path

import click

from capsieve.cli.interrupting import interruptible
from capsieve.cli.options import out_folder_option, quiet_option
from capsieve.cli.settings_options import settings_options
from capsieve.reproduce.options import ReproduceOptions

_EXAMPLE = """\b
Example:
  capsieve reproduce -o study
  capsieve reproduce --short -o study
  capsieve reproduce --exams exams/ --labels labels.csv --train-patient 4 -o study
"""


@click.command("reproduce", epilog=_EXAMPLE)
@out_folder_option("Folder of the study. An interrupted run is continued.", "STUDY")
@settings_options(ReproduceOptions)
@quiet_option
def command(settings: ReproduceOptions, out: Path, quiet: bool) -> None:
    """Reproduce the paper's study: every figure and table next to the paper's numbers.

    Renders synthetic exams with the paper's numbers of frames, screens them with both readings of
    the paper, and writes one page. With --exams, --labels and --train-patient it makes the same
    page from your own exams.
    """
    from capsieve.cli.output import announce_compilation
    from capsieve.cli.progress import stage_progress
    from capsieve.report import tables
    from capsieve.reproduce.run import reproduce
    from capsieve.reproduce.study import STAGES

    announce_compilation()
    rendered = settings.exams is None
    stages = {name: share for name, share in STAGES.items() if rendered or name != "rendering"}
    with (
        interruptible(overwrite=settings.overwrite),
        stage_progress(stages, quiet=quiet) as progress,
    ):
        done = reproduce(out, options=settings, progress=progress)
    click.echo(tables.terminal(done.tables["readings"]))
    if rendered:
        click.echo("\nThe frames are synthetic: expect other values for real exams.")
    click.echo(f"Page: {done.page.absolute()}")
