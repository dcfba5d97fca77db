"""Circle and ellipse over a frame's picture, as vectors in the source's pixels."""

from markupsafe import Markup

from capsieve.paper.ellipse import inertia_ellipse
from capsieve.report.exam_tables import BestFeature

__all__ = ["overlay"]

_POINTS = 49


def overlay(
    shape: tuple[int, int],
    ball: tuple[float, float, float] | None,
    best: BestFeature | None,
) -> Markup:
    """Draw the ball and the ellipse of inertia of the feature that it belongs to.

    Parameters
    ----------
    shape
        Rows and columns of the source's frame.
    ball
        Row, column and radius in the source's pixels.
    best
        The feature, and its place on the source's pixels.

    Returns
    -------
    Markup
        An ``svg`` that covers the frame exactly: coordinates count pixel centres, so that the
        frame begins at -0.5. Every line lies on a darker, wider one: it is seen on bright tissue.
    """
    rows, cols = shape
    parts: list[Markup] = []
    if best is not None:
        outline = _ellipse(best)
        parts += [
            Markup('<path class="{}" d="{}"/>').format(c, outline) for c in ("rim", "ellipse")
        ]
    if ball is not None:
        row, col, radius = ball
        parts += [
            Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="{:.1f}"/>').format(
                name, col, row, radius
            )
            for name in ("rim", "ball")
        ]
    return Markup(
        '<svg class="overlay" viewBox="-0.5 -0.5 {} {}" preserveAspectRatio="none" '
        'aria-hidden="true">{}</svg>'
    ).format(cols, rows, Markup("").join(parts))


def _ellipse(best: BestFeature) -> str:
    rows, cols = inertia_ellipse(best.feature, points=_POINTS)
    places = [
        f"{best.col_offset + best.scale * col:.1f} {best.row_offset + best.scale * row:.1f}"
        for row, col in zip(rows[:-1].tolist(), cols[:-1].tolist(), strict=True)
    ]
    return f"M{'L'.join(places)}z"
