"""Bubbles over a frame: each a thin lens with a dark and a bright rim and the lamps' glints."""

import math

import numpy as np

from capsieve.compiling import compiled

__all__ = ["draw_bubbles"]


@compiled
def draw_bubbles(image, behind, distance, bubbles, covered):
    """Draw bubbles onto a linear RGB image, in the order given.

    A row of `bubbles`: row, column, radius (pixels), distance (mm), light, foam (0 clear, 1 white).
    A bubble shows where the surface behind it is not nearer than itself; `behind` is the image
    without bubbles. Marks `covered`.
    """
    rows, cols = covered.shape
    for k in range(bubbles.shape[0]):
        r0, c0, radius = bubbles[k, 0], bubbles[k, 1], bubbles[k, 2]
        away, light, foam = bubbles[k, 3], bubbles[k, 4], bubbles[k, 5]
        top, bottom = max(int(r0 - radius), 0), min(int(r0 + radius) + 2, rows)
        left, right = max(int(c0 - radius), 0), min(int(c0 + radius) + 2, cols)
        rim = max(np.float32(0.09), np.float32(1.1) / radius)
        for row in range(top, bottom):
            for col in range(left, right):
                dy, dx = (np.float32(row) - r0) / radius, (np.float32(col) - c0) / radius
                rho = math.sqrt(dx * dx + dy * dy)
                if rho >= np.float32(1) or distance[row, col, 0] < away:
                    continue
                covered[row, col] = 1
                # A thin wall of liquid: the middle shows what is behind, the rim bends it away.
                squeeze = np.float32(1) - np.float32(0.5) * rho * rho
                back_row = min(max(int(r0 + squeeze * dy * radius), 0), rows - 1)
                back_col = min(max(int(c0 + squeeze * dx * radius), 0), cols - 1)
                if distance[back_row, back_col, 0] <= 0:
                    back_row, back_col = row, col
                edge = (rho - (np.float32(1) - np.float32(1.6) * rim)) / rim
                bright = math.exp(-edge * edge)
                dark = np.float32(0.9) - np.float32(0.3) * rho * rho + np.float32(2.2) * bright
                if rho > np.float32(1) - np.float32(0.7) * rim:
                    dark = np.float32(0.22)
                add = light * (np.float32(0.07) * bright + np.float32(0.03) * foam)
                spot = np.float32(0)
                size = max(np.float32(0.07), np.float32(0.75) / radius)
                for m in range(4):
                    sy = np.float32(0.13) if m < 2 else np.float32(-0.13)
                    sx = np.float32(0.13) if m % 2 else np.float32(-0.13)
                    ey, ex = (dy - sy + np.float32(0.22)) / size, (dx - sx) / size
                    spot += math.exp(-ey * ey - ex * ex)
                add += light * np.float32(1.3) * spot
                # The lamps are seen once more, upside down, in the far wall of the bubble.
                ey = (dy - np.float32(0.68)) / (np.float32(2.2) * size)
                ex = dx / (np.float32(4) * size)
                add += light * np.float32(0.10) * math.exp(-ey * ey - ex * ex)
                for c in range(3):
                    tone = (
                        np.float32(1)
                        if c == 0
                        else np.float32(1.06) - np.float32(0.12) * np.float32(c)
                    )
                    image[row, col, c] = dark * behind[back_row, back_col, c] + tone * add
