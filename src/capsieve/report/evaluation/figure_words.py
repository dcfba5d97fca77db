"""What each figure shows, for its caption and for those who cannot see it."""

from capsieve.report.evaluation.cells import decimals, rate_text
from capsieve.report.evaluation.finding import area_of
from capsieve.report.evaluation.operating import place_of, threshold_name
from capsieve.statistics.curves import RocCurve
from capsieve.statistics.evaluation import Evaluation

__all__ = ["figure_alt", "figure_caption"]

_CAPTIONS = {
    "roc": "ROC: what is found against what is flagged in vain, for every threshold. Crosses mark "
    "the operating points; the solid diagonal is a sieve that guesses.",
    "roc-low": "The same up to 20 % false positives: the part that matters, since what is flagged "
    "has to be read.",
    "false-positives-per-patient": "False positive rates with Wilson's interval.",
    "histogram-texture-max": "T_max in both classes. Pre-selection keeps what lies between T_L and "
    "T_U.",
    "histogram-radius-max": "R_max in both classes. Frames from R_P on are flagged.",
    "histogram-score": "The score in both classes. Frames from the threshold on are flagged.",
    "reading-effort": "What is found for what is read: every point is a threshold.",
    "alarms": "Polyps found in time against false alarms per exam: every point is a threshold.",
    "froc": "Free-response ROC: outlines that hold the centre of a ball against balls beside any "
    "polyp.",
    "causes": "How often frames with each finding are flagged.",
    "comparison": "Both on the same frames: ROC curves with their operating points, and "
    "differences with their intervals.",
}


def figure_caption(name: str) -> str:
    """Return a figure's caption."""
    return _CAPTIONS.get(name, name)


def figure_alt(evaluation: Evaluation, name: str) -> str:
    """Return what the figure shows in words, with its main numbers."""
    words = [figure_caption(name)]
    if name in ("roc", "roc-low"):
        for curve in (evaluation.roc_frames, evaluation.roc_polyps):
            if curve is not None:
                words.append(_roc_words(evaluation, curve, low=name == "roc-low"))
    elif name == "reading-effort" and evaluation.effort is not None and evaluation.points:
        effort = evaluation.effort
        point = evaluation.points[0]
        place = place_of(effort.thresholds, point.threshold)
        if place >= 0:
            words.append(
                f"At {threshold_name(evaluation, point)} "
                f"{rate_text(float(effort.polyps_found[place]), effort.polyps)} of the "
                f"{effort.unit}s are found for "
                f"{decimals(float(effort.frames[place]), digits=0)} frames per exam."
            )
    else:
        words.append("The numbers are in the table beside it, or in metrics.json.")
    return " ".join(words)


def _roc_words(evaluation: Evaluation, curve: RocCurve, *, low: bool) -> str:
    words = f"Per {curve.unit}:"
    area = area_of(evaluation, curve.unit, low=low)
    if area is not None and area.value is not None:
        words += f" area {decimals(area.value, digits=3)};"
    for point in evaluation.points[:1]:
        place = place_of(curve.thresholds, point.threshold)
        if place >= 0:
            words += (
                f" at {threshold_name(evaluation, point)}"
                f" {rate_text(float(curve.true_positive_rate[place]), curve.positives)} found for"
                f" {rate_text(float(curve.false_positive_rate[place]), curve.negatives)}"
                " false positives;"
            )
    end = rate_text(float(curve.false_positive_rate[-1]), curve.negatives)
    return f"{words} the curve ends at a false positive rate of {end}."
