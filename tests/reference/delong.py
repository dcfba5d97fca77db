"""DeLong's and Obuchowski's covariance of areas, written out pair by pair in O(m n)."""

import numpy as np


def kernel(x: float, y: float) -> float:
    """psi(X, Y): 1 where the positive scores higher, 1/2 for a tie."""
    return 1.0 if y < x else 0.5 if y == x else 0.0


def delong(scores: list[np.ndarray], truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Areas and their covariance S10 / m + S01 / n, section 2 of DeLong et al. (1988)."""
    areas, rows, cols = [], [], []
    for score in scores:
        x, y = score[truth], score[~truth]
        psi = np.array([[kernel(xi, yj) for yj in y] for xi in x])
        areas.append(psi.mean())
        rows.append(psi.mean(axis=1))
        cols.append(psi.mean(axis=0))
    s10, s01 = np.cov(rows), np.cov(cols)
    return np.array(areas), s10 / len(rows[0]) + s01 / len(cols[0])


def obuchowski(
    scores: list[np.ndarray], truth: np.ndarray, groups: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Areas and their covariance for clustered frames, section 2 of Obuchowski (1997)."""
    tests = len(scores)
    m, n = int(truth.sum()), int((~truth).sum())
    clusters = sorted(set(groups.tolist()))
    with_positive = [i for i in clusters if truth[groups == i].any()]
    with_negative = [i for i in clusters if (~truth[groups == i]).any()]
    area = np.zeros(tests)
    v10 = [dict.fromkeys(clusters, 0.0) for _ in scores]
    v01 = [dict.fromkeys(clusters, 0.0) for _ in scores]
    for test, score in enumerate(scores):
        for a in np.flatnonzero(truth):
            for b in np.flatnonzero(~truth):
                psi = kernel(score[a], score[b])
                area[test] += psi / (m * n)
                v10[test][groups[a]] += psi / n
                v01[test][groups[b]] += psi / m
    m_of = {i: int(truth[groups == i].sum()) for i in clusters}
    n_of = {i: int((~truth[groups == i]).sum()) for i in clusters}

    def off10(test: int, i: int) -> float:
        return v10[test][i] - m_of[i] * area[test]

    def off01(test: int, i: int) -> float:
        return v01[test][i] - n_of[i] * area[test]

    i10, i01, every = len(with_positive), len(with_negative), len(clusters)
    covariance = np.empty((tests, tests))
    for r in range(tests):
        for s in range(tests):
            s10 = i10 / ((i10 - 1) * m) * sum(off10(r, i) * off10(s, i) for i in with_positive)
            s01 = i01 / ((i01 - 1) * n) * sum(off01(r, i) * off01(s, i) for i in with_negative)
            s11 = every / (every - 1) * sum(off10(r, i) * off01(s, i) for i in clusters)
            s11_turned = every / (every - 1) * sum(off10(s, i) * off01(r, i) for i in clusters)
            covariance[r, s] = s10 / m + s01 / n + (s11 + s11_turned) / (m * n)
    return area, covariance
