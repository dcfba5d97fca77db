"""The report as PDF."""

import builtins
import sys

import pytest

from capsieve.errors import FileError, MissingExtraError
from capsieve.report.page import pdf, require_pdf
from support.readings import ExamReader, made_report
from support.small_exam import write_small_exam


def refused(monkeypatch, error):
    """Let the import of the package fail."""
    real = builtins.__import__

    def importing(name, *arguments, **options):
        if name == "weasyprint":
            raise error
        return real(name, *arguments, **options)

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(builtins, "__import__", importing)


def test_a_missing_package_is_named(monkeypatch):
    refused(monkeypatch, ImportError("no"))
    with pytest.raises(MissingExtraError, match=r"capsieve\[pdf\]"):
        require_pdf()


def test_a_missing_library_of_the_system_is_one_sentence(monkeypatch):
    refused(monkeypatch, OSError("cannot load library 'libpango'\nand much more"))
    with pytest.raises(MissingExtraError, match="Pango") as error:
        require_pdf()
    assert "\n" not in str(error.value)


@pytest.fixture
def weasyprint():
    try:
        return require_pdf()
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_the_report_becomes_the_same_pdf_twice(weasyprint, tmp_path):
    exam = write_small_exam(tmp_path / "out", tmp_path / "source")
    ExamReader(exam).add_finding("a", 3, note="a note")
    _, page = made_report(exam)
    files = [tmp_path / name for name in ("one.pdf", "two.pdf")]
    for file in files:
        pdf(page.text, file)
    one, two = (file.read_bytes() for file in files)
    assert one.startswith(b"%PDF-")
    assert b"/DCTDecode" in one  # the frame, as the JPEG that it is
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("address", ["file:///etc/hostname", "http://127.0.0.1:9/a.png"])
def test_nothing_outside_of_the_page_is_read(weasyprint, tmp_path, address):
    with pytest.raises(FileError, match="outside"):
        pdf(f'<img src="{address}">', tmp_path / "page.pdf")
    assert not (tmp_path / "page.pdf").exists()
