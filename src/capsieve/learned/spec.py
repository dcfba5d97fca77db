"""The inputs and outputs of a model: all that is needed to run it on a frame.

A model file of capsieve contains it as JSON; an ONNX file of somebody else has a TOML file next to
it.
"""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from capsieve.strict_model import Strict


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list | tuple) else (value,)


Numbers = Annotated[tuple[float, ...], BeforeValidator(_as_tuple)]
"""One number, or one per channel."""


class ImageInput(Strict, frozen=True):
    """The image that a model takes: (pixel * scale - mean) / std, where pixels are 0..255.

    Attributes
    ----------
    input
        Name of the graph's input.
    size
        Rows and columns of the square image.
    colour
        Order of the channels; "gray" is one channel.
    scale
        Factor of the pixels, such as 1/255.
    mean, std
        Subtracted, then divided by; one number, or one per channel in the order of `colour`.
    layout
        "nchw" (frames, channels, rows, columns) or "nhwc".
    crop
        "view" takes the square around the field of view, "frame" the whole frame, stretched.
    mask
        Whether pixels outside the field of view become black.
    """

    input: str
    size: int = Field(ge=8, le=2048)
    colour: Literal["rgb", "bgr", "gray"]
    scale: float = Field(gt=0)
    mean: Numbers = (0.0,)
    std: Numbers = (1.0,)
    layout: Literal["nchw", "nhwc"] = "nchw"
    crop: Literal["view", "frame"] = "view"
    mask: bool = True

    @model_validator(mode="after")
    def _check(self) -> Self:
        channels = 1 if self.colour == "gray" else 3
        for name in ("mean", "std"):
            if len(getattr(self, name)) not in (1, channels):
                raise ValueError(f'{name}: must have one number, or {channels} for "{self.colour}"')
        if min(self.std) <= 0:
            raise ValueError(f"std: must be above 0, not {min(self.std):g}")
        return self


class ValuesInput(Strict, frozen=True):
    """Features of the frame that a model takes, see :mod:`capsieve.learned.features`.

    Attributes
    ----------
    input
        Name of the graph's input.
    names
        The features, in the order in which the model takes them.
    version
        Version of the features: a model does not run with another one.
    """

    input: str
    names: tuple[str, ...] = Field(min_length=1)
    version: int

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.names:
            if self.names.count(name) > 1:
                raise ValueError(f"names: {name!r} occurs more than once")
        return self


class Output(Strict, frozen=True):
    """The output of a model from which the score is computed.

    Attributes
    ----------
    name
        Name of the graph's output.
    kind
        "probability", "logit" (the score is its sigmoid), "softmax" (one number per class, to which
        softmax is applied) or "mask" (numbers for each pixel).
    class_index
        The class of polyps, from 0; None if there is only one class.
    calibration
        Slope and intercept of Platt's calibration: the calibrated logit is slope * logit +
        intercept. None for no calibration.
    pixels
        What the numbers of a mask are: "probability", "logit" or "softmax" over the classes.
    frame_score
        The score of a mask: the largest probability, their mean, or the share of pixels above
        `level` ("area").
    level
        For "area".
    map
        Name of an output with an evidence map, frames x rows x columns; "" if there is none. A mask
        is its own map.
    """

    name: str
    kind: Literal["probability", "logit", "softmax", "mask"]
    class_index: int | None = Field(default=None, ge=0)
    calibration: tuple[float, float] | None = None
    pixels: Literal["probability", "logit", "softmax"] = "probability"
    frame_score: Literal["max", "mean", "area"] = "max"
    level: float = Field(default=0.5, gt=0, lt=1)
    map: str = ""

    @property
    def numbers(self) -> Literal["probability", "logit", "softmax"]:
        """What the numbers of the output are."""
        return self.pixels if self.kind == "mask" else self.kind

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.numbers == "softmax" and self.class_index is None:
            raise ValueError("class_index: is missing; it is the number of the class of polyps")
        if self.kind == "mask" and self.map:
            raise ValueError("map: remove it: a mask is its own map")
        if self.calibration is not None and self.calibration[0] <= 0:
            raise ValueError(
                f"calibration: the slope must be above 0, not {self.calibration[0]:g}: a "
                "calibration keeps the order of the scores"
            )
        return self


class ModelSpec(Strict, frozen=True):
    """How a model is run.

    Attributes
    ----------
    threshold
        The lowest score of a flagged frame.
    output
        The output and the meaning of its numbers.
    image, values
        The inputs: one of them, or both.
    schema_version
        Version of this description; files with another one are refused.
    """

    threshold: float = Field(gt=0, le=1)
    output: Output
    image: ImageInput | None = None
    values: ValuesInput | None = None
    schema_version: Literal[2] = 2

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.image is None and self.values is None:
            raise ValueError("image: is missing; describe the input in a table [image]")
        if self.image is None and (self.output.kind == "mask" or self.output.map):
            raise ValueError("image: is missing; a mask or map needs an image")
        if self.image and self.values and self.image.input == self.values.input:
            raise ValueError("values.input: is the input of the image")
        return self
