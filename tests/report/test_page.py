"""Pages: templates, images, PDF files."""

import base64
import builtins
import re
import sys
from hashlib import sha256

import jinja2
import numpy as np
import pytest

from capsieve.errors import FileError, MissingExtraError
from capsieve.report import page
from support.html_page import Page
from support.readings import ExamReader, made_report
from support.small_exam import write_small_exam


@pytest.mark.parametrize("script", ["", "exam.js"])
def test_the_policy_allows_the_style_sheet_and_the_script_alone(script):
    html = page.render("base.html", script=script)
    [policy] = [value for value in Page(html).values("content") if "default-src" in value]
    assert "default-src 'none'" in policy
    assert "img-src data:;" in policy
    for tag in ("style", "script"):
        found = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        allowed = re.findall(f"{tag}-src '(.*?)'", policy)
        digests = [base64.b64encode(sha256(each.encode()).digest()).decode() for each in found]
        assert allowed == [f"sha256-{digest}" for digest in digests]
    assert ("script-src" in policy) == bool(script)


def test_a_name_that_is_not_passed_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        page.render("evaluation.html")


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"\x89PNG\r", "png"), (b"\xff\xd8\xff\xe0", "jpeg"), (b"<?xml ?><svg/>", "svg+xml")],
)
def test_pictures_become_data_urls_of_their_kind(content, kind):
    start, _, rest = page.image(content).partition(",")
    assert start == f"data:image/{kind};base64"
    assert base64.b64decode(rest) == content


def test_frames_become_jpeg_files_and_nothing_becomes_nothing():
    assert page.image(np.zeros((8, 8, 3), np.uint8)).startswith("data:image/jpeg;base64,")
    assert page.image(None) == ""


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
        page.require_pdf()


def test_a_missing_library_of_the_system_is_one_sentence(monkeypatch):
    refused(monkeypatch, OSError("cannot load library 'libpango'\nand much more"))
    with pytest.raises(MissingExtraError, match="Pango") as error:
        page.require_pdf()
    assert "\n" not in str(error.value)


@pytest.fixture
def weasyprint():
    try:
        return page.require_pdf()
    except MissingExtraError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_a_report_becomes_the_same_pdf_twice(weasyprint, tmp_path):
    exam = write_small_exam(tmp_path / "out", tmp_path / "source")
    ExamReader(exam).add_finding("a", 3, note="a note")
    _, made = made_report(exam)
    files = [tmp_path / name for name in ("one.pdf", "two.pdf")]
    for file in files:
        page.pdf(made.html, file)
    one, two = (file.read_bytes() for file in files)
    assert one.startswith(b"%PDF-")
    assert b"/DCTDecode" in one  # the frame, as the JPEG that it is
    assert one == two


@pytest.mark.slow
@pytest.mark.parametrize("address", ["file:///etc/hostname", "http://127.0.0.1:9/a.png"])
def test_nothing_outside_of_the_page_is_read(weasyprint, tmp_path, address):
    with pytest.raises(FileError, match="outside"):
        page.pdf(f'<img src="{address}">', tmp_path / "page.pdf")
    assert not (tmp_path / "page.pdf").exists()
