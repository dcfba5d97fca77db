"""Write a model file again with the perceptual hashes of its training frames.

    python tools/training_hashes.py RESULTS MODEL

RESULTS is the output of `capsieve screen`, with any detector. One of its exams has exactly the
training frames: their hash is that of the card. Graph, spec and card do not change, and no image is
stored. Use it if the definition of the perceptual hashes has changed.
"""

import sys

import numpy as np
import onnx

from capsieve.evaluation.scores import read_scores
from capsieve.learned.card import frames_hash
from capsieve.learned.model_file import read_model, write_model


def main() -> None:
    """Find the exam that has the frames of the card, and write the file."""
    results, path = sys.argv[1:]
    model, scored = read_model(path), read_scores(results)
    if model.card is None or scored.hashes is None or scored.pixel_hash is None:
        sys.exit("needs screened exams and a model with a card")
    texts = np.array(scored.pixel_hash.to_pylist(), object)
    exam = scored.frames.exam
    for code, name in enumerate(exam.names):
        rows = np.flatnonzero(exam.code == code)
        if frames_hash(texts[rows]) == model.card.hashes.frames:
            hashes = scored.hashes.phash[rows]
            graph = onnx.load_from_string(model.content)
            write_model(path, graph, model.spec, model.card, hashes[hashes.any(axis=(1, 2))])
            print(f"{path}: hashes of {len(rows):,} frames of {name}")
            return
    sys.exit(f"no exam in {results} has exactly the frames of the card of {path}")


if __name__ == "__main__":
    main()
