"""The paper's figure of the steps of the algorithm: nine panels (a) to (i), and the decision.

The figure is made with Matplotlib's objects alone, without pyplot: no window opens, and no list of
open figures is kept.
"""

import textwrap
from typing import TYPE_CHECKING, Any

from capsieve._version import __version__
from capsieve.parameters import Parameters, Preset
from capsieve.report import figures, words
from capsieve.report.figures import SOFT_INK
from capsieve.report.panels import PANEL_WIDTH, draw_decision, draw_panels
from capsieve.report.text import math_symbols
from capsieve.report.words import FrameFlag, rule_parameters
from capsieve.results import Explanation, Feature

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

# Inches and points. The figure grows downwards with the frame's height and the number of lines.
# Every place is computed here: Matplotlib's constrained layout gives other last digits from run to
# run, and so other files for the same frame.
_WIDTH = 10.0
_BAR_WIDTH = 0.58
_TALLEST_PANEL = 1.6 * PANEL_WIDTH
_PANEL_TITLE = 0.37
_HEADER = 0.54
_FOOTER = 0.30
_ABOVE_WORDS = 0.24
_MARGIN = 0.14
_LEFT = _MARGIN / _WIDTH
_LINE = 0.168
_MOST_FEATURES_IN_WORDS = 12


def nine_panels(
    explanation: Explanation,
    parameters: Parameters,
    *,
    flag: FrameFlag | None = None,
) -> "Figure":
    """Draw every step of the algorithm for one frame.

    Parameters
    ----------
    explanation
        What ``capsieve.explain`` returned.
    parameters
        Those that it was computed with.
    flag
        The stored flag of a frame of a screened exam, which the explanation has.

    Returns
    -------
    Figure
        (a) frame, (b) grey, (c) normalised, (d) extended, (e) texture t, (f) energy T,
        (g) mid-pass u, (h) segmentation, (i) ellipses of inertia; the decision above, the words
        below. Solid yellow: features and balls that count. Dashed: those that do not.
    """
    from matplotlib.figure import Figure

    with figures.style():
        lines = _Lines(explanation, parameters, flag)
        rows, cols = explanation.mask.shape
        panel_height = min(PANEL_WIDTH * rows / cols, _TALLEST_PANEL)
        heights = [
            _HEADER,
            3 * (panel_height + _PANEL_TITLE),
            _ABOVE_WORDS + lines.count * _LINE + _MARGIN + _FOOTER,
        ]
        figure = Figure()
        figure.set_layout_engine("none")
        figure.set_size_inches(_WIDTH, sum(heights))
        figure.set_facecolor("white")
        parts: Any = figure.subfigures(3, 1, height_ratios=heights, hspace=0.0)
        header, middle, below = parts
        decision = words.decision(explanation, parameters, flag)
        draw_decision(header, decision, explanation.label, _LEFT + 0.007)
        drawn = rule_parameters(parameters, flag)
        draw_panels(_panel_axes(middle, panel_height), explanation, drawn)
        _draw_words(below, lines, heights[2])
        _draw_footer(below, heights[2], parameters.preset)
    return figure


def _panel_axes(middle: "SubFigure", panel_height: float) -> list["Axes"]:
    """Nine equal panels, each with a title above and a colour bar to the right."""
    step = panel_height + _PANEL_TITLE
    width, height = PANEL_WIDTH / _WIDTH, panel_height / (3 * step)
    return [
        middle.add_axes(
            (
                (_MARGIN + col * (PANEL_WIDTH + _BAR_WIDTH)) / _WIDTH,
                (2 - row) / 3,
                width,
                height,
            )
        )
        for row in range(3)
        for col in range(3)
    ]


class _Lines:
    """The words below the panels, wrapped into one or two columns."""

    def __init__(self, e: Explanation, parameters: Parameters, flag: FrameFlag | None) -> None:
        features = _chosen(e.features)
        wide = 150 if not features else 78
        sentences = words.step_words(e, parameters, flag)
        if e.reason in ("texture-low", "texture-high"):
            sentences.append("Panels (g) to (i) show what geometry would have seen.")
        self.steps = _wrapped(sentences, wide)
        self.features = _wrapped([words.feature_words(one, parameters) for one in features], 70)
        left_out = len(e.features) - len(features)
        if left_out:
            self.features.append(f"... and {left_out} more.")

    @property
    def count(self) -> int:
        """How many lines high, with the heading."""
        return 1 + max(len(self.steps), len(self.features))


def _wrapped(sentences: list[str], width: int) -> list[str]:
    return [
        line
        for sentence in sentences
        for line in textwrap.wrap(sentence, width, subsequent_indent="    ", break_on_hyphens=False)
    ]


def _chosen(features: tuple[Feature, ...]) -> list[Feature]:
    """Those that passed and the largest of the others, as many as fit."""
    ranked = sorted(features, key=lambda feature: (bool(feature.rejected), -feature.size))
    return sorted(ranked[:_MOST_FEATURES_IN_WORDS], key=lambda feature: feature.number)


def _draw_words(below: "SubFigure", lines: _Lines, height: float) -> None:
    top = 1 - _ABOVE_WORDS / height
    columns = [(_LEFT, "How it was decided", lines.steps), (0.53, "Features", lines.features)]
    for left, heading, column in columns:
        if column:
            below.text(left, top, heading, va="top", fontweight="bold", color=SOFT_INK)
        for n, line in enumerate(column, start=1):
            below.text(left, top - n * _LINE / height, math_symbols(line), va="top")


def _draw_footer(below: "SubFigure", height: float, preset: Preset) -> None:
    reading = f"the paper {words.preset_words(preset)}"
    notice = f"capsieve {__version__} - {reading} - research software, not a medical device"
    legend = "solid: passes    dashed: rejected    green \N{MULTIPLICATION SIGN}: centre of mass"
    small: dict[str, Any] = {"fontsize": 7, "color": SOFT_INK, "va": "bottom"}
    below.text(_LEFT, 0.08 / height, notice, **small)
    below.text(1 - _LEFT, 0.08 / height, legend, ha="right", **small)
