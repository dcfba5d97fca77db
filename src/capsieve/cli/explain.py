"""``capsieve explain``: one frame in pictures, and why it was flagged or not."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.field_of_view import FieldOfViewType

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
@click.argument("target", type=click.Path(path_type=Path), metavar="FRAME")
@click.option(
    "--frame",
    "number",
    type=click.IntRange(0),
    metavar="N",
    help="Where FRAME is the folder of a screened exam: the frame's number, from 0.",
)
@click.option(
    "--head", type=click.IntRange(0), metavar="H", help="Which camera of that exam.  [default: 0]"
)
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the picture there, as PNG, SVG or PDF by the ending.",
)
@click.option(
    "--detector",
    "detector_name",
    metavar="NAME|FILE.onnx",
    help="What scores the frame: paper, curvature, learned, or a model file. By default paper; "
    "for a screened exam, what scored it then.",
)
@click.option(
    "--parameters",
    "parameters_file",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Parameters other than the paper's; see capsieve parameters.",
)
@click.option(
    "--channel",
    type=click.Choice(["gray", "red", "lab-a"]),
    help="What the sieve looks at; wins over the file.",
)
@click.option(
    "--field-of-view",
    type=FieldOfViewType("auto"),
    metavar="auto|ROW,COL,RADIUS",
    help="The circle that shows the gut, in pixels of the frame; auto finds it in this frame. "
    "Default: the whole frame, or for a screened exam its field of view.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, and only that.")
@click.option("--show", is_flag=True, help="Open a window with the picture.")
def command(
    target: Path,
    number: int | None,
    head: int | None,
    out: Path | None,
    detector_name: str | None,
    parameters_file: Path | None,
    channel: str | None,
    field_of_view: "FieldOfView | str | None",
    as_json: bool,
    show: bool,
) -> None:
    """Show why one FRAME was flagged or not.

    FRAME is a JPEG, PNG, BMP or TIFF file, or the folder of a screened exam with --frame. Prints
    the words; -o also writes the picture: the nine steps of the paper's algorithm, or the evidence
    of another detector.
    """
    from capsieve.cli.output import announce_compilation

    _check_out(target, out)
    pixels, view, basis, named, exam = _chosen(target, number, head)
    parameters = _parameters(parameters_file, channel, basis)
    as_screened = parameters == basis and field_of_view is None
    if field_of_view is not None:
        view = _view(field_of_view, pixels)
    announce_compilation()
    screened = None if exam is None else exam.record["detector"]
    detector = _detector(detector_name, screened, parameters, target)
    flag = None
    if exam is not None and number is not None:
        flag = _flag(exam, number, head or 0, detector, as_screened=as_screened)
    explain = _explain_paper if detector.name == "paper" else _explain_other
    shown = explain(detector, flag, pixels, view)
    _say(shown, named, out=out, as_json=as_json, show=show, title=f"capsieve: {target.name}")


@dataclass(frozen=True)
class _Shown:
    """What is printed and drawn: words, a function for the figure, and one for the JSON text."""

    why: list[str]
    draw: "Callable[..., Figure]"
    json: Callable[..., str]


def _explain_paper(
    detector: "Detector",
    flag: "FrameFlag | None",
    pixels: "NDArray[Any]",
    view: "FieldOfView | None",
) -> _Shown:
    """Explain a frame by the steps of the paper's algorithm."""
    import capsieve
    from capsieve.cli.output import explanation_json
    from capsieve.report.nine_panels import nine_panels
    from capsieve.report.score_words import score_warning
    from capsieve.report.words import why

    parameters = detector.parameters
    result = capsieve.explain(pixels, parameters, view)
    warning = score_warning(result, flag)
    if flag is not None:
        result = flag.apply(result)
    words = [*why(result, parameters, flag).splitlines(), *warning]
    return _Shown(
        words,
        partial(nine_panels, result, parameters, flag=flag),
        partial(explanation_json, result, parameters, why=words, flag=flag),
    )


def _explain_other(
    detector: "Detector",
    flag: "FrameFlag | None",
    pixels: "NDArray[Any]",
    view: "FieldOfView | None",
) -> _Shown:
    """Explain a frame by the score, the place and the evidence of another detector."""
    from capsieve.cli.output import score_json
    from capsieve.report.learned_panels import learned_panels
    from capsieve.report.score_words import described, is_probability, score_warning, score_why
    from capsieve.results import Evidence

    result = detector.score(pixels, view)
    warning = score_warning(result, flag)
    threshold = detector.score_threshold
    if flag is not None:
        result = flag.apply(result)
        threshold = threshold if flag.by_list else flag.flagging["value"]
    ask = getattr(detector, "evidence", None)
    evidence = Evidence() if ask is None else ask(pixels, view)
    probability = is_probability(detector.identity)
    words = score_why(result, threshold=threshold, probability=probability, flag=flag)
    why = [*words, *described(evidence), *warning]
    return _Shown(
        why,
        partial(learned_panels, pixels, result, evidence, verdict=why[0]),
        partial(score_json, detector, result, threshold=threshold, why=why, flag=flag),
    )


def _say(
    shown: _Shown,
    named: "dict[str, Any]",
    *,
    out: Path | None,
    as_json: bool,
    show: bool,
    title: str,
) -> None:
    """Write the figure, print the words or the JSON text, and open the window."""
    from capsieve.cli.output import say_why

    if out is not None:
        from capsieve.report import figures

        figures.save(shown.draw(), out)
    if as_json:
        click.echo(shown.json(**named, figure=None if out is None else str(out)))
    else:
        say_why(shown.why)
        if out is not None:
            click.echo(f"Wrote {out}")
        elif not show:
            click.echo("For the picture add -o FILE.png, .svg or .pdf, or --show.", err=True)
    if show:
        from capsieve.report.window import show_in_window

        show_in_window(lambda figure: shown.draw(figure=figure), title=title)


def _flag(
    exam: "Exam", number: int, head: int, detector: "Detector", *, as_screened: bool
) -> "FrameFlag | None":
    """Return the stored flag of a frame if the detector and its settings are those of the exam."""
    from capsieve.detectors import same_detector
    from capsieve.report.frame_flag import frame_flag

    if not same_detector(exam.record["detector"], detector.identity):
        return None
    if not as_screened:
        click.echo(
            "Note: the exam was screened with other parameters or another field of view; the "
            "result may not be that of the tables.",
            err=True,
        )
        return None
    return frame_flag(exam, number, head)


def _chosen(
    target: Path, number: int | None, head: int | None
) -> "tuple[NDArray[Any], FieldOfView | None, Parameters, dict[str, Any], Exam | None]":
    """Return the pixels, what they were screened with, their names for JSON, and the exam.

    The exam is None for a file that was not screened.
    """
    from capsieve.errors import FileError
    from capsieve.parameters import Parameters
    from capsieve.sources.image_file import read_image

    if target.is_dir():
        from capsieve.store.exam import Exam

        if number is None:
            raise click.UsageError(f"{target} is a folder: say which frame, with --frame N.")
        exam, head = Exam(target), head or 0
        row = exam.row(number, head)
        if row["status"] != "decoded":
            raise FileError(f"frame {number} of {target} could not be decoded: {row['problem']}")
        with exam.reader(head) as reader:
            pixels = reader.pixels(number)
        field_of_view = exam.field_of_view(head, row["rows"], row["cols"])
        source = next(each for each in exam.record["sources"] if each["head"] == head)
        named = {"file": source["path"], "exam": str(target), "frame": number, "head": head}
        return pixels, field_of_view, exam.parameters, named, exam
    if number is not None or head is not None:
        raise click.UsageError(
            f"--frame and --head are for a folder that capsieve screen wrote; {target} is none."
        )
    return read_image(target), None, Parameters(), {"file": str(target)}, None


def _detector(
    name: str | None, screened: "dict[str, Any] | None", parameters: "Parameters", target: Path
) -> "Detector":
    """Return the detector that was named, or else the very one that screened the exam.

    One that was named explains the frame whatever screened it, and it is said where the two are
    not the same. One that was not named must be the same: the words would not be those of the
    results.
    """
    import capsieve
    from capsieve.detectors import is_out_of_fold, same_detector, screens_with
    from capsieve.errors import FileError

    if screened is None:
        return capsieve.load_detector(name or "paper", parameters=parameters)
    then = str(screened.get("name", "paper"))
    if name is None and is_out_of_fold(screened):
        raise FileError(
            f"{target} holds out-of-fold results, scored by models that are not kept; explain the "
            f"frame by the model that was trained on all frames: --detector "
            f"{screens_with(screened, target)}"
        )
    if name is None and then.endswith(".onnx") and not Path(then).is_file():
        raise FileError(
            f"{target} was screened with the model {then}, which is not here; say where it is with "
            "--detector FILE.onnx"
        )
    detector = capsieve.load_detector(name or then, parameters=parameters)
    if same_detector(screened, detector.identity):
        return detector
    now = detector.identity
    differ = f"{target} was screened with {_brief(screened)}, and {_brief(now)} is another detector"
    if name is None:
        raise FileError(
            f"{differ}: give the one that screened it with --detector FILE.onnx, or name this one "
            "to have the frame explained by it all the same"
        )
    click.echo(f"Note: {differ}; the score may not be that of the results.", err=True)
    return detector


def _brief(identity: "dict[str, Any]") -> str:
    """Name a detector; a model with the beginning of its hash."""
    name, model = identity.get("name", "paper"), identity.get("model")
    return str(name) if model is None else f"{name} (SHA-256 {str(model)[:12]}...)"


def _view(field_of_view: "FieldOfView | str", pixels: "NDArray[Any]") -> "FieldOfView | None":
    """Return the field of view; one that was searched is printed on stderr."""
    import capsieve

    if not isinstance(field_of_view, str):
        return field_of_view
    view = capsieve.find_field_of_view([pixels])
    if view.confidence == 0.0:
        click.echo("No field of view was found; the whole frame is analysed.", err=True)
        return None
    click.echo(
        f"Field of view: {view.shape}, row {view.row:.1f}, column {view.col:.1f}, radius "
        f"{view.radius:.1f}, confidence {view.confidence:.2f}.",
        err=True,
    )
    return view


def _check_out(target: Path, out: Path | None) -> None:
    """Say before the work what would fail after it."""
    if out is None:
        return
    from capsieve.errors import FileError
    from capsieve.report.figures import check_ending

    check_ending(out)
    if not out.absolute().parent.is_dir():
        raise FileError(f"cannot write {out}: there is no folder {out.parent}; make it first")
    if out.resolve() == target.resolve():
        raise click.UsageError(f"-o {out} would overwrite the frame itself.")


def _parameters(file: Path | None, channel: str | None, basis: "Parameters") -> "Parameters":
    from capsieve.parameters import Parameters

    parameters = basis if file is None else Parameters.load(file)
    if channel is None:
        return parameters
    return Parameters.from_dict({**parameters.to_dict(), "channel": channel})
