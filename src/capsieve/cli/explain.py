"""``capsieve explain``: why one frame was flagged or not, as text and as a figure."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.field_of_view import FieldOfViewType
from capsieve.cli.options import ParametersFile, json_option
from capsieve.cli.settings_options import PathType

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from capsieve.detector import Detector
    from capsieve.frames import FieldOfView
    from capsieve.parameters import Parameters
    from capsieve.report.frame_flag import FrameFlag
    from capsieve.store.exam import Exam

__all__ = ["command"]

_EXAMPLE = """\b
Example:
  capsieve explain frame.png -o panels.png
  capsieve explain frame.png --json
  capsieve explain results/exam --frame 1234 -o panels.png
  capsieve explain frame.png --detector learned -o evidence.png
"""


@click.command("explain", epilog=_EXAMPLE)
@click.argument("target", type=PathType(), metavar="FRAME")
@click.option(
    "--frame",
    "number",
    type=click.IntRange(0),
    metavar="N",
    help="If FRAME is the folder of a screened exam: the number of the frame, from 0.",
)
@click.option(
    "--head", type=click.IntRange(0), metavar="H", help="Camera of that exam.  [default: 0]"
)
@click.option(
    "-o",
    "--out",
    type=PathType(),
    metavar="FILE",
    help="Write the picture to this file: PNG, SVG or PDF, by its ending.",
)
@click.option(
    "--detector",
    "detector_name",
    metavar="NAME|FILE.onnx",
    help="What scores the frame: paper, curvature, learned, or a model file. By default paper, or "
    "the detector that scored the exam.",
)
@click.option(
    "--parameters",
    "given",
    type=ParametersFile(),
    metavar="inferred|FILE.toml",
    help="Other parameters: the reading inferred from the paper's figures, or a file; see capsieve "
    "parameters.",
)
@click.option(
    "--channel",
    type=click.Choice(["gray", "red", "lab-a"]),
    help="Channel to analyse, instead of that of the parameters.",
)
@click.option(
    "--field-of-view",
    type=FieldOfViewType("auto"),
    metavar="auto|ROW,COL,RADIUS",
    help="The circle that shows the gut, in pixels of the frame; auto searches it in this frame. "
    "By default the whole frame, or the field of view of the exam.",
)
@json_option("the result as JSON")
def command(
    target: Path,
    number: int | None,
    head: int | None,
    out: Path | None,
    detector_name: str | None,
    given: "Parameters | None",
    channel: str | None,
    field_of_view: "FieldOfView | str | None",
    as_json: bool,
) -> None:
    """Explain why one FRAME was flagged or not.

    FRAME is a JPEG, PNG, BMP or TIFF file, or the folder of a screened exam with --frame. -o also
    writes a picture: the nine steps of the paper's algorithm, or the evidence of another detector.
    """
    from capsieve.cli.output import announce_compilation, say_why
    from capsieve.detectors import rule_parameter

    _check_out(target, out)
    frame = _read_frame(target, number, head)
    parameters = given or frame.parameters
    if channel is not None:
        parameters = replace(parameters, channel=channel)
    if field_of_view is None:
        place = frame.field_of_view
    else:
        place = _field_of_view(field_of_view, frame.pixels)
    announce_compilation()
    detector = _detector(detector_name, frame.exam, parameters)
    as_screened = parameters == frame.parameters and field_of_view is None
    flag = _flag(frame, detector, as_screened=as_screened)
    explain = _by_steps if rule_parameter(detector.identity) else _by_evidence
    shown = explain(detector, flag, frame.pixels, place)
    if out is not None:
        from capsieve.report.figures import save

        save(shown.draw(), out)
    if as_json:
        click.echo(shown.json(**frame.names, figure=None if out is None else str(out)))
    else:
        say_why(shown.why)
        if out is not None:
            click.echo(f"Wrote {out}")
        else:
            click.echo("For the picture add -o FILE.png, .svg or .pdf.", err=True)


def _check_out(target: Path, out: Path | None) -> None:
    """Refuse a picture that could not be written after the work."""
    if out is None:
        return
    from capsieve.atomic_write import check_replaceable
    from capsieve.errors import FileError
    from capsieve.report.figures import check_ending

    check_ending(out)
    if not out.absolute().parent.is_dir():
        raise FileError(f"cannot write {out}: there is no folder {out.parent}; create it first")
    if os.path.realpath(out) == os.path.realpath(target):
        raise click.UsageError(f"-o {out} would overwrite the frame itself.")
    check_replaceable(out)


@dataclass(frozen=True)
class _Frame:
    """A frame, and what it was screened with."""

    pixels: "NDArray[Any]"
    parameters: "Parameters"
    names: dict[str, Any]  # for JSON: file, and exam, frame and head of a screened one
    field_of_view: "FieldOfView | None" = None
    exam: "Exam | None" = None  # None for a file that was not screened


def _read_frame(target: Path, number: int | None, head: int | None) -> _Frame:
    from capsieve.errors import FileError
    from capsieve.parameters import Parameters
    from capsieve.sources.image_file import read_image
    from capsieve.sources.video_container import is_video_name
    from capsieve.store.exam import Exam, exam_folders

    if not target.is_dir():
        if number is not None or head is not None:
            raise click.UsageError(
                f"--frame and --head need the folder of a screened exam; {target} is none."
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
    exam, head = Exam(folders[0]), head or 0
    exam.check_tables()
    row = exam.row(number, head)
    if row["status"] != "decoded":
        raise FileError(f"frame {number} of {target} could not be decoded: {row['problem']}")
    with exam.reader(head) as reader:
        pixels = reader.pixels(number)
    source = next(each for each in exam.record["sources"] if each["head"] == head)
    names = {"file": source["path"], "exam": str(exam.folder), "frame": number, "head": head}
    place = exam.field_of_view(head, row["rows"], row["cols"])
    return _Frame(pixels, exam.parameters, names, place, exam)


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


def _detector(name: str | None, exam: "Exam | None", parameters: "Parameters") -> "Detector":
    """Return the named detector, otherwise the one that scored the exam.

    A named detector may be another one; a note says so.
    """
    import capsieve
    from capsieve.detectors import same_detector
    from capsieve.errors import FileError

    if exam is None:
        return capsieve.load_detector(name or "paper", parameters=parameters)
    scored, folder = exam.record["detector"], exam.folder
    usual = str(scored.get("name", "paper"))
    if name is None and usual.endswith(".onnx") and not Path(usual).is_file():
        raise FileError(
            f"{folder} was screened with the model {usual}, which is missing; give its path with "
            "--detector FILE.onnx"
        )
    detector = capsieve.load_detector(name or usual, parameters=parameters)
    if same_detector(scored, detector.identity):
        return detector
    differ = (
        f"{folder} was screened with {_brief(scored)}, and {_brief(detector.identity)} is another "
        "detector"
    )
    if name is None:
        raise FileError(
            f"{differ}: give the first with --detector FILE.onnx, or name the second to use it "
            "nevertheless"
        )
    click.echo(f"Note: {differ}; the score may not be that of the results.", err=True)
    return detector


def _brief(identity: "dict[str, Any]") -> str:
    """Return the name of a detector; of a model with the beginning of its hash."""
    name, model = identity.get("name", "paper"), identity.get("model")
    return str(name) if model is None else f"{name} (SHA-256 {str(model)[:12]}...)"


def _flag(frame: _Frame, detector: "Detector", *, as_screened: bool) -> "FrameFlag | None":
    """Return the stored flag of a frame if detector and settings are those of the exam."""
    from capsieve.detectors import same_detector
    from capsieve.report.frame_flag import frame_flag

    if frame.exam is None or not same_detector(frame.exam.record["detector"], detector.identity):
        return None
    if as_screened:
        return frame_flag(frame.exam, frame.names["frame"], frame.names["head"])
    click.echo(
        "Note: the exam was screened with other parameters or another field of view; the result "
        "may not be that of the tables.",
        err=True,
    )
    return None


@dataclass(frozen=True)
class _Shown:
    """The explanation as text, and functions that draw the figure and return the JSON text."""

    why: list[str]
    draw: "Callable[..., Figure]"
    json: Callable[..., str]


def _by_steps(
    detector: "Detector",
    flag: "FrameFlag | None",
    pixels: "NDArray[Any]",
    field_of_view: "FieldOfView | None",
) -> _Shown:
    """Explain a frame by the steps of the paper's algorithm."""
    import capsieve
    from capsieve.cli.output import explanation_json
    from capsieve.detectors import parameters_of
    from capsieve.report.nine_panels import nine_panels
    from capsieve.report.score_words import score_warning
    from capsieve.report.words import why

    parameters = parameters_of(detector)
    result = capsieve.explain(pixels, parameters, field_of_view)
    warning = score_warning(result, flag)
    if flag is not None:
        result = flag.apply(result)
    words = [*why(result, parameters, flag).splitlines(), *warning]
    return _Shown(
        words,
        partial(nine_panels, result, parameters, flag=flag),
        partial(explanation_json, result, parameters, why=words, flag=flag),
    )


def _by_evidence(
    detector: "Detector",
    flag: "FrameFlag | None",
    pixels: "NDArray[Any]",
    field_of_view: "FieldOfView | None",
) -> _Shown:
    """Explain a frame by the score, the place and the evidence of another detector."""
    from capsieve.cli.output import score_json
    from capsieve.report.learned_panels import learned_panels
    from capsieve.report.score_words import described, is_probability, score_warning, score_why
    from capsieve.results import Evidence

    result = detector.score(pixels, field_of_view)
    warning = score_warning(result, flag)
    threshold = detector.score_threshold
    if flag is not None:
        result = flag.apply(result)
        threshold = threshold if flag.by_list else flag.flagging["value"]
    ask = getattr(detector, "evidence", None)
    evidence = Evidence() if ask is None else ask(pixels, field_of_view)
    probability = is_probability(detector.identity)
    words = score_why(result, threshold=threshold, probability=probability, flag=flag)
    why = [*words, *described(evidence), *warning]
    return _Shown(
        why,
        partial(learned_panels, pixels, result, evidence, verdict=why[0]),
        partial(score_json, detector, result, threshold=threshold, why=why, flag=flag),
    )
