"""Cohen's kappa: agreement of two readers beyond what chance would give."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from capsieve.errors import ParameterError
from capsieve.statistics.intervals import normal_quantile

__all__ = ["Kappa", "cohen_kappa", "tabulate"]


@dataclass(frozen=True, slots=True)
class Kappa:
    """Kappa and its interval.

    Attributes
    ----------
    value
        From -1 to 1; None where it is not defined.
    interval
        Of the large-sample standard error; None where there is none.
    reason
        Why value or interval is None; empty where both are there.
    """

    value: float | None
    interval: tuple[float, float] | None
    reason: str = ""


def cohen_kappa(table: ArrayLike, *, level: float = 0.95) -> Kappa:
    """Return kappa of a square table of counts.

    With the shares p_ij of the table, p_o = sum p_ii and p_e = sum p_i. p_.i:

        kappa = (p_o - p_e) / (1 - p_e)

    and with n counts the large-sample variance of Fleiss, Cohen and Everitt:

        (sum p_ii (1 - (p_i. + p_.i) (1 - kappa))^2
         + (1 - kappa)^2 sum_{i != j} p_ij (p_.i + p_j.)^2
         - (kappa - p_e (1 - kappa))^2) / (n (1 - p_e)^2)

    Parameters
    ----------
    table
        Row: what the first reader said; column: what the second did.
    level
        Of the interval.

    References
    ----------
    J. Cohen, Educ. Psychol. Meas. 20 (1960) 37-46.
    J. L. Fleiss, J. Cohen, B. S. Everitt, Psychol. Bull. 72 (1969) 323-327.
    """
    counts = np.asarray(table, float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise ParameterError("table", "kappa needs a square table of counts from 0")
    z = normal_quantile(level)
    n = counts.sum()
    if n == 0:
        return Kappa(None, None, "nothing was decided by both readers")
    p = counts / n
    rows, cols = p.sum(axis=1), p.sum(axis=0)
    chance = float(rows @ cols)
    if math.isclose(chance, 1.0):
        return Kappa(None, None, "both readers said the same one thing of everything")
    # From the counts, which are whole: from shares, no agreement beyond chance becomes -9.3e-17.
    crossed = counts.sum(axis=1) @ counts.sum(axis=0)
    kappa = float((n * np.trace(counts) - crossed) / (n**2 - crossed))
    both = np.diag(p)
    on = float(both @ (1 - (rows + cols) * (1 - kappa)) ** 2)
    # p_ij (p_.i + p_j.)^2: the column's share of the row's word, and the row's of the column's.
    off = float((p * (cols[:, None] + rows[None, :]) ** 2).sum() - both @ (cols + rows) ** 2)
    variance = on + (1 - kappa) ** 2 * off - (kappa - chance * (1 - kappa)) ** 2
    variance /= n * (1 - chance) ** 2
    if variance <= 1e-15:
        reason = "the large-sample interval has no width here, which tells nothing"
        return Kappa(kappa, None, reason)
    half = z * math.sqrt(variance)
    return Kappa(kappa, (max(-1.0, kappa - half), min(1.0, kappa + half)))


def tabulate(pairs: Sequence[tuple[str, str]], words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """Count pairs of words in a square table."""
    counts = {(a, b): 0 for a in words for b in words}
    for pair in pairs:
        counts[pair] += 1
    return tuple(tuple(counts[a, b] for b in words) for a in words)
