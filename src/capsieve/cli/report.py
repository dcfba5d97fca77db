"""``capsieve report``: the report of a reading."""

from pathlib import Path

import click

_EXAMPLE = """\b
Example:
  capsieve report results/exam
  capsieve report results/exam -o exam.html --pdf
  capsieve report results/exam --reader anna
  capsieve report results/exam --revision 1 --json
  capsieve report results
"""


@click.command("report", epilog=_EXAMPLE)
@click.argument("exam", type=click.Path(path_type=Path), metavar="OUT[/EXAM]")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report there.  [default: OUT/EXAM/reading.html]",
)
@click.option(
    "--pdf",
    "as_pdf",
    is_flag=True,
    help="Write a PDF as well, beside the HTML; if FILE ends in .pdf, the HTML lies beside it.",
)
@click.option(
    "--database",
    metavar="URL",
    help="Database of the decisions: a file, or postgresql://user@host/name.  [default: in OUT]",
)
@click.option(
    "--reader",
    metavar="NAME",
    help="Whose reading, if an exam is read blind.  [default: the consensus, or the name of "
    "the account]",
)
@click.option(
    "--revision",
    type=click.IntRange(1),
    metavar="N",
    help="Which revision of the reading.  [default: the newest]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the reading as JSON only.")
def command(
    exam: Path,
    out: Path | None,
    as_pdf: bool,
    database: str | None,
    reader: str | None,
    revision: int | None,
    as_json: bool,
) -> None:
    """Write the report of a reading: findings with their frames, landmarks, cleanliness, state.

    With the folder OUT of several exams, write OUT/index.html, which links to their reports.

    OUT/EXAM is the folder of one exam that was read with capsieve review. The report is one HTML
    file that needs no network. What is not signed is marked as a draft.

    Exit code 1 if there is a problem: the signature does not hold, or decisions are missing, cannot
    be read, or do not fit the exam. The report is written, and names the problem first.
    """
    from capsieve.store.record import RECORD

    if exam.is_dir() and not (exam / RECORD).is_file():
        _write_index(exam, out=out, pdf=as_pdf, reader=reader, revision=revision, json=as_json)
        return
    from capsieve.review.extra import require_review

    require_review()
    if as_pdf:
        from capsieve.report.page import require_pdf

        require_pdf()  # before the work, not after it
    from capsieve.atomic_write import check_replaceable
    from capsieve.report import page as pages
    from capsieve.report.reading_facts import gather_reading
    from capsieve.report.reading_report import READING, reading_report
    from capsieve.report.text import plain
    from capsieve.store.exam import Exam

    html, pdf = _files(out or exam / READING, as_pdf=as_pdf)
    check_replaceable(html, *([] if pdf is None else [pdf]))
    Exam(exam).check_tables()
    facts = gather_reading(
        exam, database=database, reader=reader, account=_account(), revision=revision
    )
    page = reading_report(facts)
    pages.write(page.text, html)
    written = [html]
    if pdf is not None:
        pages.pdf(page.text, pdf)
        written.append(pdf)
    from capsieve.report.reading_signatures import report_cautions

    cautions = report_cautions(facts)
    for caution in cautions:
        click.echo(f"capsieve: {plain(caution)}", err=True)
    for number, why in page.without_picture.items():
        click.echo(f"capsieve: no picture of finding {number}: {why}", err=True)
    if as_json:
        import json

        from capsieve.report.reading_json import reading_json

        content = reading_json(facts, page, written)
        click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
    else:
        from capsieve.report.reading_words import state_word

        click.secho(f"{facts.folder.name}: {state_word(facts.chosen.reading)}", bold=True)
        click.echo(" ".join(page.summary))
        for file in written:
            click.echo(f"Wrote {file}")
    if cautions:
        click.get_current_context().exit(1)


def _files(out: Path, *, as_pdf: bool) -> tuple[Path, Path | None]:
    """Return where the HTML and the PDF go."""
    if out.suffix.lower() == ".pdf":
        if not as_pdf:
            raise click.UsageError(f"{out} is the name of a PDF: add --pdf.")
        return out.with_suffix(".html"), out
    if out.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(f"The report is a page: give {out} a name that ends in .html.")
    return out, out.with_suffix(".pdf") if as_pdf else None


def _account() -> str:
    """Return the name of whoever is logged in on this machine; "" where there is none."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _write_index(folder: Path, **options: object) -> None:
    """Write the index of a folder with exams."""
    from capsieve.plurals import number_of
    from capsieve.report.index import write_index
    from capsieve.store.exam import exam_folders

    folders = exam_folders(folder)
    given = [name for name, value in options.items() if value]
    if given:
        raise click.BadParameter(
            f"{folder} is a folder of exams; give the folder of one exam",
            param_hint=f"--{given[0]}",
        )
    click.echo(
        f"Wrote {write_index(folder, folders)}, an index of {number_of(len(folders), 'exam')}"
    )
