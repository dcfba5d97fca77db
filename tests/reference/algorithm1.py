"""Algorithm 1: binary classification with pre-selection (section III-F)."""

import math
from dataclasses import dataclass

import numpy as np

from .ball import best_radius, weighted_centre
from .components import (
    centre_of_mass,
    connected_components,
    eccentricity,
    inertia_tensor,
    size,
)
from .energy import default_sigma, energy
from .extension import extend
from .gray import grey_from_rgb
from .mask import mask
from .midpass import midpass, segmentation, threshold
from .texture import cartoon_texture
from .vignetting import correct


@dataclass(frozen=True)
class Feature:
    """One connected component s^(k); rows and columns count from 0.

    The ball's centre is given for every feature, R_opt is 0 outside K_G.
    """

    k: int
    size: int
    row: float
    col: float
    eccentricity: float
    in_KS: bool
    in_KE: bool
    ball_row: float
    ball_col: float
    R_opt: int


@dataclass(frozen=True)
class Analysis:
    """Every intermediate array of one frame, and what was decided about it."""

    gray: np.ndarray
    mask: np.ndarray
    log_vignetting: np.ndarray
    corrected: np.ndarray
    extended: np.ndarray
    lowpass: np.ndarray
    cartoon: np.ndarray
    texture: np.ndarray
    energy: np.ndarray
    midpass: np.ndarray
    segmentation: np.ndarray
    labels: np.ndarray
    T_max: float
    preselected: bool
    u_max: float
    theta: float
    N_C: int
    features: list[Feature]
    R_geom: int
    R_max: int
    polyp: bool


def default_size_low(nx: int) -> int:
    """S_L = ceil((Nx / 15)^2) (parameter table)."""
    return math.ceil((nx / 15) ** 2)


def default_size_high(nx: int) -> int:
    """S_U = ceil((Nx / 4.5)^2) (parameter table)."""
    return math.ceil((nx / 4.5) ** 2)


def describe_feature(
    k: int,
    labels: np.ndarray,
    u: np.ndarray,
    *,
    size_low: float,
    size_high: float,
    eccentricity_max: float,
    ball_fit: str,
) -> Feature:
    """Equations 14 to 27 for one component: K_S, K_E, and R_opt where it is in both."""
    s_k = labels == k
    s = size(s_k)
    row, col = centre_of_mass(s_k)
    e = eccentricity(inertia_tensor(s_k))
    in_ks = size_low <= s <= size_high
    in_ke = e <= eccentricity_max
    ball_centre = weighted_centre(u, s_k)
    return Feature(
        k=k,
        size=s,
        row=row,
        col=col,
        eccentricity=e,
        in_KS=in_ks,
        in_KE=in_ke,
        ball_row=ball_centre[0],
        ball_col=ball_centre[1],
        R_opt=best_radius(u, s_k, ball_centre, ball_fit) if in_ks and in_ke else 0,
    )


def analyze(
    frame: np.ndarray,
    *,
    mask_radius: float = 0.45,
    ball_fit: str = "printed",
    stencil: float = 1.0,
    vignetting: bool = True,
    extension_slope: float = 1.0,
    texture_iterations: int = 5,
    texture_sigma: float = 5.0,
    energy_sigma: float | None = None,
    energy_power: float = 0.8,
    texture_low: float = 3.0,
    texture_high: float = 8.0,
    midpass_fine: float = 7.0,
    midpass_coarse: float = 30.0,
    threshold_low: float = 0.11,
    threshold_high: float = 0.16,
    size_low: float | None = None,
    size_high: float | None = None,
    eccentricity_max: float = 6.5,
    radius_threshold: float = 37,
) -> Analysis:
    """Algorithm 1 on one frame of the working size, grey or RGB, on 0..255.

    Steps 3 to 5 are computed for every frame: R_geom is their result, and R_max is R_geom
    where the frame passes the pre-selection and 0 where it does not. None stands for the
    parameter table's formula in Nx.
    """
    frame = np.asarray(frame, dtype=np.float64)
    gray = grey_from_rgb(frame) if frame.ndim == 3 else frame
    ny, nx = gray.shape
    energy_sigma = default_sigma(nx) if energy_sigma is None else energy_sigma
    size_low = default_size_low(nx) if size_low is None else size_low
    size_high = default_size_high(nx) if size_high is None else size_high

    inside = mask(ny, nx, mask_radius)
    corrected, log_vignetting = correct(gray, inside) if vignetting else (gray, np.zeros(0))
    f = extend(corrected, inside, extension_slope)

    low, c, t = cartoon_texture(f, sigma=texture_sigma, iterations=texture_iterations)
    transformed = energy(t, inside, sigma=energy_sigma, power=energy_power, stencil=stencil)
    t_max = float(transformed.max())
    preselected = texture_low <= t_max <= texture_high

    u = midpass(f, inside, fine_sigma=midpass_fine, coarse_sigma=midpass_coarse, stencil=stencil)
    theta = threshold(u, low=threshold_low, high=threshold_high)
    s = segmentation(u, theta)
    labels, n_components = connected_components(s)
    features = [
        describe_feature(
            k,
            labels,
            u,
            size_low=size_low,
            size_high=size_high,
            eccentricity_max=eccentricity_max,
            ball_fit=ball_fit,
        )
        for k in range(1, n_components + 1)
    ]
    r_geom = max((feature.R_opt for feature in features), default=0)
    r_max = r_geom if preselected else 0

    return Analysis(
        gray=gray,
        mask=inside,
        log_vignetting=log_vignetting,
        corrected=corrected,
        extended=f,
        lowpass=low,
        cartoon=c,
        texture=t,
        energy=transformed,
        midpass=u,
        segmentation=s,
        labels=labels,
        T_max=t_max,
        preselected=preselected,
        u_max=float(u.max()),
        theta=theta,
        N_C=n_components,
        features=features,
        R_geom=r_geom,
        R_max=r_max,
        polyp=r_max >= radius_threshold,
    )
