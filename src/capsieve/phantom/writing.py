"""A study on disk: exams, labels, truth. Exams appear whole; an interrupted study goes on."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from capsieve._version import __version__
from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError
from capsieve.phantom import tables
from capsieve.phantom.crew import Crew
from capsieve.phantom.exam import PhantomFrame
from capsieve.phantom.film import Film
from capsieve.phantom.study import StudyExam, StudyPlan

__all__ = ["Format", "write_study"]

Format = Literal["mp4", "png"]

_DEPTH_STEP = 0.01  # mm per grey level of a depth map: 16 bits reach 655 mm
_LABELS = ("exam", "head", "frame", "file", "label", "polyp", "patient", "finding")
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


def write_study(
    study: StudyPlan,
    out: str | Path,
    *,
    file_format: Format = "mp4",
    depth: bool = False,
    workers: int | None = None,
    fresh: bool = False,
    progress: Callable[[StudyExam, int], None] | None = None,
) -> Path:
    """Render a study into a folder.

    Parameters
    ----------
    study
        From :func:`~capsieve.phantom.study.plan_study`.
    out
        The folder. Exams that an interrupted run of the same study finished are kept.
    file_format
        "mp4" (H.264), or "png": a folder of frames per exam, the same bytes for the same seed.
    depth
        Whether to write depth maps: 16-bit PNG, hundredths of a millimetre.
    workers
        Processes that render; one per core by default. The result does not depend on it.
    fresh
        Remove what another study left in the folder.
    progress
        Called with the exam and the number of frames that were finished since the last call.

    Returns
    -------
    pathlib.Path
        The study's ``study.json``.
    """
    out = Path(out)
    for exam in study.exams:
        if file_format == "mp4" and exam.plan.size % 2:
            size = exam.plan.size
            raise ParameterError("size", f"must be even for video, not {size}; or write PNG files")
    settings = _settings(study, file_format, depth)
    _prepare(out, settings, fresh=fresh)
    with Crew(workers) as crew:
        for exam in study.exams:
            if not (out / "truth" / exam.name).is_dir():
                _write_exam(
                    exam, out, crew, file_format=file_format, depth=depth, progress=progress
                )
            elif progress:
                progress(exam, exam.plan.frames * exam.plan.heads)
    _gather(study, out)
    return _write_json(out / "study.json", {**settings, "complete": True})


def _gather(study: StudyPlan, out: Path) -> None:
    """Write the tables of the whole study from those of its exams."""
    with (
        tables.table(out / "labels.csv", _LABELS) as add_labels,
        tables.table(out / "polyps.csv", _POLYPS) as add_polyps,
    ):
        for exam in study.exams:
            counts: Counter[str] = Counter()
            path = out / "truth" / exam.name / "labels.csv"
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    counts[row["polyp"]] += 1
                    add_labels([row])
            add_polyps(tables.polyp_rows(exam, counts))


def _settings(study: StudyPlan, file_format: Format, depth: bool) -> dict[str, Any]:
    return {
        "schema": tables.TABLES_SCHEMA,
        "labels": list(_LABELS),  # exams with and without a column are never mixed
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


def _prepare(out: Path, settings: dict[str, Any], *, fresh: bool) -> None:
    """Make the folder, or find the same study in it; never mix two."""
    wanted = json.loads(json.dumps(settings))
    file = out / "study.json"
    if fresh and file.is_file():
        for name in ("exams", "truth"):
            shutil.rmtree(out / name, ignore_errors=True)
        for name in ("labels.csv", "polyps.csv", "study.json"):
            (out / name).unlink(missing_ok=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
        if file.is_file():
            found = json.loads(file.read_text(encoding="utf-8"))
            found.pop("complete", None)
            if found != wanted:
                older = found == {name: wanted[name] for name in wanted if name != "labels"}
                which = "this study with labels of fewer columns" if older else "another study"
                raise FileError(
                    f"{out} holds {which}; choose another folder, or start over with --fresh"
                )
        elif any(out.iterdir()):
            raise FileError(f"{out} is not empty and not a study; choose another folder")
        else:
            _write_json(file, {**settings, "complete": False})
        (out / "exams").mkdir(exist_ok=True)
        (out / "truth").mkdir(exist_ok=True)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"cannot write a study into {out}: {error}") from error


def _write_exam(
    exam: StudyExam,
    out: Path,
    crew: Crew,
    *,
    file_format: Format,
    depth: bool,
    progress: Callable[[StudyExam, int], None] | None,
) -> None:
    """Write an exam; its folder of truth appears last, and says that all is there."""
    truth = out / "truth" / f".{exam.name}.part"
    shutil.rmtree(truth, ignore_errors=True)
    (truth / "masks").mkdir(parents=True)
    if depth:
        (truth / "depth").mkdir()
    seen: Counter[str] = Counter()
    with (
        _pictures(exam, out / "exams", file_format) as write,
        tables.table(truth / "frames.csv", _FRAMES) as add_frames,
        tables.table(truth / "sightings.csv", _SIGHTINGS) as add_sightings,
        tables.table(truth / "labels.csv", _LABELS) as add_labels,
    ):
        for frame in crew.frames(exam.plan, depth=depth):
            file = write(frame)
            number = _number(frame, exam.plan.heads)
            if frame.polyp_map.any():
                _write_png(truth / "masks" / f"{number}.png", frame.polyp_map)
            if frame.depth is not None:
                levels = np.round(frame.depth / _DEPTH_STEP).clip(0, 65535).astype(np.uint16)
                _write_png(truth / "depth" / f"{number}.png", levels)
            add_frames([tables.frame_row(frame.truth)])
            add_sightings(tables.sighting_rows(frame.truth))
            label = tables.label_row(exam, frame.truth, file)
            add_labels([label])
            if frame.truth.head == 0:
                seen[label["polyp"]] += 1
            if progress:
                progress(exam, 1)
        _check_composition(exam, seen)
    truth.replace(out / "truth" / exam.name)


def _check_composition(exam: StudyExam, seen: Counter[str]) -> None:
    """Refuse an exam whose first head did not see what it was composed to see."""
    if exam.composition is None:
        return
    found = [seen[f"{exam.name}/{polyp.id}"] for polyp in exam.plan.polyps]
    wanted = list(exam.composition.sequence_lengths)
    if found != wanted or seen[""] != exam.composition.normal_frames:
        raise FileError(
            f"{exam.name} came out with polyp frames {found} instead of {wanted}; take another seed"
        )


@contextmanager
def _pictures(
    exam: StudyExam,
    folder: Path,
    file_format: Format,
) -> Iterator[Callable[[PhantomFrame], str]]:
    """Yield a function that writes a frame and returns the name of its file, "" in a video."""
    plan = exam.plan
    if file_format == "png":
        target = folder / exam.name
        target.mkdir(exist_ok=True)

        def write_file(frame: PhantomFrame) -> str:
            name = f"{_number(frame, plan.heads)}.png"
            _write_png(target / name, frame.pixels[:, :, ::-1])
            return name

        yield write_file
        return
    with ExitStack() as stack:
        films = []
        for head in range(plan.heads):
            name = f"{exam.name}.mp4" if plan.heads == 1 else f"{exam.name}-head-{head}.mp4"
            temporary = stack.enter_context(atomic_write(folder / name))
            films.append(stack.enter_context(Film(temporary, plan.size, plan.frame_rate)))

        def write_film(frame: PhantomFrame) -> str:
            films[frame.truth.head].add(frame.pixels, frame.truth.time_s)
            return ""

        yield write_film


def _number(frame: PhantomFrame, heads: int) -> str:
    number = f"{frame.truth.number:06d}"
    return number if heads == 1 else f"{number}-head-{frame.truth.head}"


def _write_png(path: Path, image: NDArray[Any]) -> None:
    done, data = cv2.imencode(".png", image)
    if not done:
        raise FileError(f"cannot write {path}: the picture could not be compressed")
    with atomic_write(path) as temporary:
        temporary.write_bytes(data.tobytes())


def _write_json(path: Path, content: dict[str, Any]) -> Path:
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return path
