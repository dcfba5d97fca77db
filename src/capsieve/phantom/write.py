"""Studies on disk: exams as video or PNG files, labels, masks and truth.

An exam is rendered into the folder ``unfinished``. When it is complete, its pictures are renamed to
``exams`` and then, last, its tables to ``truth``: an exam with a folder in ``truth`` is complete.
"""

import csv
import json
import math
import os
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError, WorkerError, file_errors
from capsieve.phantom.plan import FRAME_RATE, ExamPlan, StudyExam, StudyPlan
from capsieve.phantom.render import FrameTruth, PhantomFrame, PolypTruth, render_frame
from capsieve.processes import prepare_worker
from capsieve.store.lock import locked

__all__ = ["FileFormat", "write_study"]

FileFormat = Literal["mp4", "png"]

_SCHEMA = 2  # of the tables
_LABELS = ("exam", "head", "frame", "file", "label", "polyp", "patient", "finding")
_MASKS = ("exam", "head", "frame", "file", "polyp", "mask", "value")
_POLYPS = (
    *("exam", "patient", "polyp", "kind", "size_mm", "position_mm", "bearing_deg"),
    *("redness", "roughness", "frames"),
)
_FRAMES = (
    *("head", "frame", "time_s", "label", "position_mm", "motion", "lumen", "contraction"),
    *("spoiled", "x_mm", "y_mm", "z_mm"),
    *(f"r{i}{j}" for i in range(3) for j in range(3)),
)
_SIGHTINGS = (
    *("head", "frame", "polyp", "pixels", "share", "row0", "col0", "row1", "col1"),
    *("distance_mm", "counts"),
)
_WHOLE = ("labels.csv", "polyps.csv", "masks.csv")  # tables of all exams together
_UNFINISHED = "unfinished"
_DEPTH_STEP = 0.01  # mm per grey level: 16 bits reach 655 mm
_AHEAD = 4  # frames in progress per worker, so that memory does not grow with the exam
_CLOCK = 90_000  # time stamps per second in a video


def write_study(
    study: StudyPlan,
    out: str | Path,
    *,
    file_format: FileFormat = "mp4",
    depth: bool = False,
    workers: int | None = None,
    overwrite: bool = False,
    progress: Callable[[StudyExam, int], None] | None = None,
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
    settings = json.loads(json.dumps(_settings(study, file_format, depth)))
    with file_errors("write", out):
        _check_folder(out)
        out.mkdir(parents=True, exist_ok=True)
        with locked(out):
            _prepare(out, settings, overwrite=overwrite)
            with _pool(workers) as pool:
                for exam in study.exams:
                    if not (out / "truth" / exam.name).is_dir():
                        frames = _frames(exam.plan, depth, *pool)
                        _write_exam(exam, out, frames, file_format, depth, progress)
                    elif progress:
                        progress(exam, exam.plan.frames * exam.plan.heads)
            for name in _WHOLE:
                _join(out / name, [out / "truth" / exam.name / name for exam in study.exams])
            return _write_json(out / "study.json", {**settings, "complete": True})


def _settings(study: StudyPlan, file_format: FileFormat, depth: bool) -> dict[str, Any]:
    return {
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


def _check_folder(out: Path) -> None:
    """Refuse a folder with other content: --overwrite must never remove it."""
    if not out.is_dir() or (out / "study.json").is_file():
        return
    if any(not path.name.startswith(".") for path in out.iterdir()):
        raise FileError(f"{out} is not empty and not a study; choose another folder")


def _prepare(out: Path, settings: dict[str, Any], *, overwrite: bool) -> None:
    """Make the folders, or find the same study in them; never mix two studies."""
    file = out / "study.json"
    if overwrite:
        for name in ("exams", "truth", _UNFINISHED):
            shutil.rmtree(out / name, ignore_errors=True)
        for name in (*_WHOLE, "study.json"):
            (out / name).unlink(missing_ok=True)
    if not file.is_file():
        _write_json(file, {**settings, "complete": False})
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileError(f"{file} is damaged; choose another folder, or use --overwrite") from error
    if {**found, "complete": None} != {**settings, "complete": None}:
        raise FileError(f"{out} holds another study; choose another folder, or use --overwrite")
    for name in ("exams", "truth"):
        (out / name).mkdir(exist_ok=True)


@contextmanager
def _pool(workers: int | None) -> Iterator[tuple[ProcessPoolExecutor | None, int]]:
    """Yield a pool of processes and its size; no pool for one worker."""
    count = max(1, workers or len(os.sched_getaffinity(0)))
    if count == 1:
        yield None, 1
        return
    pool = ProcessPoolExecutor(
        count, mp_context=get_context("spawn"), initializer=prepare_worker, initargs=(os.getpid(),)
    )
    try:
        yield pool, count
    except BrokenProcessPool as error:
        raise WorkerError("a rendering process died; run the command again to resume") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _frames(
    plan: ExamPlan, depth: bool, pool: ProcessPoolExecutor | None, workers: int
) -> Iterator[PhantomFrame]:
    """Yield the frames of an exam in order; with two heads both of each time."""
    wanted = ((number, head) for number in range(plan.frames) for head in range(plan.heads))
    if pool is None:
        for number, head in wanted:
            yield render_frame(plan, number, head, depth=depth)
        return
    pending: deque[Future[PhantomFrame]] = deque()
    for number, head in wanted:
        pending.append(pool.submit(render_frame, plan, number, head, depth=depth))
        if len(pending) >= _AHEAD * workers:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


def _write_exam(
    exam: StudyExam,
    out: Path,
    frames: Iterable[PhantomFrame],
    file_format: FileFormat,
    depth: bool,
    progress: Callable[[StudyExam, int], None] | None,
) -> None:
    unfinished = out / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)  # of a killed run: this run holds the lock
    truth, pictures = unfinished / "truth", unfinished / "exams"
    for folder in (truth / "masks", pictures, *([truth / "depth"] if depth else [])):
        folder.mkdir(parents=True)
    counts: Counter[int] = Counter()  # of all heads
    first_head: Counter[int] = Counter()
    with ExitStack() as stack:
        add_label, add_mask, add_frame, add_sighting = (
            stack.enter_context(_table(truth / name, columns))
            for name, columns in (
                ("labels.csv", _LABELS),
                ("masks.csv", _MASKS),
                ("frames.csv", _FRAMES),
                ("sightings.csv", _SIGHTINGS),
            )
        )
        add_picture = stack.enter_context(_pictures(exam, pictures, file_format))
        for frame in frames:
            at = frame.truth
            stem = f"{at.number:06d}" if exam.plan.heads == 1 else f"{at.number:06d}-head-{at.head}"
            file = add_picture(frame, stem)
            if at.polyps:
                _write_png(truth / "masks" / f"{stem}.png", frame.polyp_map)
            if frame.depth is not None:
                levels = np.round(frame.depth / _DEPTH_STEP).clip(0, 65535).astype(np.uint16)
                _write_png(truth / "depth" / f"{stem}.png", levels)
            add_frame(_frame_row(at))
            key = (exam.name, at.head, at.number, file)
            counting = [polyp for polyp in at.polyps if polyp.counts]
            named = counting[0].id if counting else 0  # the largest
            name = f"{exam.name}/{named}" if named else ""
            add_label((*key, at.label, name, exam.patient, "; ".join(at.spoiled)))
            for polyp in at.polyps:
                add_sighting(_sighting_row(at, polyp))
            for polyp in counting:
                mask = f"truth/{exam.name}/masks/{stem}.png"
                path = file and f"{exam.name}/{file}"
                add_mask((*key[:3], path, f"{exam.name}/{polyp.id}", mask, polyp.id))
            counts[named] += 1
            first_head[named] += at.head == 0
            if progress:
                progress(exam, 1)
    _check_composition(exam, first_head)
    with _table(truth / "polyps.csv", _POLYPS) as add_polyp:
        for row in _polyp_rows(exam, counts):
            add_polyp(row)
    for path in pictures.iterdir():
        target = out / "exams" / path.name
        if target.is_dir():  # of a run that was killed between the renames
            shutil.rmtree(target)
        path.replace(target)
    truth.replace(out / "truth" / exam.name)
    shutil.rmtree(unfinished)


def _check_composition(exam: StudyExam, frames: Counter[int]) -> None:
    """Check that the first head saw what was planned."""
    planned = exam.plan.sequence_lengths
    found = tuple(frames[polyp.id] for polyp in exam.plan.polyps)
    if planned is not None and found != planned:
        raise FileError(
            f"{exam.name} has polyp frames {found} instead of {planned}; use another seed"
        )


@contextmanager
def _table(path: Path, columns: tuple[str, ...]) -> Iterator[Callable[[Iterable[Any]], Any]]:
    """Yield a function that adds a row to a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        yield writer.writerow


def _frame_row(truth: FrameTruth) -> tuple[Any, ...]:
    return (
        *(truth.head, truth.number, truth.time_s, truth.label, truth.position_mm, truth.motion),
        *(truth.lumen, truth.contraction, " ".join(truth.spoiled)),
        *truth.position,
        *(value for row in truth.rotation for value in row),
    )


def _sighting_row(truth: FrameTruth, polyp: PolypTruth) -> tuple[Any, ...]:
    return (
        *(truth.head, truth.number, polyp.id, polyp.pixels, polyp.share, *polyp.box),
        *(polyp.distance_mm, int(polyp.counts)),
    )


def _polyp_rows(exam: StudyExam, counts: Counter[int]) -> Iterator[tuple[Any, ...]]:
    for polyp in exam.plan.polyps:
        yield (
            *(exam.name, exam.patient, f"{exam.name}/{polyp.id}", polyp.kind),
            *(round(polyp.size_mm, 2), round(polyp.position_mm, 1)),
            round(math.degrees(polyp.bearing) % 360.0, 1),
            *(round(polyp.redness, 3), round(polyp.roughness, 3), counts[polyp.id]),
        )


@contextmanager
def _pictures(
    exam: StudyExam, folder: Path, file_format: FileFormat
) -> Iterator[Callable[[PhantomFrame, str], str]]:
    """Yield a function that writes a frame and returns the name of its file, "" in a video."""
    if file_format == "png":
        (folder / exam.name).mkdir()

        def add_file(frame: PhantomFrame, stem: str) -> str:
            _write_png(folder / exam.name / f"{stem}.png", frame.pixels[:, :, ::-1])
            return f"{stem}.png"

        yield add_file
        return
    heads = [""] if exam.plan.heads == 1 else [f"-head-{head}" for head in range(exam.plan.heads)]
    with ExitStack() as stack:
        videos = [
            stack.enter_context(_video(folder / f"{exam.name}{head}.mp4", exam.plan.size))
            for head in heads
        ]

        def add_to_video(frame: PhantomFrame, stem: str) -> str:
            videos[frame.truth.head](frame.pixels, frame.truth.time_s)
            return ""

        yield add_to_video


@contextmanager
def _video(path: Path, size: int) -> Iterator[Callable[[NDArray[np.uint8], float], None]]:
    """Yield a function that adds a frame at its time to an H.264 video in MP4."""
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=Fraction(FRAME_RATE))
        stream.width = stream.height = size
        stream.pix_fmt = "yuv420p"
        # x264's macroblock tree depends on uninitialised memory: with it, widths such as 160 or 200
        # give another file in nearly every run.
        stream.options = {
            "crf": "23",
            "preset": "veryfast",
            "g": "60",
            "x264-params": "mbtree=0",
        }
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
