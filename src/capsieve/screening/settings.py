"""Options of a screening run and its progress; only the standard library is imported."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from capsieve.errors import ParameterError
from capsieve.option_fields import documented, option

if TYPE_CHECKING:
    from pathlib import Path

    from capsieve.detector import Detector
    from capsieve.frames import FieldOfView
    from capsieve.parameters import Parameters

FieldChoice: TypeAlias = "FieldOfView | Literal['auto', 'whole']"
"""Search the field of view in the frames, use the whole frames, or use this one for all."""


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenSettings:
    """Options of :func:`capsieve.screen`."""

    detector: "str | Path | Detector" = option(
        "paper",
        "What scores the frames: paper, curvature, learned, or a model file.",
        metavar="NAME|FILE.onnx",
    )
    parameters: "Parameters | None" = option(
        None,
        "Other parameters: the reading inferred from the paper's figures, or a file; "
        "see capsieve parameters.",
        metavar="inferred|FILE.toml",
    )
    provider: str = option(
        "cpu",
        "Where a model runs: cpu, or another execution provider that onnxruntime has "
        "here, such as cuda.",
        metavar="NAME",
    )
    read: str | int | None = option(
        None,
        "Flag the frames with the highest scores: a share such as 10% (the default of "
        "learned detectors) or a number such as 300.",
        metavar="SHARE|NUMBER",
    )
    threshold: float | None = option(
        None,
        "Flag the frames with at least this score. By default the detector decides.",
        metavar="SCORE",
    )
    field_of_view: FieldChoice = option(
        "auto",
        "The circle that shows the gut: searched in each exam, the whole frame, or in "
        "pixels of the frame.",
        metavar="auto|whole|ROW,COL,RADIUS",
    )
    workers: int | None = option(None, "Processes; by default one per core.", min=1)
    cluster: str | None = option(
        None,
        "Work on a Dask cluster: tcp://HOST:PORT, tls://HOST:PORT, or local:N for N "
        "workers on this machine.",
        metavar="ADDRESS",
    )
    overwrite: bool = option(False, "Remove earlier results of these exams first.")
    full_names: bool = option(
        False, "Include the names of folders in the names of exams: Polyp/KID is Polyp-KID."
    )

    def __post_init__(self) -> None:
        if isinstance(self.field_of_view, str) and self.field_of_view not in ("auto", "whole"):
            raise ParameterError(
                "field_of_view",
                f"must be 'auto', 'whole' or a FieldOfView, not {self.field_of_view!r}",
            )


@dataclass(frozen=True, slots=True)
class Progress:
    """State of a run."""

    exam: str
    number: int  # of the exam, from 1
    exams: int
    done: int  # finished frames, also by an earlier run
    total: int
    resumed: int  # frames that an earlier run finished


Listener: TypeAlias = Callable[[Progress], None]
"""Called whenever frames are finished."""
