"""What is damaged: for each subject an intact file, how capsieve reads it, and what was read."""

import csv
import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from capsieve.detectors import load_detector
from capsieve.evaluation.evaluate import evaluate
from capsieve.labels import read_labels, read_outlines, read_splits
from capsieve.parameters import Parameters
from capsieve.sources.base import open_source
from capsieve.sources.discovery import find_exams
from capsieve.statistics.options import EvaluationOptions
from made_models import own_file
from soak.mutations import damage_binary, damage_json, damage_parquet, damage_text
from support.label_sets import frame_table
from support.results import write_results
from support.videos import KINDS, VideoKind, make_video, picture, steady

__all__ = ["SUBJECTS", "Reading", "Subject"]


class Reading(NamedTuple):
    """What was read, piece by piece, and all problems and warnings."""

    items: list[str]
    reports: list[str]


@dataclass(frozen=True, slots=True)
class Subject:
    """A kind of input.

    Attributes
    ----------
    file
        The file that is damaged, below the folder.
    make
        Writes the intact input into a folder.
    read
        Reads it.
    damage
        Damages the content of the file.
    shows_losses
        Whether the format shows that a piece is missing: by a count, a length or a checksum.
    """

    file: str
    make: Callable[[Path], Any]
    read: Callable[[Path], Reading]
    damage: Callable[[bytes, random.Random], bytes] = damage_binary
    shows_losses: bool = True

    def path(self, folder: Path) -> Path:
        """Return the file that is damaged."""
        return folder / self.file


def _digest(values: Any) -> str:
    return hashlib.sha256(repr(values).encode()).hexdigest()[:12]


# Videos, images and archives.

FRAMES = 40
_MORE_VIDEOS = {
    "wmv": VideoKind("a.wmv", "wmv2", rate=25),
    "mp4-fragmented": replace(
        KINDS["mp4-h264"], container_options={"movflags": "frag_keyframe+empty_moov"}
    ),
    "mkv-ffv1": VideoKind("a.mkv", "ffv1", {"level": "3", "slicecrc": "1"}, rate=25),
}
_COUNTLESS = ("raw-mjpeg", "raw-h264")  # pictures one after the other, and nothing else


def _read_exam(name: str, folder: Path) -> Reading:
    (exam,) = find_exams([folder / name])
    if exam.error is not None:
        raise exam.error
    items: list[str] = []
    reports: list[str] = []
    for place in exam.places:
        source = open_source(place)
        survey = source.survey()
        reports += [problem.what for problem in survey.problems]
        if warning := survey.description.get("warning"):
            reports.append(warning)
        for segment in survey.segments:
            for frame in source.frames(segment):
                pixels = frame.pixels
                shown = None if pixels is None else hashlib.sha256(pixels.tobytes()).hexdigest()
                items.append(_digest((frame.file, frame.time, shown)))
                if frame.problem:
                    reports.append(f"{frame.file or len(items) - 1}: {frame.problem}")
    return Reading(items, reports)


def _make_video(kind: VideoKind, folder: Path) -> None:
    make_video(folder, kind, times=steady(FRAMES))


def _picture(number: int) -> Image.Image:
    noise = np.random.default_rng(number).integers(0, 9, (64, 96, 3), np.uint8)
    return Image.fromarray(picture(number) // 2 + noise)


def _encoded(number: int, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    _picture(number).save(buffer, kind, **options)
    return buffer.getvalue()


def _make_images(ending: str, kind: str, options: dict[str, Any], folder: Path) -> None:
    (folder / "exam").mkdir()
    for number in range(3):
        (folder / "exam" / f"{number}.{ending}").write_bytes(_encoded(number, kind, **options))


def _make_archive(method: int, folder: Path) -> None:
    with zipfile.ZipFile(folder / "exam.zip", "w", method) as archive:
        for number in range(6):
            archive.writestr(f"frames/{number}.png", _encoded(number, "PNG"))


_IMAGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "png": ("png", "PNG", {}),
    "jpeg": ("jpg", "JPEG", {}),
    "jpeg-progressive": ("jpg", "JPEG", {"progressive": True}),
    "bmp": ("bmp", "BMP", {}),
    "tiff": ("tif", "TIFF", {"compression": "tiff_deflate"}),
}

# Tables: scores, labels, splits, outlines.

_EXAMS, _ROWS = ("e0", "e1", "e2"), 20
_OPTIONS = EvaluationOptions(bootstrap_samples=100, threshold=0.5)


def _rows() -> Iterable[tuple[str, int, bool]]:
    return ((exam, frame, frame % 5 == 0) for exam in _EXAMS for frame in range(_ROWS))


def _scores() -> list[dict[str, Any]]:
    score = np.random.default_rng(1).uniform(0, 1, len(_EXAMS) * _ROWS).round(4).tolist()
    return [
        {"exam": exam, "frame": frame, "score": value, "time_s": frame / 4, "row": 50, "col": 40.5}
        for (exam, frame, _), value in zip(_rows(), score, strict=True)
    ]


def _labels() -> list[dict[str, Any]]:
    return [
        {
            "exam": exam,
            "frame": frame,
            "label": "polyp" if polyp else "normal",
            "polyp": str(1 + frame // 10) if polyp else None,
            "patient": exam[1:],
        }
        for exam, frame, polyp in _rows()
    ]


def _splits() -> list[dict[str, Any]]:
    return [
        {"exam": exam, "frame": frame, "part": "train" if exam == "e0" else "test"}
        for exam, frame, _ in _rows()
    ]


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
        return
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _make_study(folder: Path, **names: str) -> None:
    for what, rows in (("scores", _scores()), ("labels", _labels()), ("splits", _splits())):
        _write(rows, folder / names.get(what, f"{what}.csv"))


def _read_study(
    folder: Path, *, results: str = "scores.csv", regions: str | None = None, **names: str
) -> Reading:
    """Read scores, labels and splits alone, and evaluate them together."""
    labels = read_labels(folder / names.get("labels", "labels.csv"))
    splits = folder / names.get("splits", "splits.csv")
    read_splits(splits)
    evaluation = evaluate(
        folder / results,
        labels,
        options=replace(_OPTIONS, splits=splits if results.startswith("scores") else None),
        regions=None if regions is None else folder / regions,
        galleries=False,
    )
    frames = evaluation.frames
    items = [
        _digest((frames.exam[row], int(frames.frame[row]), float(frames.score[row])))
        + f" {frames.truth[row]} {frames.polyp.code[row]} {frames.part.code[row]}"
        for row in range(len(frames))
    ]
    items += [f"{each.key} {each.subset} {each.value}" for each in evaluation.metrics]
    problems = [f"{one.rows} {one.what}" for one in evaluation.problems]
    return Reading(items, [*evaluation.warnings, *evaluation.leaks, *problems])


def _make_coco(folder: Path) -> None:
    _make_study(folder)
    polyps = [(exam, frame) for exam, frame, polyp in _rows() if polyp]
    content = {
        "images": [
            {"id": n, "file_name": f"{exam}/{frame:06d}.png", "height": 100, "width": 100}
            for n, (exam, frame) in enumerate(polyps)
        ],
        "annotations": [
            {"id": n, "image_id": n, "category_id": 1, "bbox": [20, 30, 20 + n, 30]}
            for n in range(len(polyps))
        ],
        "categories": [{"id": 1, "name": "polyp"}],
    }
    (folder / "coco.json").write_text(json.dumps(content, indent=0))


def _make_boxes(folder: Path) -> None:
    _make_study(folder)
    for exam in _EXAMS:
        (folder / "boxes" / exam).mkdir(parents=True)
        for frame in range(0, _ROWS, 5):
            text = "0 0.4 0.5 0.1 0.2\n0 0.5 0.5 0.1 0.2\n"
            (folder / "boxes" / exam / f"{frame:06d}.txt").write_text(text)


def _make_masks(folder: Path) -> None:
    _make_study(folder)
    mask = np.zeros((100, 100), np.uint8)
    mask[30:60, 20:50] = 255
    lines = ["file,mask,exam,frame"]
    for exam in _EXAMS:
        (folder / "masks" / exam).mkdir(parents=True)
        for frame in range(0, _ROWS, 5):
            name = f"{exam}/{frame:06d}.png"
            Image.fromarray(mask).save(folder / "masks" / name)
            lines.append(f",{name},{exam},{frame}")
    (folder / "masks" / "masks.csv").write_text("\n".join(lines) + "\n")


def _read_outlines(regions: str, folder: Path) -> Reading:
    """Read outlines alone, and evaluate the places of the scores with them."""
    found = read_outlines(folder / regions)
    items, reports = _read_study(folder, regions=regions)
    items += [_digest((o.exam, o.frame, o.file, o.shape)) for o in found.outlines]
    return Reading(items, reports)


def _read_boxes(folder: Path) -> Reading:
    """Read outlines alone, and find their frames: boxes need the size of the images."""
    found = read_outlines(folder / "boxes")
    keys = frame_table(dict.fromkeys(_EXAMS, _ROWS))
    side = pa.array([100] * len(keys))
    frames = keys.append_column("rows", side).append_column("cols", side)
    polyps = np.array([polyp for _, _, polyp in _rows()])
    fitted, problems = found.find(frames, polyp_frames=polyps)
    items = [_digest((one.row, one.polyp, one.shape)) for one in fitted]
    return Reading(items, [f"{one.rows} {one.what}" for one in (*found.problems, *problems)])


# Models, parameters, and results of capsieve screen.


def _make_model(folder: Path) -> None:
    own_file(folder / "m.onnx")


def _read_model(folder: Path) -> Reading:
    detector = load_detector(folder / "m.onnx")
    scores = [detector.score(np.asarray(_picture(number))) for number in range(2)]
    shown = [repr(getattr(score, "score", score)) for score in scores]
    return Reading([*shown, json.dumps(detector.identity, sort_keys=True)], [])


def _make_parameters(folder: Path) -> None:
    Parameters().save(folder / "p.toml")


def _read_parameters(folder: Path) -> Reading:
    return Reading([repr(Parameters.load(folder / "p.toml"))], [])


def _make_results(folder: Path) -> None:
    _make_study(folder)
    for exam in _EXAMS:
        score = np.random.default_rng(len(exam)).uniform(0, 60, _ROWS).round()
        write_results(folder / "out" / exam, score=score)


def _read_results(folder: Path) -> Reading:
    return _read_study(folder, results="out")


_text = partial(Subject, damage=damage_text, shows_losses=False)

SUBJECTS: dict[str, Subject] = {
    **{
        f"video-{name}": Subject(
            kind.name,
            partial(_make_video, kind),
            partial(_read_exam, kind.name),
            shows_losses=name not in _COUNTLESS,
        )
        for name, kind in (KINDS | _MORE_VIDEOS).items()
    },
    **{
        f"image-{name}": Subject(
            f"exam/1.{values[0]}", partial(_make_images, *values), partial(_read_exam, "exam")
        )
        for name, values in _IMAGES.items()
    },
    **{
        f"zip-{name}": Subject(
            "exam.zip", partial(_make_archive, method), partial(_read_exam, "exam.zip")
        )
        for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED))
    },
    **{
        f"{name}-csv": _text(f"{name}.csv", _make_study, _read_study)
        for name in ("scores", "labels", "splits")
    },
    **{
        f"{name}-parquet": Subject(
            f"{name}.parquet",
            partial(_make_study, **{name: f"{name}.parquet"}),
            partial(_read_study, **{"results" if name == "scores" else name: f"{name}.parquet"}),
            damage=damage_parquet,
            shows_losses=False,
        )
        for name in ("scores", "labels", "splits")
    },
    "outlines-coco": Subject(
        "coco.json",
        _make_coco,
        partial(_read_outlines, "coco.json"),
        damage=damage_json,
        shows_losses=False,
    ),
    "outlines-boxes": _text("boxes/e1/000005.txt", _make_boxes, _read_boxes),
    "outlines-masks": Subject(
        "masks/e1/000005.png", _make_masks, partial(_read_outlines, "masks"), shows_losses=False
    ),
    "outlines-table": _text("masks/masks.csv", _make_masks, partial(_read_outlines, "masks")),
    "model": Subject("m.onnx", _make_model, _read_model, shows_losses=False),
    "parameters": _text("p.toml", _make_parameters, _read_parameters),
    "results-table": Subject("out/e1/frames.parquet", _make_results, _read_results),
    "results-record": Subject(
        "out/e1/exam.json", _make_results, _read_results, damage=damage_json, shows_losses=False
    ),
}
