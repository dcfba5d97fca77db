import hashlib
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from capsieve.report.evaluation.comparison_figure import comparison_figure
from capsieve.report.evaluation.effort_figures import alarms_figure, effort_figure
from capsieve.report.evaluation.figures import figures
from capsieve.report.evaluation.histogram_figure import histogram_figure
from capsieve.report.evaluation.operating import distinct_points
from capsieve.report.evaluation.patient_figures import patients_figure
from capsieve.report.evaluation.roc_figures import roc_figure
from capsieve.report.figure_file import save_figure
from capsieve.statistics.evaluation import OperatingPoint
from capsieve.statistics.metric import Interval
from capsieve.statistics.table import Column, Table
from made_evaluation import made_evaluation
from made_tables import made_tables

NAMES = {
    "roc", "roc-low", "false-positives-per-patient", "histogram-texture-max",
    "histogram-radius-max", "reading-effort", "alarms", "froc", "causes", "comparison",
}  # fmt: skip


def notes_of(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.texts)


@pytest.mark.slow
def test_all_figures_are_drawn_and_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    digests: list[dict[str, str]] = []
    for _ in range(2):
        drawn = figures(made_evaluation())
        assert drawn.keys() == NAMES
        found = {}
        for name, figure in drawn.items():
            path = tmp_path / f"{name}.svg"
            save_figure(figure, path)
            ElementTree.parse(path)
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        digests.append(found)
    assert digests[0] == digests[1]


def test_nothing_is_drawn_of_nothing() -> None:
    names = ("roc_frames", "roc_polyps", "effort", "alarms", "froc", "comparison")
    empty = made_evaluation(**dict.fromkeys(names), histograms=(), tables=())
    assert figures(empty) == {}


def test_the_cross_stands_at_the_papers_rates() -> None:
    figure = roc_figure(made_evaluation())
    assert figure is not None
    per_frame, per_polyp = figure.axes
    for axes, found in ((per_frame, 109 / 230), (per_polyp, 13 / 16)):
        [cross] = [line for line in axes.get_lines() if line.get_marker() == "x"]
        [x], [y] = (np.asarray(values, float) for values in cross.get_data())
        assert x == pytest.approx(1837 / 18738)
        assert y == pytest.approx(found)
    labels = per_polyp.get_legend_handles_labels()[1]
    assert any("81.25 % found at 9.8 %" in label for label in labels)


def test_the_end_of_the_curve_is_marked_and_goes_on_dotted() -> None:
    evaluation = made_evaluation()
    figure = roc_figure(evaluation)
    assert figure is not None
    assert evaluation.roc_frames is not None
    [dotted] = [line for line in figure.axes[0].get_lines() if line.get_linestyle() == ":"]
    x, y = dotted.get_data()
    assert np.asarray(x).tolist() == [evaluation.roc_frames.false_positive_rate[-1], 1]
    assert np.asarray(y).tolist() == [evaluation.roc_frames.true_positive_rate[-1], 1]


def test_a_curve_that_reaches_the_corner_has_no_guess() -> None:
    evaluation = made_evaluation(roc_polyps=None)
    curve = evaluation.roc_frames
    assert curve is not None
    whole = replace(
        curve,
        thresholds=np.append(curve.thresholds, 0.5),
        false_positive_rate=np.append(curve.false_positive_rate, 1.0),
        true_positive_rate=np.append(curve.true_positive_rate, 1.0),
    )
    figure = roc_figure(replace(evaluation, roc_frames=whole))
    assert figure is not None
    [axes] = figure.axes
    assert not [line for line in axes.get_lines() if line.get_linestyle() == ":"]


def test_the_reason_for_a_missing_band_is_written_below() -> None:
    figure = roc_figure(made_evaluation())
    assert figure is not None
    assert "too few for an interval" in " ".join(text.get_text() for text in figure.texts)


def test_minutes_stand_above_the_frames() -> None:
    evaluation = made_evaluation()
    figure = effort_figure(evaluation)
    assert figure is not None
    above = figure.axes[0].child_axes[0]
    FigureCanvasAgg(figure).draw()  # only then the upper axis knows its bounds
    frames, minutes = figure.axes[0].get_xlim()[1], above.get_xlim()[1]
    assert minutes == pytest.approx(frames / 4 / 60)


def test_without_times_there_is_no_panel_of_events() -> None:
    evaluation = made_evaluation()
    assert evaluation.effort is not None
    effort = replace(evaluation.effort, events=np.full_like(evaluation.effort.events, np.nan))
    figure = effort_figure(replace(evaluation, effort=effort))
    assert figure is not None
    assert len(figure.axes) == 1


def test_histograms_are_shares_of_each_class() -> None:
    figure = histogram_figure(made_evaluation().histograms[0])
    assert figure is not None
    for patch in figure.axes[0].patches:
        values = patch.get_data().values  # pyright: ignore[reportAttributeAccessIssue]
        assert values.sum() == pytest.approx(1)


def test_patients_stand_with_their_counts() -> None:
    figure = patients_figure(made_tables()[2])
    assert figure is not None
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts[0] == "8.1 %  (34 of 422)"
    assert len(texts) == 5


def test_names_from_outside_are_only_text(tmp_path: Path) -> None:
    evil = r"$\frac{1}{$ <b> \u202e % _ ^ & sigma1 $$ \input"
    table = Table(
        "false-positives-per-patient",
        evil,
        (Column("p", "P"), Column("n", "N", "count"), Column("f", "F", "count"),
         Column("r", "R", "share")),
        ((evil, 10, 5, 0.5), ("", 10, 1, 0.1)),
    )  # fmt: skip
    figure = patients_figure(table)
    assert figure is not None
    save_figure(figure, tmp_path / "a.svg")
    ElementTree.parse(tmp_path / "a.svg")


def test_a_table_without_counts_is_not_drawn() -> None:
    table = Table("t", "T", (Column("p", "P"), Column("r", "R", "share")), (("x", 0.5),))
    assert patients_figure(table) is None


def test_colours_never_speak_alone() -> None:
    figure = roc_figure(made_evaluation())
    assert figure is not None
    for axes in figure.axes:
        looks = [
            (line.get_linestyle(), line.get_marker(), line.get_linewidth())
            for line in axes.get_lines()
            if not str(line.get_label()).startswith("_")
        ]
        assert len(looks) == len(set(looks))


def test_the_histogram_shows_the_threshold_that_is_judged() -> None:
    evaluation = made_evaluation()
    point = replace(evaluation.points[0], threshold=44.0)
    drawn = figures(replace(evaluation, points=(point, *evaluation.points[1:])))
    words = [text.get_text() for text in drawn["histogram-radius-max"].axes[0].texts]
    assert [word for word in words if "R" in word and word.endswith("= 44")]


def test_the_point_that_is_judged_has_the_first_mark() -> None:
    chosen, screened, fitted = (
        OperatingPoint(key, threshold, "")
        for key, threshold in (("chosen", 40.0), ("screened", 37.0), ("fitted", 40.0))
    )
    assert distinct_points((chosen, screened, fitted)) == [chosen, screened]


def test_legends_of_curves_hide_nothing() -> None:
    evaluation = made_evaluation()
    drawn = (
        roc_figure(evaluation),
        roc_figure(evaluation, low=True),
        effort_figure(evaluation),
        alarms_figure(evaluation),
        comparison_figure(evaluation),
    )
    for figure in drawn:
        assert figure is not None
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        notes = max(text.get_window_extent().y1 for text in figure.texts)
        for axes in figure.axes:
            legend = axes.get_legend()
            if legend is None:
                continue
            box = legend.get_window_extent()
            assert box.y1 < axes.xaxis.label.get_window_extent().y0
            assert box.y0 > notes
            assert all(not box.overlaps(other.get_window_extent()) for other in figure.axes)
            assert box.x1 < canvas.get_width_height()[0]


def test_operating_points_outside_the_low_part_are_not_drawn_there() -> None:
    evaluation = made_evaluation()
    lenient = OperatingPoint("screened", 20.0, "")
    figure = roc_figure(replace(evaluation, points=(evaluation.points[0], lenient)), low=True)
    assert figure is not None
    for axes in figure.axes:
        marks = [line.get_marker() for line in axes.get_lines()]
        assert "x" in marks
        assert "+" not in marks


def test_a_curve_that_runs_back_is_explained_and_no_other() -> None:
    evaluation = made_evaluation()
    effort, alarms = evaluation.effort, evaluation.alarms
    assert effort is not None
    assert alarms is not None
    events, false = effort.events.copy(), alarms.alarms.copy()
    events[-1], false[-1] = events[-2] / 2, false[-2] / 2
    back = replace(
        evaluation, effort=replace(effort, events=events), alarms=replace(alarms, alarms=false)
    )
    for draw in (effort_figure, alarms_figure):
        for judged, explained in ((evaluation, False), (back, True)):
            figure = draw(judged)
            assert figure is not None
            assert ("runs back" in notes_of(figure)) is explained


def test_both_operating_points_are_marked_on_the_compared_curves() -> None:
    figure = comparison_figure(made_evaluation())
    assert figure is not None
    marks = {line.get_marker(): line for line in figure.axes[0].get_lines()}
    for mark, x, y in (("x", 0.115, 0.535), ("+", 0.098, 0.474)):
        [across], [up] = (np.asarray(values, float) for values in marks[mark].get_data())
        assert (across, up) == pytest.approx((x, y))


def test_names_and_values_of_differences_stand_beside_their_panel() -> None:
    figure = comparison_figure(made_evaluation())
    assert figure is not None
    FigureCanvasAgg(figure).draw()
    axes = figure.axes[1]
    panel = axes.get_window_extent()
    names = axes.get_yticklabels()
    assert [name.get_text() for name in names][:2] == ["Sensitivity per frame", "Specificity"]
    assert all(name.get_window_extent().x1 < panel.x0 for name in names)
    assert all(text.get_window_extent().x0 > panel.x1 for text in axes.texts)
    assert all(text.get_window_extent().x1 < figure.bbox.x1 for text in axes.texts)
    assert figure.axes[0].get_window_extent().x1 < min(n.get_window_extent().x0 for n in names)


def test_why_there_are_no_bars_is_said_once() -> None:
    evaluation = made_evaluation()
    comparison = evaluation.comparison
    assert comparison is not None
    none = (Interval("bootstrap over patients", None, None, "only 5 patients", 5),)
    without = [replace(metric, intervals=none) for metric in comparison.metrics]
    for metrics, words in (
        (without, "No bars (only 5 patients)."),
        (
            [comparison.metrics[0], *without[1:]],
            "No bar for specificity, area under the ROC curve per frame (only 5 patients).",
        ),
    ):
        changed = replace(comparison, metrics=tuple(metrics))
        figure = comparison_figure(replace(evaluation, comparison=changed))
        assert figure is not None
        assert words in notes_of(figure)
        assert notes_of(figure).count("only 5 patients") == 1
        assert ("95 %" in notes_of(figure)) is (metrics is not without)


def test_without_rates_in_the_table_the_curves_stand_alone() -> None:
    evaluation = made_evaluation()
    comparison = evaluation.comparison
    assert comparison is not None
    bare = replace(comparison, values=replace(comparison.values, rows=()), metrics=())
    figure = comparison_figure(replace(evaluation, comparison=bare))
    assert figure is not None
    [axes] = figure.axes
    assert not [line for line in axes.get_lines() if line.get_marker() in ("x", "+")]
