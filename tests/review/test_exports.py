"""Downloads: their names, and what they do to other requests."""

import shutil
import threading
from urllib.parse import quote

import pytest

from capsieve.review import exports

HOSTILE = 'x"; filename=evil.exe'


@pytest.mark.parametrize(
    ("exam", "ascii_name", "exact"),
    [
        ("small", "small-labels-", "small-labels-"),
        ("Müller 7", "M-ller-7-labels-", "M%C3%BCller%207-labels-"),
        (HOSTILE, "x---filename-evil-exe-labels-", "x%22%3B%20filename%3Devil.exe-labels-"),
    ],
)
def test_a_file_has_the_name_of_the_exam_and_the_date(
    results, tmp_path, open_app, exam, ascii_name, exact
):
    shutil.copytree(results / "small", tmp_path / "out" / exam)
    client = open_app(tmp_path / "out").client()
    answer = client.get(f"/api/exams/{quote(exam)}/export/labels.csv")
    header = answer.headers["content-disposition"]
    assert header.startswith(f'attachment; filename="{ascii_name}20')
    assert f"filename*=UTF-8''{exact}20" in header
    assert header.count('"') == 2


def test_reports_under_way_delay_no_other_request(client, monkeypatch):
    released = threading.Event()

    def slow(*_):
        released.wait(60)
        return ""

    monkeypatch.setattr(exports, "_report", slow)
    waiting = [
        threading.Thread(target=client.get, args=("/api/exams/small/export/report.html",))
        for _ in range(60)
    ]
    for thread in waiting:
        thread.start()
    try:
        assert client.get("/api/exams/small/reading").status_code == 200
        assert client.get("/api/exams/small/frames/0/0").status_code == 200
    finally:
        released.set()
        for thread in waiting:
            thread.join()
