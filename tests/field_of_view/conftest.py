"""Artificial exams with a known field of view: moving texture behind a mask."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import pytest


@dataclass(frozen=True)
class Scene:
    """What an artificial exam looks like. Lengths are in pixels, places are (row, col)."""

    size: tuple[int, int] = (240, 240)
    kind: str = "circle"  # circle, cut-square, rounded, rectangle, full
    centre: tuple[float, float] = (119.5, 119.5)
    half: tuple[float, float] = (100.0, 100.0)  # radius, or half height and half width
    cut: float = 0.0  # leg of the cut corner, or radius of the rounded one
    flat: float = 0.0  # a disc is cut by straight sides this far outside its radius (negative)
    surround: tuple[int, int, int] = (0, 0, 0)
    band: tuple[int, int, int] | None = None  # colour of the lower sixth of the surround
    text: str = "none"  # none, static, changing, overlapping
    logo: bool = False
    border_line: float = 0.0  # width of a black line along the image's border
    ring: float = 0.0  # width of a line around the field
    ring_colour: tuple[int, int, int] = (255, 255, 255)
    soft: float = 1.0  # width of the edge
    fall_off: float = 0.5  # darkening towards the edge
    brightness: float = 1.0
    noise: float = 1.5
    jpeg: int = 90  # 0: not compressed
    still: bool = False
    lumen: bool = True
    title_page: bool = False
    frames: int = 30
    seed: int = 0


def depth(scene: Scene, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
    """Distance to the edge of the field, negative outside; literal, one line per shape."""
    y, x = rows - scene.centre[0], cols - scene.centre[1]
    a, b = scene.half
    if scene.kind == "circle":
        inside = a - np.hypot(y, x)
        flat = a + scene.flat
        if scene.flat:
            inside = np.minimum(inside, flat - np.maximum(abs(y), abs(x)))
        return inside
    if scene.kind == "full":
        return np.full(y.shape, 1e3)
    inside = np.minimum(a - abs(y), b - abs(x))
    if scene.kind == "cut-square":
        inside = np.minimum(inside, (a + b - scene.cut - abs(y) - abs(x)) / np.sqrt(2))
    if scene.kind == "rounded":
        dy, dx = abs(y) - (a - scene.cut), abs(x) - (b - scene.cut)
        corner = (dy > 0) & (dx > 0)
        inside = np.where(corner, scene.cut - np.hypot(dy, dx), inside)
    return inside


def truth(scene: Scene) -> tuple[float, float, float]:
    """Largest circle inside the visible part by search on a fine grid, middle one if many."""
    height, width = scene.size
    line = scene.border_line
    row, col = min(max(scene.centre[0], 0), height - 1), min(max(scene.centre[1], 0), width - 1)
    step = max(height, width) / 16
    if scene.kind != "circle":
        # Of a long rectangle's many circles the one in the middle of what is visible.
        half = scene.half if scene.kind != "full" else (1e4, 1e4)
        row, col = (
            (max(c - h, line - 0.5) + min(c + h, n - 0.5 - line)) / 2
            for c, h, n in zip(scene.centre, half, scene.size, strict=True)
        )
    middle = row, col
    radius = 0.0
    while step > 0.01:
        rows, cols = np.meshgrid(
            row + step * np.linspace(-8, 8, 33), col + step * np.linspace(-8, 8, 33), indexing="ij"
        )
        value = np.minimum.reduce(
            [
                depth(scene, rows, cols),
                rows + 0.5 - line,
                cols + 0.5 - line,
                height - 0.5 - rows - line,
                width - 0.5 - cols - line,
            ]
        )
        best = (value - 1e-3 * np.hypot(rows - middle[0], cols - middle[1])).argmax()
        row, col, radius = rows.flat[best], cols.flat[best], value.flat[best]
        step *= 0.6
    return float(row), float(col), float(radius)


def texture(random: np.random.Generator, side: int) -> np.ndarray:
    """A colour picture of folds, `side` pixels square, that looks alike everywhere."""
    picture = np.zeros((side, side))
    for sigma, weight in ((0.16, 1.0), (0.06, 0.7), (0.02, 0.4), (0.006, 0.25)):
        coarse = max(4, int(2.5 / sigma))
        layer = random.normal(size=(coarse, coarse))
        layer = cv2.resize(layer, (side, side), interpolation=cv2.INTER_CUBIC)
        picture += weight * layer / layer.std()
    picture = 0.5 + 0.22 * picture
    tint = cv2.resize(random.normal(size=(6, 6)), (side, side), interpolation=cv2.INTER_CUBIC)
    colour = np.stack([210 + 12 * tint, 125 + 22 * tint, 80 - 10 * tint], axis=-1)
    return np.clip(colour * np.clip(0.35 + picture, 0.05, 1.4)[..., None], 0, 255)


def write(frame: np.ndarray, scene: Scene, number: int) -> None:
    """Burn letters, a logo and lines into a frame, as a recorder would."""
    height, width = scene.size
    size = max(0.3, min(height, width) / 600)
    ink = (230, 230, 230) if sum(scene.surround) < 380 else (10, 10, 10)
    heavy = max(1, round(size))
    if scene.text in ("static", "changing", "overlapping"):
        cv2.putText(frame, "PATIENT 07", (3, int(22 * size)), 0, size * 0.8, ink, heavy)
        cv2.putText(frame, "SB3", (width - int(46 * size), int(22 * size)), 0, size, ink, heavy)
    if scene.text in ("changing", "overlapping"):
        label = f"00:{number // 60:02d}:{(7 * number) % 60:02d} {100 + 13 * number}"
        cv2.putText(frame, label, (3, height - 4), 0, size * 0.8, ink, heavy)
    if scene.text == "overlapping":
        place = (int(width * 0.62), int(height * 0.13))
        cv2.putText(frame, f"F {number:05d}", place, 0, size * 1.1, ink, heavy)
    if scene.logo:
        side = int(0.09 * min(height, width))
        frame[-side - 3 : -3, -side - 3 : -3] = (240, 150, 20)


def make(scene: Scene) -> np.ndarray:
    """Frames of an artificial exam, uint8, (frames, rows, columns, 3)."""
    random = np.random.default_rng(scene.seed)
    height, width = scene.size
    rows, cols = np.mgrid[:height, :width].astype(float)
    inside = depth(scene, rows, cols)
    edge = np.clip(inside / scene.soft + 0.5, 0, 1)
    row, col, radius = truth(scene)
    reach = np.hypot(rows - row, cols - col) / max(radius, 1)
    light = np.clip(1 - scene.fall_off * np.minimum(reach, 1.3) ** 2 / 1.3, 0.03, 1)
    side = int(1.7 * max(height, width))
    wall = texture(random, side)
    surround = np.broadcast_to(np.array(scene.surround, float), (height, width, 3)).copy()
    if scene.band is not None:
        surround[-height // 6 :] = scene.band
    out = []
    place = random.uniform(0, side - max(height, width), 2)
    gut = np.array([row, col]) + radius * random.uniform(-0.4, 0.4, 2)
    for number in range(scene.frames):
        if not scene.still:
            place = random.uniform(0, side - max(height, width), 2)
            gut = np.array([row, col]) + radius * random.uniform(-0.6, 0.6, 2)
        y, x = place.astype(int)
        view = wall[y : y + height, x : x + width] * light[..., None]
        if scene.lumen:
            gap = np.hypot(rows - gut[0], cols - gut[1]) / (0.45 * radius)
            view = view * np.clip(0.05 + gap**2, 0, 1)[..., None]
        if not scene.still:
            view = view * random.uniform(0.7, 1.15)
        frame = surround + (view * scene.brightness - surround) * edge[..., None]
        if scene.ring:
            line = np.clip(np.minimum(-inside, inside + scene.ring) + 0.5, 0, 1)[..., None]
            frame = frame + (np.array(scene.ring_colour) - frame) * line
        if scene.border_line:
            border = np.minimum.reduce([rows, cols, height - 1 - rows, width - 1 - cols]) + 0.5
            frame = frame * np.clip(border - scene.border_line + 0.5, 0, 1)[..., None]
        frame = frame + random.normal(scale=scene.noise, size=frame.shape)
        if scene.title_page and number == 1:
            frame[:] = 235.0
        frame = np.ascontiguousarray(np.clip(np.round(frame), 0, 255).astype(np.uint8))
        write(frame, scene, number)
        if scene.jpeg:
            quality = [cv2.IMWRITE_JPEG_QUALITY, scene.jpeg]
            coded = cv2.imencode(".jpg", frame[..., ::-1], quality)[1]
            decoded = cv2.imdecode(coded, cv2.IMREAD_COLOR)
            assert decoded is not None
            frame = decoded[..., ::-1]
        out.append(frame)
    return np.ascontiguousarray(np.stack(out))


@dataclass(frozen=True)
class Workshop:
    """What the tests need of this file."""

    scene: type[Scene]
    make: Callable[[Scene], np.ndarray]
    truth: Callable[[Scene], tuple[float, float, float]]


@pytest.fixture(scope="session")
def workshop() -> Workshop:
    """Make artificial exams."""
    return Workshop(Scene, make, truth)
