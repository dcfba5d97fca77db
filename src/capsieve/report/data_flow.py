"""The flow of data in Algorithm 1, from the frame to the class, with the values of parameters."""

from typing import TYPE_CHECKING, NamedTuple

from capsieve.parameters import Parameters
from capsieve.report import figures
from capsieve.report.figures import INK, SOFT_INK, Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches: a grid of boxes.
_ACROSS, _DOWN = 2.12, 1.02
_BOX = 1.66, 0.62
_LEGEND = 0.5
_STEPS = (
    ("1 pre-processing", "#e8edf2"),
    ("2 texture", "#f9e3c0"),
    ("3 mid-pass filter, segmentation", "#d4e8f5"),
    ("4 geometry", "#d9efe4"),
    ("5 ball fitting", "#f7dccd"),
    ("6 classification", "#e6dcf0"),
)


class _Box(NamedTuple):
    """A quantity: place in the grid (column, row), step of Algorithm 1, symbol and meaning."""

    col: float
    row: float
    step: int
    symbol: str
    meaning: str


def data_flow_drawing(parameters: Parameters) -> Drawing:
    """Draw how each quantity follows from others, with the bounds of these parameters."""
    from matplotlib.figure import Figure

    boxes = _boxes(parameters)
    across = max(box.col for box in boxes.values()) + 1
    down = max(box.row for box in boxes.values()) + 1
    width, height = across * _ACROSS, down * _DOWN + _LEGEND
    with figures.style():
        figure = Figure(figsize=(width, height), facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        for start, end, words in _ARROWS:
            _draw_arrow(axes, boxes[start], boxes[end], words)
        for box in boxes.values():
            _draw_box(axes, box)
        _draw_legend(axes, height)
    caption = (
        "Flow of data in Algorithm 1. Colours: the steps of the algorithm. A frame that fails the "
        "texture criterion, or without a component in K_G, gets R_max = 0."
    )
    return Drawing(figure, caption, "Flow of data from the frame to its class")


def _boxes(p: Parameters) -> dict[str, _Box]:
    low, high = p.derived.size_low, p.derived.size_high
    texture = rf"${p.texture_low:g} \leq T_{{\mathrm{{max}}}} \leq {p.texture_high:g}$"
    filtered = rf"mid-pass, $\sigma_1 = {p.midpass_fine:g}$, $\sigma_2 = {p.midpass_coarse:g}$"
    return {
        "f": _Box(0, 0, 0, "$f$", "grey, normalised,\nextended frame"),
        "u": _Box(1, 0, 2, "$u$", filtered.replace(", ", ",\n", 1)),
        "s": _Box(2, 0, 2, "$s$", r"segmentation," "\n" r"$u \geq \Theta$"),
        "sk": _Box(3, 0, 2, "$s^{(k)}$", "connected\ncomponents"),
        "I": _Box(4, 0, 3, "$I^{(k)}$", "tensors\nof inertia"),
        "t": _Box(0, 1, 1, "$t$", "texture"),
        "T": _Box(0, 2, 1, "$T$", rf"$|t|^{{{p.energy_power:g}}}$, smoothed"),
        "Tmax": _Box(0, 3, 1, r"$T_{\mathrm{max}}$", "its maximum"),
        "TK": _Box(0, 4, 1, texture, "pre-selection"),
        "b": _Box(1.5, 1, 4, r"$\tilde{b}^{(k)}(R)$", "ball of radius $R$"),
        "Ropt": _Box(1.5, 2, 4, r"$R^{(k)}_{\mathrm{opt}}$", "best fit to $u$"),
        "Rmax": _Box(1.5, 3, 4, r"$R_{\mathrm{max}}$", r"largest, $k \in K_G$"),
        "BC": _Box(
            1.5, 4, 5, rf"$R_{{\mathrm{{max}}}} \geq {p.radius_threshold}$", "polyp, else normal"
        ),
        "S": _Box(3, 1, 3, "$S^{(k)}$", "sizes"),
        "E": _Box(4, 1, 3, "$E^{(k)}$", "eccentricities"),
        "KS": _Box(3, 2, 3, "$K_S$", rf"${low} \leq S^{{(k)}} \leq {high}$"),
        "KE": _Box(4, 2, 3, "$K_E$", rf"$E^{{(k)}} \leq {p.eccentricity_max:g}$"),
        "KG": _Box(3.5, 3, 3, r"$K_G = K_S \cap K_E$", "both criteria"),
    }


_ARROWS = (
    ("f", "u", ""),
    ("u", "s", ""),
    ("s", "sk", ""),
    ("sk", "I", ""),
    ("f", "t", ""),
    ("t", "T", ""),
    ("T", "Tmax", ""),
    ("Tmax", "TK", ""),
    ("TK", "Rmax", "if not: 0"),
    ("u", "b", ""),
    ("sk", "b", ""),
    ("b", "Ropt", ""),
    ("Ropt", "Rmax", ""),
    ("Rmax", "BC", ""),
    ("sk", "S", ""),
    ("I", "E", ""),
    ("S", "KS", ""),
    ("E", "KE", ""),
    ("KS", "KG", ""),
    ("KE", "KG", ""),
    ("KG", "Rmax", "if empty: 0"),
)
"""From, to, and words at the arrow."""


def _centre(box: _Box) -> tuple[float, float]:
    return (box.col + 0.5) * _ACROSS, (box.row + 0.5) * _DOWN


def _draw_box(axes: "Axes", box: _Box) -> None:
    from matplotlib.patches import FancyBboxPatch

    (x, y), (width, height) = _centre(box), _BOX
    last = box.symbol.startswith("$R_{\\mathrm{max}} ")
    patch = FancyBboxPatch(
        (x - width / 2, y - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.09",
        facecolor=_STEPS[box.step][1],
        edgecolor=INK if last or box.symbol == "$f$" else "#9aa6b2",
        linewidth=1.6 if last or box.symbol == "$f$" else 0.8,
    )
    axes.add_patch(patch)
    lines = box.meaning.count("\n") + 1
    wide = len(box.symbol) > 18
    if lines == 2 and not wide:  # the symbol to the left of two lines
        axes.text(x - 0.56, y, box.symbol, fontsize=12, ha="center", va="center")
        axes.text(x + 0.22, y, box.meaning, fontsize=8.6, ha="center", va="center")
        return
    axes.text(x, y - 0.12, box.symbol, fontsize=12, ha="center", va="center")
    axes.text(x, y + 0.16, box.meaning, fontsize=8.6, ha="center", va="center")


def _draw_arrow(axes: "Axes", start: _Box, end: _Box, words: str) -> None:
    """Draw an arrow between the borders of two boxes."""
    (x0, y0), (x1, y1) = _centre(start), _centre(end)
    places = [(x0, y0), (x1, y1)]
    for which, sign in ((0, 1), (1, -1)):
        x, y = places[which]
        dx, dy = sign * (x1 - x0), sign * (y1 - y0)
        reach = min(
            (_BOX[0] / 2 + 0.03) / abs(dx) if dx else 9.0,
            (_BOX[1] / 2 + 0.03) / abs(dy) if dy else 9.0,
        )
        places[which] = x + reach * dx, y + reach * dy
    look = {"arrowstyle": "-|>", "color": SOFT_INK, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", places[1], places[0], arrowprops=look)
    if words:
        x, y = ((a + b) / 2 for a, b in zip(*places, strict=True))
        back = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        axes.text(x, y, words, fontsize=8.2, color=SOFT_INK, ha="center", va="center", bbox=back)


def _draw_legend(axes: "Axes", height: float) -> None:
    from matplotlib.patches import Rectangle

    x, y = 0.25, height - 0.3
    for name, color in _STEPS:
        axes.add_patch(Rectangle((x, y - 0.08), 0.22, 0.16, facecolor=color, edgecolor="#9aa6b2"))
        axes.text(x + 0.29, y, name, fontsize=8.6, color=SOFT_INK, va="center")
        x += 0.58 + 0.068 * len(name)
