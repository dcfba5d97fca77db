"""index.html over the screened exams of a folder, with links to their reports."""

from collections.abc import Sequence
from pathlib import Path

from capsieve.errors import FileError, file_errors
from capsieve.report import page, text
from capsieve.report.words import detector_words, flag_threshold
from capsieve.store.record import read_record

INDEX = "index.html"

_MARK = 'class="exam-index"'


def write_index(out: Path, exams: Sequence[Path]) -> Path:
    """Write OUT/index.html: a row per exam, in the given order. Return its path.

    Parameters
    ----------
    out
        The folder that contains the folders of the exams.
    exams
        The folders of finished exams.

    Raises
    ------
    FileError
        A record cannot be read, or index.html is another page.
    """
    path = out / INDEX
    with file_errors("read", path):
        other = path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace")
    if other:
        raise FileError(f"{path} exists and is not an index of exams; rename or remove it")
    records = [(folder, read_record(folder)) for folder in exams]
    rows = [
        {
            "exam": text.plain(record["exam"]),
            "link": f"{folder.name}/report.html",
            "reading": f"{folder.name}/reading.html" if (folder / "reading.html").is_file() else "",
            "record": record,
            "counts": record["frame_counts"],
            "last": flag_threshold(record),
            "own": record["flagging"]["score_threshold"],
        }
        for folder, record in records
    ]
    detectors = dict.fromkeys(detector_words(record["detector"]) for _, record in records)
    total = {
        name: sum(record["frame_counts"][name] for _, record in records)
        for name in ("found", "to_read", "events")
    }
    html = page.render(
        "index.html", name=text.plain(out.resolve().name), rows=rows, detectors=list(detectors),
        total=total,
    )  # fmt: skip
    page.write(html, path)
    return path
