"""``capsieve explain``: why one frame was flagged or not, as text and as a figure."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from capsieve.cli.field_of_view import FieldOfViewType
from capsieve.cli.options import ParametersFile, json_option
from capsieve.cli.settings_options import PathType, settings_options
from capsieve.option_fields import option

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from capsieve.detector import Detector
    from capsieve.frames import FieldOfView
    from capsieve.parameters import Parameters
    from capsieve.store.exam import Exam

_EXAMPLE = """\b
Example:
  capsieve explain frame.png -o panels.png
  capsieve explain frame.png --json
  capsieve explain results/exam --frame 1234 -o panels.png
  capsieve explain frame.png --detector learned -o evidence.png
"""


@dataclass(frozen=True)
class ExplainSettings:
    """The frame to explain, and the detector."""

    frame: int | None = option(
        None,
        "If INPUT is the folder of a screened exam: the number of the frame, from 0.",
        metavar="N",
        min=0,
    )
    head: int | None = option(None, "Camera of that exam.  [default: 0]", metavar="N", min=0)
    detector: str | None = option(
        None,
        "What scores the frame: paper, curvature, learned, or a model file. By default "
        "paper, or the detector that scored the exam.",
        metavar="NAME|FILE.onnx",
    )
    parameters: "Parameters | None" = option(
        None,
        "Other parameters: the reading inferred from the paper's figures, or a file; "
        "see capsieve parameters.",
        metavar="inferred|FILE.toml",
    )
    channel: Literal["gray", "red", "lab-a"] | None = option(
        None, "Channel to analyse, instead of that of the parameters."
    )
    field_of_view: "FieldOfView | str | None" = option(
        None,
        "The circle that shows the gut, in pixels of the frame; auto searches it in "
        "this frame. By default the whole frame, or the field of view of the exam.",
        metavar="auto|ROW,COL,RADIUS",
    )


@click.command("explain", epilog=_EXAMPLE)
@click.argument("target", type=PathType(), metavar="INPUT")
@click.option(
    "-o",
    "--out",
    type=PathType(),
    metavar="FILE",
    help="Write the figure to this file: PNG, SVG or PDF, by its ending.",
)
@settings_options(
    ExplainSettings,
    detector=click.STRING,
    parameters=ParametersFile(),
    field_of_view=FieldOfViewType("auto"),
)
@json_option("the result as JSON")
def command(settings: ExplainSettings, target: Path, out: Path | None, as_json: bool) -> None:
    """Explain why one frame was flagged or not.

    INPUT is a JPEG, PNG, BMP or TIFF file, or the folder of a screened exam with --frame. -o also
    writes a figure: the nine steps of the paper's algorithm, or the evidence of another detector.
    """
    from capsieve.cli.output import announce_compilation, say_why
    from capsieve.report.evidence import frame_evidence
    from capsieve.report.figures import save
    from capsieve.report.words import frame_flag

    _check_out(target, out)
    frame = _read_frame(target, settings)
    parameters = settings.parameters or frame.parameters
    if settings.channel is not None:
        parameters = replace(parameters, channel=settings.channel)
    place = frame.field_of_view
    if settings.field_of_view is not None:
        place = _field_of_view(settings.field_of_view, frame.pixels)
    announce_compilation()
    detector, same = _detector(settings.detector, frame.exam, parameters)
    flag = None
    if frame.exam is not None and same:
        if parameters == frame.parameters and settings.field_of_view is None:
            flag = frame_flag(frame.exam, frame.row)
        else:
            click.echo(
                "Note: the exam was screened with other parameters or another field of view; the "
                "result may not be that of the tables.",
                err=True,
            )
    evidence = frame_evidence(frame.pixels, place, detector, flag=flag)
    if out is not None:
        save(evidence.figure(), out)
    if as_json:
        click.echo(evidence.json(**frame.names, figure=None if out is None else str(out)))
        return
    say_why(evidence.words)
    if out is not None:
        click.echo(f"Wrote {out}")
    else:
        click.echo("For the figure add -o FILE.png, .svg or .pdf.", err=True)


def _check_out(target: Path, out: Path | None) -> None:
    """Refuse a figure that could not be written after the work."""
    if out is None:
        return
    from capsieve.atomic_write import check_replaceable
    from capsieve.errors import FileError
    from capsieve.report.figures import check_ending

    check_ending(out)
    if not out.absolute().parent.is_dir():
        raise FileError(f"cannot write {out}: there is no folder {out.parent}; create it first")
    if os.path.realpath(out) == os.path.realpath(target):
        raise click.BadParameter(f"{out} is the frame itself", param_hint="'-o' / '--out'")
    check_replaceable(out)


@dataclass(frozen=True)
class _Frame:
    """A frame, and the settings that it was screened with."""

    pixels: "NDArray[Any]"
    parameters: "Parameters"
    names: dict[str, Any]  # for JSON: file, and exam, frame and head of a screened one
    field_of_view: "FieldOfView | None" = None
    exam: "Exam | None" = None  # None for a file that was not screened
    row: dict[str, Any] = field(default_factory=dict)


def _read_frame(target: Path, settings: ExplainSettings) -> _Frame:
    from capsieve.errors import FileError
    from capsieve.parameters import Parameters
    from capsieve.sources.image_file import read_image
    from capsieve.sources.video_container import is_video_name
    from capsieve.store.exam import Exam, exam_folders

    number, head = settings.frame, settings.head or 0
    if not target.is_dir():
        for name, value in (("--frame", settings.frame), ("--head", settings.head)):
            if value is not None:
                raise click.BadParameter(
                    f"it needs the folder of a screened exam; {target} is none", param_hint=name
                )
        if is_video_name(target):
            raise click.UsageError(
                f"{target} is a video: screen it with capsieve screen, and give the folder of the "
                "exam and --frame N."
            )
        return _Frame(read_image(target), Parameters(), {"file": str(target)})
    if number is None:
        raise click.UsageError(f"{target} is a folder: choose a frame with --frame N.")
    folders = exam_folders(target)
    if len(folders) > 1:
        names = ", ".join(folder.name for folder in folders[:3]) + ", ..." * (len(folders) > 3)
        raise click.UsageError(
            f"{target} contains {len(folders)} exams: give the folder of one of them ({names})."
        )
    exam = Exam(folders[0])
    exam.check_tables()
    row = exam.row(number, head)
    if row["status"] != "decoded":
        raise FileError(f"frame {number} of {target} could not be decoded: {row['problem']}")
    with exam.reader(head) as reader:
        pixels = reader.pixels(number)
    source = next(each for each in exam.record["sources"] if each["head"] == head)
    names = {"file": source["path"], "exam": str(exam.folder), "frame": number, "head": head}
    place = exam.field_of_view(head, row["rows"], row["cols"])
    return _Frame(pixels, exam.parameters, names, place, exam, row)


def _field_of_view(choice: "FieldOfView | str", pixels: "NDArray[Any]") -> "FieldOfView | None":
    """Return the field of view; if it is searched, print it on stderr."""
    import capsieve

    if not isinstance(choice, str):
        return choice
    found = capsieve.find_field_of_view([pixels])
    if found.confidence == 0.0:
        click.echo("No field of view was found; the whole frame is analysed.", err=True)
        return None
    click.echo(
        f"Field of view: {found.shape}, row {found.row:.1f}, column {found.col:.1f}, radius "
        f"{found.radius:.1f}, confidence {found.confidence:.2f}.",
        err=True,
    )
    return found


def _detector(
    name: str | None, exam: "Exam | None", parameters: "Parameters"
) -> "tuple[Detector, bool]":
    """Return the named detector, or the one that scored the exam; and whether it scored the exam.

    A named detector may be another one; then a note is printed.
    """
    import capsieve
    from capsieve.detectors import same_detector
    from capsieve.screening.exam_detector import detector_name, exam_detector

    if exam is not None and name is None:
        return exam_detector(exam, parameters=parameters), True
    detector = capsieve.load_detector(name or "paper", parameters=parameters)
    same = exam is not None and same_detector(exam.record["detector"], detector.identity)
    if exam is not None and not same:
        click.echo(
            f"Note: {exam.folder} was screened with {detector_name(exam.record['detector'])}, and "
            f"{detector_name(detector.identity)} is another detector; the score may not be that of "
            "the results.",
            err=True,
        )
    return detector, same
