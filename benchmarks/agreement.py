"""How far the fast detector is from the stored outputs of independent implementations."""

import json
import sys
from pathlib import Path

import numpy as np

import capsieve
from capsieve.paper.texture import cartoon_texture

TESTS = Path(__file__).parents[1] / "tests"
GOLDEN = TESTS / "golden"


def main() -> None:
    print(f"{'largest difference':<44}{'':>6}")
    for name, value in {**of_textures(), **of_frames(), **of_stages()}.items():
        print(f"{name:<44}{value:10.1e}")


def of_textures() -> dict[str, float]:
    """Against the original implementation of cartoon + texture, in grey levels."""
    worst = {"lowpass": 0.0, "cartoon": 0.0, "texture": 0.0}
    for path in GOLDEN.glob("cartoon_texture_*.npz"):
        with np.load(path) as golden:
            split = cartoon_texture(golden["input"])._asdict()
            for name in worst:
                worst[name] = max(worst[name], float(np.abs(split[name] - golden[name]).max()))
    return {f"{name} (grey levels, 9 images)": value for name, value in worst.items()}


def of_frames() -> dict[str, float]:
    """Against a literal implementation of the whole algorithm."""
    texture, midpass, sizes, radii, shape = 0.0, 0.0, 0.0, 0.0, 0.0
    for path in GOLDEN.glob("frame_*.json"):
        golden = json.loads(path.read_text())
        with np.load(path.with_suffix(".npz")) as stored:
            found = capsieve.explain(stored[stored.files[0]])
        texture = max(texture, abs(found.texture_max / golden["T_max"] - 1))
        midpass = max(midpass, abs((found.midpass_max or 0.0) - golden["u_max"]))
        for feature, expected in zip(found.features, golden["features"], strict=True):
            sizes = max(sizes, abs(feature.size - expected["S"]))
            radii = max(radii, abs(feature.radius - expected["R_opt"]))
            shape = max(shape, abs(feature.eccentricity / expected["E"] - 1))
    return {
        "T_max (relative, 12 frames)": texture,
        "max u": midpass,
        "sizes (pixels)": sizes,
        "radii (pixels)": radii,
        "eccentricity (relative)": shape,
    }


def of_stages() -> dict[str, float]:
    """Against the literal transcription in double precision, on a synthetic frame."""
    sys.path.insert(0, str(TESTS))
    from reference import algorithm1

    found = capsieve.explain(capsieve.phantom.polyp_frame(size=256))
    literal = algorithm1.analyze(found.frame)
    inside = literal.mask
    return {
        f"{name} (synthetic frame)": float(
            np.abs(getattr(found, name) - getattr(literal, name))[inside].max()
        )
        for name in ("corrected", "extended", "texture", "energy", "midpass")
    }
