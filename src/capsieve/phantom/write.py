"""Studies on disk: exams as video or PNG files, labels, masks and truth.

An exam is rendered into the folder ``unfinished``. When it is complete, its pictures are renamed to
``exams`` and then, last, its tables to ``truth``: an exam with a folder in ``truth`` is complete.
"""

import csv
import json
import math
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write, check_replaceable
from capsieve.errors import FileError, ParameterError, WorkerError, file_errors
from capsieve.phantom.plan import FRAME_RATE, ExamPlan, StudyExam, StudyPlan
from capsieve.phantom.polyps import Polyp
from capsieve.phantom.render import FrameTruth, PhantomFrame, render_frame
from capsieve.screening.executors import Executor, choose_executor
from capsieve.store.segments import locked
from capsieve.user_files import read_text

FileFormat = Literal["mp4", "png"]

_SCHEMA = 3  # of the tables
_TABLES = {
    "labels": ("exam", "head", "frame", "file", "label", "polyp", "patient", "finding"),
    "masks": ("exam", "head", "frame", "file", "polyp", "mask", "value"),
    "polyps": (
        *("exam", "patient", "polyp", "kind", "size_mm", "position_mm", "bearing_deg"),
        *("redness", "roughness", "frames"),
    ),
    "frames": (
        *("head", "frame", "time_s", "label", "position_mm", "motion", "lumen", "contraction"),
        *("spoiled", "x_mm", "y_mm", "z_mm"),
        *(f"r{i}{j}" for i in range(3) for j in range(3)),
    ),
}
_WHOLE = ("labels.csv", "polyps.csv", "masks.csv")  # tables of all exams together
_UNFINISHED = "unfinished"
_DEPTH_STEP = 0.01  # mm per grey level: 16 bits reach 655 mm
_AHEAD = 4  # frames per worker that wait for an earlier one: memory does not grow with the exam
_CLOCK = 90_000  # time stamps per second in a video


def write_study(
    study: StudyPlan,
    out: str | Path,
    *,
    file_format: FileFormat = "mp4",
    depth: bool = False,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[StudyExam, int], None] = lambda exam, count: None,
) -> Path:
    """Render a study into a folder.

    Parameters
    ----------
    study
        Plan of the study.
    out
        Folder. Complete exams of an interrupted run of the same study are kept.
    file_format
        "mp4" (H.264), or "png": a folder of frames per exam.
    depth
        Whether to write depth maps: 16-bit PNG, hundredths of a millimetre.
    workers
        Number of processes that render; by default one per core. It does not change the result.
    overwrite
        Remove another study from the folder first.
    progress
        Called with the exam and the number of frames that were finished since the last call.

    Returns
    -------
    pathlib.Path
        The file ``study.json`` of the study.

    Raises
    ------
    FileError
        The folder holds something else, another run works in it, or it cannot be written.
    """
    out = Path(out)
    for exam in study.exams:
        if file_format == "mp4" and exam.plan.size % 2:
            raise ParameterError(
                "size", f"must be even for video, not {exam.plan.size}; or write PNG files"
            )
    settings = {
        "schema": _SCHEMA,
        "capsieve": __version__,
        "study": study.name,
        "seed": study.seed,
        "format": file_format,
        "depth": depth,
        "exams": [
            {"exam": exam.name, "patient": exam.patient, "plan": asdict(exam.plan)}
            for exam in study.exams
        ],
    }
    with file_errors("write", out):
        out.mkdir(parents=True, exist_ok=True)
        with locked(out):
            _prepare(out, settings, overwrite=overwrite)
            with choose_executor(workers=workers) as executor:
                for exam in study.exams:
                    if not (out / "truth" / exam.name).is_dir():
                        frames = _frames(exam.plan, depth, executor)
                        _write_exam(exam, out, frames, file_format, progress)
                    else:
                        progress(exam, exam.plan.frames * exam.plan.heads)
            for name in _WHOLE:
                _join(out / name, [out / "truth" / exam.name / name for exam in study.exams])
            return _write_json(out / "study.json", {**settings, "complete": True})


def _prepare(out: Path, settings: dict[str, Any], *, overwrite: bool) -> None:
    """Make the folders, or find the same study in them; never mix two studies."""
    file = out / "study.json"
    # --overwrite must never remove other content.
    if not file.is_file() and any(not path.name.startswith(".") for path in out.iterdir()):
        raise FileError(f"{out} is not empty and not a study; choose another folder")
    if overwrite:
        check_replaceable(file)
        for name in ("exams", "truth", _UNFINISHED):
            shutil.rmtree(out / name, ignore_errors=True)
        for name in (*_WHOLE, "study.json"):
            (out / name).unlink(missing_ok=True)
    if not file.is_file():
        _write_json(file, {**settings, "complete": False})
    try:
        found = json.loads(read_text(file))
    except ValueError as error:
        raise FileError(f"{file} is damaged; choose another folder, or use --overwrite") from error
    wanted = json.loads(json.dumps(settings))  # tuples become lists
    if {**found, "complete": None} != {**wanted, "complete": None}:
        raise FileError(f"{out} holds another study; choose another folder, or use --overwrite")
    for name in ("exams", "truth"):
        (out / name).mkdir(exist_ok=True)


@dataclass(frozen=True)
class _Task:
    """One frame to render."""

    plan: ExamPlan
    number: int
    head: int
    depth: bool

    def __str__(self) -> str:
        return f"frame {self.number} of head {self.head}"


def _render(task: _Task) -> PhantomFrame:
    return render_frame(task.plan, task.number, task.head, depth=task.depth)


def _frames(plan: ExamPlan, depth: bool, executor: Executor) -> Iterator[PhantomFrame]:
    """Yield the frames of an exam in order; with two heads both of each time."""
    order = [(number, head) for number in range(plan.frames) for head in range(plan.heads)]
    rendered: dict[tuple[int, int], PhantomFrame] = {}

    def tasks() -> Iterator[_Task | None]:
        for number, head in order:
            while len(rendered) >= _AHEAD * executor.workers:
                yield None
            yield _Task(plan, number, head, depth)

    waiting = deque(order)
    for outcome in executor.run(_render, tasks()):
        if outcome.result is None:
            raise outcome.error or WorkerError(f"{outcome.task} was not rendered")
        rendered[outcome.task.number, outcome.task.head] = outcome.result
        while waiting and waiting[0] in rendered:
            yield rendered.pop(waiting.popleft())


def _write_exam(
    exam: StudyExam,
    out: Path,
    frames: Iterable[PhantomFrame],
    file_format: FileFormat,
    progress: Callable[[StudyExam, int], None],
) -> None:
    """Write an exam into the folder of unfinished ones, then rename its parts."""
    unfinished = out / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)  # of a killed run: this run holds the lock
    truth, pictures = unfinished / "truth", unfinished / "exams"
    for folder in (truth / "masks", truth / "depth", pictures / exam.name):
        folder.mkdir(parents=True)
    shown: Counter[tuple[int, int]] = Counter()  # frames that name a polyp, per polyp and head
    with ExitStack() as stack:
        tables = {
            name: stack.enter_context(_table(truth / f"{name}.csv", columns))
            for name, columns in _TABLES.items()
        }
        videos: list[Callable[[NDArray[np.uint8], float], None]] = []
        if file_format == "mp4":
            videos = [
                stack.enter_context(_video(pictures / f"{exam.name}{head}.mp4", exam.plan.size))
                for head in _heads(exam.plan)
            ]
        for frame in frames:
            stem = f"{frame.truth.number:06d}{_heads(exam.plan)[frame.truth.head]}"
            if videos:
                videos[frame.truth.head](frame.pixels, frame.truth.time_s)
            else:
                _write_png(pictures / exam.name / f"{stem}.png", frame.pixels[:, :, ::-1])
            if frame.truth.polyps:
                _write_png(truth / "masks" / f"{stem}.png", frame.polyp_map)
            if frame.depth is not None:
                levels = np.round(frame.depth / _DEPTH_STEP).clip(0, 65535).astype(np.uint16)
                _write_png(truth / "depth" / f"{stem}.png", levels)
            polyps = [polyp.id for polyp in frame.truth.polyps if polyp.counts]
            shown[polyps[0] if polyps else 0, frame.truth.head] += 1
            _add_rows(tables, exam, frame.truth, polyps, stem, "" if videos else f"{stem}.png")
            progress(exam, 1)
        _check_composition(exam, shown)
        for polyp in exam.plan.polyps:
            number = sum(shown[polyp.id, head] for head in range(exam.plan.heads))
            tables["polyps"](_polyp_row(exam, polyp, number))
    for folder in (truth / "depth", pictures / exam.name):
        if not any(folder.iterdir()):
            folder.rmdir()
    for path in pictures.iterdir():
        target = out / "exams" / path.name
        if target.is_dir():  # of a run that was killed between the renames
            shutil.rmtree(target)
        path.replace(target)
    truth.replace(out / "truth" / exam.name)
    shutil.rmtree(unfinished)


def _heads(plan: ExamPlan) -> list[str]:
    """Endings of the names of files, per head."""
    return [""] if plan.heads == 1 else [f"-head-{head}" for head in range(plan.heads)]


@contextmanager
def _table(path: Path, columns: tuple[str, ...]) -> Iterator[Callable[[Iterable[Any]], Any]]:
    """Yield a function that adds a row to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        yield writer.writerow


def _add_rows(
    tables: dict[str, Callable[[Iterable[Any]], Any]],
    exam: StudyExam,
    at: FrameTruth,
    polyps: list[int],
    stem: str,
    file: str,
) -> None:
    """Add a frame to the tables; `polyps` are those that count, the largest first."""
    names = [f"{exam.name}/{polyp}" for polyp in polyps]
    key = (exam.name, at.head, at.number)
    finding = "; ".join(at.spoiled)
    tables["labels"]((*key, file, at.label, *(names[:1] or [""]), exam.patient, finding))
    for polyp, name in zip(polyps, names, strict=True):
        mask = f"truth/{exam.name}/masks/{stem}.png"
        tables["masks"]((*key, file and f"{exam.name}/{file}", name, mask, polyp))
    pose = (*at.position, *(value for row in at.rotation for value in row))
    spoiled = " ".join(at.spoiled)
    tables["frames"](
        (at.head, at.number, at.time_s, at.label, at.position_mm, at.motion, at.lumen,
         at.contraction, spoiled, *pose)
    )  # fmt: skip


def _polyp_row(exam: StudyExam, polyp: Polyp, frames: int) -> tuple[Any, ...]:
    return (
        *(exam.name, exam.patient, f"{exam.name}/{polyp.id}", polyp.kind, polyp.size_mm),
        *(round(polyp.position_mm, 1), round(math.degrees(polyp.bearing) % 360.0, 1)),
        *(polyp.redness, polyp.roughness, frames),
    )


def _check_composition(exam: StudyExam, shown: Counter[tuple[int, int]]) -> None:
    """Check that the first head saw what was planned."""
    planned = exam.plan.sequence_lengths
    found = tuple(shown[polyp.id, 0] for polyp in exam.plan.polyps)
    if planned is not None and found != planned:
        raise FileError(
            f"{exam.name} has polyp frames {found} instead of {planned}; use another seed"
        )


@contextmanager
def _video(path: Path, size: int) -> Iterator[Callable[[NDArray[np.uint8], float], None]]:
    """Yield a function that adds a frame at its time to an H.264 video in MP4."""
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(FRAME_RATE))
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        # x264's macroblock tree depends on uninitialised memory: with it, widths such as 160 or 200
        # give another file in nearly every run.
        stream.options = {"crf": "23", "preset": "veryfast", "g": "60", "x264-params": "mbtree=0"}
        context = stream.codec_context
        context.thread_count = 1  # the renderers use the cores
        context.time_base = Fraction(1, _CLOCK)
        context.colorspace = context.color_primaries = context.color_trc = 1  # BT.709
        context.color_range = 1  # limited

        def add(pixels: NDArray[np.uint8], time_s: float) -> None:
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24").reformat(
                format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG"
            )
            frame.pts = round(time_s * _CLOCK)
            frame.time_base = Fraction(1, _CLOCK)
            container.mux(stream.encode(frame))

        yield add
        container.mux(stream.encode(None))


def _join(path: Path, parts: list[Path]) -> None:
    """Write the tables of all exams as one."""
    with atomic_write(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        for number, part in enumerate(parts):
            lines = part.read_text(encoding="utf-8").splitlines(keepends=True)
            file.writelines(lines if number == 0 else lines[1:])


def _write_png(path: Path, image: NDArray[Any]) -> None:
    done, data = cv2.imencode(".png", image)
    if not done:
        raise FileError(f"cannot write {path}: the image could not be compressed")
    path.write_bytes(data.tobytes())


def _write_json(path: Path, content: dict[str, Any]) -> Path:
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
