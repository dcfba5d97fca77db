"""The frozen parts: each computes tables of rows with the present program.

The demo study is cut: each exam becomes three of about 45 frames, each of a patient of its own,
because intervals over patients need ten of them.
"""

import csv
import hashlib
import io
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

import capsieve
from frozen import names
from sample_frames import GOLDEN_FRAMES, golden_frame
from support.review_server import serve_review

__all__ = ["PARTS", "Row", "Runs", "Tables"]

Row = dict[str, Any]
Tables = dict[str, list[Row]]

CUT = 45  # frames
ROUNDS = 3  # of the small study in the long exam, which then has more than one segment
LONG_EXAM = "long"


class Runs:
    """Runs of the program that several parts share; each is done once, when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.study = cache(self._study)
        self.screened = cache(self._screened)
        self.long_exam = cache(self._long_exam)
        self.resumed = cache(self._resumed)

    def folder(self, name: str) -> Path:
        """Return an empty folder."""
        made = self._folder / name
        made.mkdir(parents=True)
        return made

    def _study(self, name: str) -> Path:
        """Return a folder with the exams and the labels of a study."""
        rendered = self._folder / f"rendered-{name}"
        run(*names.RENDER[name], names.OUT, rendered)
        return _cut(rendered, self.folder(f"study-{name}")) if name == "demo" else rendered

    def _screened(self, study: str, detector: str, *, automatic: bool = False) -> Path:
        """Return the results of a study."""
        out = self._folder / f"screened-{study}-{detector}{'-automatic' * automatic}"
        run(*_screen(self.study(study) / names.STUDY_EXAMS, out, detector, automatic=automatic))
        return out

    def _long_exam(self) -> Path:
        """Return a folder with the frames of the small study, several times one after another."""
        folder = self.folder(LONG_EXAM)
        files = frame_files(self.study("small"))
        for number, (_, _, file) in enumerate(files * ROUNDS):
            os.link(file, folder / f"{number:06}{file.suffix}")
        return folder

    def _resumed(self) -> Path:
        """Return the results of the long exam, from a run that was killed and one that went on."""
        out = self._folder / "resumed"
        command = _screen(self.long_exam(), out, "paper")
        exam = out / LONG_EXAM
        with subprocess.Popen(_command(*command), stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and not list(exam.glob(names.UNFINISHED_SEGMENTS)):
                time.sleep(0.005)
            process.kill()
        assert process.returncode == -signal.SIGKILL, "the run ended before it could be killed"
        assert list(exam.glob(names.UNFINISHED_SEGMENTS))
        assert not (exam / names.RECORD).exists()
        run(*command)
        return exam


def run(*arguments: str | Path) -> str:
    """Run the program; return its output."""
    done = subprocess.run(_command(*arguments), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "capsieve", *map(str, arguments)]


def _screen(
    source: Path, out: Path, detector: str, *, automatic: bool = False
) -> tuple[str | Path, ...]:
    command, *options = names.SCREEN
    fixed = () if automatic else names.SCREEN_FIELD_OF_VIEW
    return command, source, *options, names.SCREEN_DETECTOR, detector, *fixed, names.OUT, out


def _cut(study: Path, parts: Path) -> Path:
    """Link the frames of a study to shorter exams, each of a patient of its own."""
    with (study / names.STUDY_LABELS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        number = int(row[names.LABEL_FRAME])
        # The last part also gets the few frames that are left over.
        part = min(number // CUT, 2)
        source = study / names.STUDY_EXAMS / row[names.LABEL_EXAM] / row[names.LABEL_FILE]
        exam = f"{row[names.LABEL_EXAM]}-{part}"
        target = parts / names.STUDY_EXAMS / exam / source.name
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(source, target)
        row[names.LABEL_EXAM], row[names.LABEL_PATIENT] = exam, exam
        row[names.LABEL_FRAME] = str(number - part * CUT)
        if row[names.LABEL_POLYP]:
            row[names.LABEL_POLYP] += f"-{part}"
    with (parts / names.STUDY_LABELS).open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    shutil.rmtree(study)
    return parts


def frame_files(study: Path) -> list[tuple[str, int, Path]]:
    """Return exam, number and file of every frame of a study."""
    return [
        (exam.name, number, file)
        for exam in sorted((study / names.STUDY_EXAMS).iterdir())
        for number, file in enumerate(sorted(exam.iterdir()))
    ]


def read_table(exam: Path, name: str) -> list[Row]:
    """Return a table of a screened exam by its stored names."""
    table = names.TABLES[name]
    rows = pq.read_table(exam / table.file, columns=list(table.columns.values())).to_pylist()
    return [
        {"exam": exam.name}
        | {
            stored: names.STORED_VALUES[stored][row[now]]
            if stored in names.STORED_VALUES
            else row[now]
            for stored, now in table.columns.items()
        }
        for row in rows
    ]


def _tables(out: Path, *tables: str) -> Tables:
    exams = sorted(path.parent for path in out.glob(f"*/{names.RECORD}"))
    found = {name: [row for exam in exams for row in read_table(exam, name)] for name in tables}
    found["exams"] = [{"exam": exam.name} | names.counts(_record(exam)) for exam in exams]
    return found


def _record(exam: Path) -> dict[str, Any]:
    return json.loads((exam / names.RECORD).read_text())


def _pixels(study: str) -> Callable[[Runs], Tables]:
    """Hash the rendered frames, without the program."""

    def part(runs: Runs) -> Tables:
        rows = []
        for exam, number, file in frame_files(runs.study(study)):
            with Image.open(file) as image:
                digest = hashlib.sha1(np.asarray(image).tobytes(), usedforsecurity=False)
            rows.append({"exam": exam, "head": 0, "frame": number, "hash": digest.hexdigest()})
        return {"pixels": rows}

    return part


def _screening(study: str, detector: str) -> Callable[[Runs], Tables]:
    def part(runs: Runs) -> Tables:
        return _tables(runs.screened(study, detector), "frames", "features", "events")

    return part


def _hashes(runs: Runs) -> Tables:
    return {"hashes": _tables(runs.screened("small", "paper"), "hashes")["hashes"]}


def _automatic(runs: Runs) -> Tables:
    out = runs.screened("small", "paper", automatic=True)
    found = _tables(out, "frames", "events")
    found["exams"] = [
        row | names.field_of_view(_record(out / row["exam"])) for row in found["exams"]
    ]
    return found


def _evaluation(runs: Runs) -> Tables:
    out = runs.folder("evaluation")
    command, *options = names.EVALUATE
    labels = runs.study("demo") / names.STUDY_LABELS
    other = runs.screened("demo", "curvature")
    run(
        *(command, runs.screened("demo", "paper"), *options, names.EVALUATE_LABELS, labels),
        *(names.EVALUATE_BASELINE, other, names.OUT, out),
    )
    evaluation = json.loads((out / "metrics.json").read_text())
    metrics = names.metrics(evaluation)
    intervals = [
        {"metric": metric["metric"]} | interval
        for metric in metrics
        for interval in metric.pop("intervals")
    ]
    return {
        "metrics": metrics,
        "intervals": intervals,
        "curves": names.curves(evaluation),
        "operating_points": names.operating_points(evaluation),
    }


def _golden(_runs: Runs) -> Tables:
    found: Tables = {"analyze": [], "explain": [], "features": [], "images": []}
    for name, setting in itertools.product(GOLDEN_FRAMES, names.SETTINGS):
        pixels, _ = golden_frame(name)
        key = {"frame": name, "setting": setting}
        result = names.ANALYZE(pixels, **names.SETTINGS[setting])
        explanation = names.EXPLAIN(pixels, **names.SETTINGS[setting])
        for table, one in (("analyze", result), ("explain", explanation)):
            values = {stored: getattr(one, now) for stored, now in names.RESULT.items()}
            found[table].append(key | values | {"features": len(one.features)})
        mask = getattr(explanation, names.MASK)
        found["explain"][-1] |= {
            "mask": int(mask.sum()),
            "segmentation": int(getattr(explanation, names.SEGMENTATION).sum()),
        }
        found["features"] += [
            key | {stored: getattr(feature, now) for stored, now in names.FEATURE.items()}
            for feature in explanation.features
        ]
        for stored, now in (names.GREY_LEVEL_IMAGES | names.OTHER_IMAGES).items():
            image = getattr(explanation, now)[mask].astype(float)
            scale = 255.0 if stored in names.GREY_LEVEL_IMAGES else float(np.abs(image).max())
            numbers = {one: float(getattr(image, one)()) for one in ("mean", "std", "min", "max")}
            found["images"].append(key | {"image": stored} | numbers | {"scale": scale})
    defaults = capsieve.Parameters()
    found["parameters"] = [
        {"name": stored, "value": getattr(defaults, now)}
        for stored, now in names.PARAMETERS.items()
    ]
    return found


def _reading(runs: Runs) -> Tables:
    """Read the long exam over HTTP, sign it and export its labels."""
    exam = runs.resumed()
    events = sorted(read_table(exam, "events"), key=lambda row: (-row["frames"], row["event"]))
    state = runs.folder("reading")
    database = state / "decisions.sqlite"
    numbers = itertools.count(10_000_000)

    with serve_review(exam.parent, database, state=state) as (_, client):

        def post(address: str, body: dict[str, Any]) -> Any:
            answer = client.post(address.format(exam=LONG_EXAM), json=body)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def act(action: dict[str, Any]) -> int:
            body = names.action(action, f"frozen-{next(numbers)}", screening)
            return names.number(post(names.ENTRIES, body))

        screening = client.get(names.EXAM.format(exam=LONG_EXAM)).json()["screening"]

        def reading() -> dict[str, Any]:
            return client.get(names.READING.format(exam=LONG_EXAM)).json()

        act(names.finding("a", [events[0]["best_frame"]]))
        act(names.decision_on_event(events[0], "accept", "a"))
        act(names.decision_on_event(events[1], "accept"))
        act(names.decision_on_frame(events[1]["last_frame"], "reject"))
        for event in events[2:12]:
            act(names.decision_on_event(event, "reject"))
        act(names.decision_on_event(events[12], "unsure"))
        act(names.undo(act(names.decision_on_event(events[13], "accept"))))
        act(names.finding("b", [200, 201, 203]))
        act(names.landmark(7))
        post(names.SEEN, names.seen(list(range(0, 300, 3)), screening))
        act(names.signature(reading()))
        last = reading()
        labels = client.get(names.LABELS.format(exam=LONG_EXAM)).text
    report = run(
        *(names.REPORT[0], exam, *names.REPORT[1:], names.REPORT_DATABASE, database),
        *(names.OUT, state / "report.html"),
    )
    rows = csv.DictReader(io.StringIO(labels))
    return {
        "labels": [{name: row[now] for name, now in names.LABEL_TABLE.items()} for row in rows],
        "summary": [
            {"name": name, "value": value}
            for name, value in names.summary(last, json.loads(report)).items()
        ],
    }


PARTS: dict[str, Callable[[Runs], Tables]] = {
    "golden": _golden,
    "small-pixels": _pixels("small"),
    "small-hashes": _hashes,
    "small-paper": _screening("small", "paper"),
    "small-curvature": _screening("small", "curvature"),
    "automatic": _automatic,
    "reading": _reading,
    "demo-pixels": _pixels("demo"),
    "demo-paper": _screening("demo", "paper"),
    "demo-curvature": _screening("demo", "curvature"),
    "evaluation": _evaluation,
}
