"""Options of ``capsieve reproduce``; only light modules are imported."""

from dataclasses import dataclass
from pathlib import Path

from capsieve.errors import ParameterError
from capsieve.option_fields import option

Composition = tuple[tuple[int, tuple[int, ...]], ...]
"""Per patient the number of normal frames, and the number of frames of each polyp."""

_PHANTOM_PATIENT = "4"


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Options of :func:`capsieve.reproduce.run.reproduce`.

    The text "help" of a field makes it an option of the command line; the others are for tests.
    """

    exams: Path | None = option(
        None,
        "Your own exams instead of the phantom: what capsieve screen takes.",
        metavar="DIR",
    )
    labels: Path | None = option(
        None, "What the frames of your exams show; needs --exams.", metavar="FILE"
    )
    train_patient: str | None = option(
        None,
        "The patient that R_P is chosen on, as the paper's patient 4; needs --exams.",
        metavar="NAME",
    )
    regions: Path | None = option(
        None, "Outlines of the polyps on your frames; needs --exams.", metavar="FILE"
    )
    label_format: str | None = option(
        None, "Format of the labels, if it is not recognised.", metavar="NAME"
    )
    allow_leaks: bool = option(
        False, "Continue although patients are not independent; the page names the leaks."
    )
    short: bool = option(False, "A tenth of the frames of the phantom.")
    seed: int = option(
        0, "Seed of the phantom, and of the normal frames of the robustness study.", min=0
    )
    workers: int | None = option(None, "Processes; by default one per core.", min=1)
    overwrite: bool = option(False, "Remove an earlier study from the folder first.")
    composition: Composition | None = None  # of the phantom; by default the paper's
    size: int = 512  # rows and columns of its frames
    normals: int | None = None  # of the robustness study; by default the paper's

    def __post_init__(self) -> None:
        own = self.exams is not None
        for name in ("labels", "train_patient", "regions", "label_format"):
            if getattr(self, name) is not None and not own:
                raise ParameterError(name, "is for your own exams; give exams too")
        for name in ("labels", "train_patient"):
            if own and getattr(self, name) is None:
                raise ParameterError(name, "is missing: your own exams need labels and a patient")
        if own and self.short:
            raise ParameterError("short", "is for the phantom only; leave it out, or the exams")

    @property
    def patient(self) -> str:
        """The patient that R_P is chosen on."""
        return self.train_patient or _PHANTOM_PATIENT

    @property
    def patient_words(self) -> str:
        """The same for a sentence: "patient 4"."""
        name = self.patient
        return name if "patient" in name.casefold() else f"patient {name}"
