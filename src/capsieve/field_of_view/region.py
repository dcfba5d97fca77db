"""From a map of evidence to the edge of the one large region in it."""

from dataclasses import dataclass

import cv2
import numpy as np

from capsieve.field_of_view.surround import Evidence

__all__ = ["Edge", "Region", "regions"]

LEVELS = (0.08, 0.15, 0.3, 0.5)
"""Thresholds, as shares of the way from the surround's noise to the field's level."""

MOST_POINTS = 300


@dataclass(frozen=True, slots=True)
class Edge:
    """Points on the edge of a region and the outward normals there, (n, 2) each."""

    points: np.ndarray
    normals: np.ndarray


@dataclass(frozen=True, slots=True)
class Region:
    """A connected part of the image that is unlike the surround.

    Parameters
    ----------
    mask
        True where the evidence exceeds the threshold, everywhere in the image.
    edge
        The edge of the largest piece, thin things such as letters removed.
    """

    mask: np.ndarray
    edge: Edge


def regions(evidence: Evidence) -> list[Region]:
    """One region per threshold, where there is one that is large enough to be a field of view."""
    found: list[Region] = []
    last = np.zeros(evidence.map.shape, dtype=bool)
    for share in LEVELS:
        threshold = evidence.noise + max(3.0, share * (evidence.level - evidence.noise))
        mask = evidence.map > threshold
        pieces = _large_pieces(mask)
        # A sharp edge lies in the same place at every threshold: once is enough.
        if pieces is not None and (pieces ^ last).mean() > 0.002:
            found.append(Region(mask, _edge(pieces)))
            last = pieces
    return found


def _large_pieces(mask: np.ndarray) -> np.ndarray | None:
    """What survives an erosion wider than the strokes of letters, grown back.

    Mostly that is one piece. A dark fold may tear the field, so that pieces of at least a fifth
    of the largest are kept as well.
    """
    reach = max(2, round(0.012 * min(mask.shape)))
    # Outside the image counts as surround: a field that is cut off ends at the border.
    margin = 2 * reach + 1
    padded = np.pad(mask, margin).astype(np.uint8)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        cv2.erode(padded, disc), connectivity=4
    )
    if count < 2:
        return None
    area = stats[:, cv2.CC_STAT_AREA].copy()
    area[0] = 0
    kept = (area >= 0.2 * area.max())[labels].astype(np.uint8)
    pieces = np.minimum(cv2.dilate(kept, disc), padded)
    if pieces.sum() < 0.01 * mask.size:
        return None
    return pieces[margin:-margin, margin:-margin].astype(bool)


def _edge(pieces: np.ndarray) -> Edge:
    """Points half a pixel outside the last pixels of the pieces, at even steps along the edge."""
    padded = np.pad(pieces, 2).astype(np.uint8)
    contours, _ = cv2.findContours(padded, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    parts = [_with_normals(c[:, 0, ::-1].astype(float) - 2.0) for c in contours if len(c) > 16]
    points = np.concatenate([p for p, _ in parts])
    normals = np.concatenate([n for _, n in parts])
    pick = np.linspace(0, len(points), min(len(points), MOST_POINTS), endpoint=False).astype(int)
    return Edge(points[pick], normals[pick])


def _with_normals(contour: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A closed contour moved outwards by half a pixel, and its outward normals."""
    # The steps of a pixel contour are rough: directions come from a smoothed copy.
    smooth = contour.copy()
    for shift in (1, 2, 3):
        smooth += np.roll(contour, shift, axis=0) + np.roll(contour, -shift, axis=0)
    tangent = np.roll(smooth, -2, axis=0) - np.roll(smooth, 2, axis=0)
    normal = np.stack([tangent[:, 1], -tangent[:, 0]], axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-9)
    centred = contour - contour.mean(axis=0)
    if (centred * normal).sum() < 0:
        normal = -normal
    return contour + 0.5 * normal, normal
