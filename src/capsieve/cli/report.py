"""``capsieve report``: the report of a reading, or an index of exams."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import click

from capsieve.cli.options import json_option
from capsieve.cli.settings_options import PathType, settings_options

_EXAMPLE = """\b
Example:
  capsieve report results/exam
  capsieve report results/exam -o exam.html --pdf
  capsieve report results/exam --reader anna
  capsieve report results/exam --revision 1 --json
  capsieve report results
"""


@dataclass(frozen=True)
class ReportSettings:
    """Which reading, and as what."""

    pdf: bool = field(
        default=False,
        metadata={"help": "Write a PDF as well. HTML and PDF have the same name and folder."},
    )
    database: str | None = field(
        default=None,
        metadata={
            "help": "Database of the decisions: a file, or postgresql://user@host/name.  "
            "[default: in OUT]",
            "metavar": "URL",
        },
    )
    reader: str | None = field(
        default=None,
        metadata={
            "help": "The reader, if an exam is read blind.  [default: the consensus, or the name "
            "of the account]",
            "metavar": "NAME",
        },
    )
    revision: int | None = field(
        default=None,
        metadata={
            "help": "Revision of the reading.  [default: the newest]",
            "metavar": "N",
            "min": 1,
        },
    )


@click.command("report", epilog=_EXAMPLE)
@click.argument("exam", type=PathType(), metavar="OUT[/EXAM]")
@click.option(
    "-o",
    "--out",
    type=PathType(dir_okay=False),
    metavar="FILE",
    help="Write the report there.  [default: OUT/EXAM/reading.html]",
)
@settings_options(ReportSettings)
@json_option("the reading as JSON")
def command(settings: ReportSettings, exam: Path, out: Path | None, as_json: bool) -> None:
    """Write the report of a reading, or for OUT an index of its exams with links to their reports.

    OUT/EXAM is the folder of one exam that was read with capsieve review. The report is one HTML
    file that needs no network, with the findings and their frames, landmarks and cleanliness. An
    unsigned reading is marked as a draft.

    Exit status: 1 if the signature is not valid, or decisions are missing, cannot be read, or do
    not fit the exam. The report is written and names the problem first.
    """
    from capsieve.atomic_write import check_replaceable
    from capsieve.cli.output import say
    from capsieve.report import page
    from capsieve.report.reading_facts import gather_reading
    from capsieve.report.reading_report import READING, reading_json, reading_report
    from capsieve.report.reading_text import state_name
    from capsieve.store.exam import Exam
    from capsieve.store.record import RECORD

    if exam.is_dir() and not (exam / RECORD).is_file():
        _write_index(exam, settings, out=out, json=as_json)
        return
    html, pdf = _files(out or exam / READING, pdf=settings.pdf)
    if pdf is not None:
        page.require_pdf()  # before the work, not after it
    files = [html] if pdf is None else [html, pdf]
    check_replaceable(*files)
    Exam(exam).check_tables()
    facts = gather_reading(
        exam,
        database=settings.database,
        reader=settings.reader,
        account=_account(),
        revision=settings.revision,
    )
    report = reading_report(facts)
    page.write(report.html, html)
    if pdf is not None:
        page.pdf(report.html, pdf)
    for caution in facts.cautions:
        say(f"capsieve: {caution}", err=True)
    for number, why in report.without_image.items():
        say(f"capsieve: no image of finding {number}: {why}", err=True)
    if as_json:
        content = reading_json(facts, report, files)
        click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        click.secho(f"{facts.folder.name}: {state_name(facts.reading)}", bold=True)
        say(" ".join(report.summary))
        for file in files:
            say(f"Wrote {file}")
    if facts.cautions:
        click.get_current_context().exit(1)


def _files(out: Path, *, pdf: bool) -> tuple[Path, Path | None]:
    """Return the names of the page and the PDF."""
    if out.suffix.lower() == ".pdf":
        if not pdf:
            raise click.UsageError(f"{out} is the name of a PDF: add --pdf.")
        return out.with_suffix(".html"), out
    if out.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"The report is a page: give {out} a name that ends in .html.")
    return out, out.with_suffix(".pdf") if pdf else None


def _account() -> str:
    """Return the name of the account on this machine; "" if there is none."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _write_index(folder: Path, settings: ReportSettings, **options: object) -> None:
    """Write the index of a folder of exams."""
    from dataclasses import asdict

    from capsieve.cli.output import say
    from capsieve.plurals import number_of
    from capsieve.report.index import write_index
    from capsieve.store.exam import exam_folders

    folders = exam_folders(folder)
    for name, value in (options | asdict(settings)).items():
        if value:
            raise click.BadParameter(
                f"{folder} is a folder of exams; give the folder of one exam",
                param_hint=f"'--{name}'",
            )
    path = write_index(folder, folders)
    say(f"Wrote {path}, an index of {number_of(len(folders), 'exam')}")
