"""Write a network again in 8-bit integers, with the texts of its card.

    python tools/integers.py RESULTS MODEL CARD.toml

RESULTS is the output of `capsieve screen`, with any detector. One of its exams has exactly the
training frames: their hash is that of the card. Some of these frames calibrate the integers. Spec,
figures and perceptual hashes do not change; terms and limits of the card become those of CARD.toml.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray

from capsieve.evaluation.scores import read_scores
from capsieve.frames import checked_pixels
from capsieve.learned.card import ModelCard, frames_hash
from capsieve.learned.crop import crop
from capsieve.learned.model_file import read_model, write_model
from capsieve.store.exam import Exam
from capsieve.training.card import CardTexts, read_card_texts
from capsieve.training.integers import CALIBRATION_FRAMES, in_integers


def main() -> None:
    """Find the exam that has the frames of the card, and write the file."""
    results, path, texts = sys.argv[1:]
    model, scored = read_model(path), read_scores(results)
    if model.card is None or model.spec.image is None or scored.pixel_hash is None:
        sys.exit("needs screened exams and a network with a card")
    hashes = np.array(scored.pixel_hash.to_pylist(), object)
    exam = scored.frames.exam
    for code, name in enumerate(exam.names):
        rows = np.flatnonzero(exam.code == code)
        if frames_hash(hashes[rows]) == model.card.hashes.frames:
            chosen = rows[:: max(1, len(rows) // CALIBRATION_FRAMES)][:CALIBRATION_FRAMES]
            numbers = scored.frames.frame[chosen].tolist()
            images = _images(Exam(Path(results) / name), numbers, model.spec.image.size)
            graph = in_integers(onnx.load_from_string(model.content), images)
            card = _card(model.card, read_card_texts(Path(texts)))
            write_model(path, graph, model.spec, card, model.training_phashes)
            print(f"{path}: in integers, calibrated on {len(chosen)} frames of {name}")
            return
    sys.exit(f"no exam in {results} has exactly the frames of the card of {path}")


def _images(exam: Exam, numbers: list[int], size: int) -> Iterator[NDArray[np.float32]]:
    with exam.reader(0) as reader:
        for number in reader.in_stored_order(numbers):
            pixels = checked_pixels(reader.pixels(number))
            image = crop(pixels, exam.field_of_view(0, *pixels.shape[:2]), size)
            yield np.ascontiguousarray(image.transpose(2, 0, 1)[None], np.float32)


def _card(card: ModelCard, texts: CardTexts) -> ModelCard:
    own = [limit for limit in card.limits if limit not in texts.limits]
    settings = {**card.settings, "integers": f"8 bits, calibrated on {CALIBRATION_FRAMES} frames"}
    return card.model_copy(
        update={"settings": settings, "terms": texts.terms, "limits": (*own, *texts.limits)}
    )


if __name__ == "__main__":
    main()
