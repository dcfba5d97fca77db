"""What goes into a model and what comes out: all that is needed to run it on a frame.

capsieve's own files carry it as JSON inside; beside somebody else's ONNX file it is a TOML file.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

from capsieve.errors import ParameterError
from capsieve.learned.plain_data import (
    check_schema,
    decode,
    encode,
    entry,
    parsed_json,
    require,
)

__all__ = [
    "SPEC_SCHEMA",
    "ImageInput",
    "ModelSpec",
    "Output",
    "ValuesInput",
]

SPEC_SCHEMA = 1
"""Version of the description; a file with another one is refused."""

_SIZES = (8, 2048)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInput:
    """The picture that a model takes: (pixel * scale - mean) / std, pixels being 0..255.

    Attributes
    ----------
    input
        Name of the graph's input.
    size
        Rows and columns of the square picture.
    colour
        Order of the channels; "gray" is one channel.
    scale
        What a pixel is multiplied with, such as 1/255.
    mean, std
        Subtracted and divided by after that; one number, or one for each channel in the order
        of `colour`.
    layout
        "nchw" (frames, channels, rows, columns) or "nhwc".
    crop
        "view" takes the square around the field of view, "frame" the whole frame, stretched.
    mask
        Whether what lies outside the field of view is made black.
    """

    input: str = entry("which input of the graph takes the picture")
    size: int = entry("how many rows and columns the picture has, such as 224")
    colour: Literal["rgb", "bgr", "gray"] = entry('the order of the channels, such as "rgb"')
    scale: float = entry("what a pixel of 0..255 is multiplied with, such as 1.0 or 0.00392156862")
    mean: float | tuple[float, ...] = 0.0
    std: float | tuple[float, ...] = 1.0
    layout: Literal["nchw", "nhwc"] = "nchw"
    crop: Literal["view", "frame"] = "view"
    mask: bool = True

    def __post_init__(self) -> None:
        low, high = _SIZES
        require(low <= self.size <= high, "image.size", f"from {low} to {high}", self.size)
        require(self.scale > 0, "image.scale", "above 0", self.scale)
        for name in ("mean", "std"):
            value = getattr(self, name)
            if isinstance(value, tuple) and len(value) != self.channels:
                raise ParameterError(
                    f"image.{name}",
                    f"must be one number, or a list of {self.channels} for the channels of "
                    f'"{self.colour}", not of {len(value)}',
                )
        std = self.std if isinstance(self.std, tuple) else (self.std,)
        require(all(each > 0 for each in std), "image.std", "above 0", self.std)

    @property
    def channels(self) -> int:
        """How many channels the picture has."""
        return 1 if self.colour == "gray" else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuesInput:
    """Features of the frame that a model takes, see :mod:`capsieve.learned.features`.

    Attributes
    ----------
    input
        Name of the graph's input.
    names
        Which features, in the order in which the model takes them.
    version
        Of the features: a model does not run on features of another version.
    """

    input: str = entry("which input of the graph takes the values")
    names: tuple[str, ...] = entry("which features the model takes, in their order")
    version: int = entry("of which version of the features they are")

    def __post_init__(self) -> None:
        require(len(self.names) > 0, "values.names", "a list of at least one name", self.names)
        twice = sorted({name for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ParameterError("values.names", f"names {twice[0]!r} more than once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """Which output of a model tells of polyps, and how.

    Attributes
    ----------
    name
        Of the graph's output.
    kind
        "probability", "logit" (its sigmoid is taken), "softmax" (one number for each class, of
        which the softmax is taken) or "mask" (one number for each pixel).
    class_index
        Which class is the polyp, from 0; None where there is only one.
    pixels
        For a mask what its numbers are: "probability", "logit" or "softmax" over the classes.
    frame_score
        For a mask how the frame's score is made: the largest probability, their mean, or the
        share of pixels above `level` ("area").
    level
        For "area".
    map
        Name of an output with an evidence map, frames x rows x columns; "" for none. A mask is
        its own map.
    """

    name: str = entry("which output of the graph tells of polyps")
    kind: Literal["probability", "logit", "softmax", "mask"] = entry(
        'what the output is: "probability", "logit", "softmax" or "mask"'
    )
    class_index: int | None = None
    pixels: Literal["probability", "logit", "softmax"] = "probability"
    frame_score: Literal["max", "mean", "area"] = "max"
    level: float = 0.5
    map: str = ""

    def __post_init__(self) -> None:
        index = self.class_index
        require(index is None or index >= 0, "output.class_index", "0 or more", index)
        require(0 < self.level < 1, "output.level", "between 0 and 1", self.level)
        if self.kind == "softmax" and index is None:
            raise ParameterError(
                "output.class_index", "is missing; it says which class is the polyp, from 0"
            )
        if self.kind == "mask" and self.pixels == "softmax" and index is None:
            raise ParameterError(
                "output.class_index", "is missing; it says which class is the polyp, from 0"
            )
        if self.kind == "mask" and self.map:
            raise ParameterError("output.map", "leave it out: a mask is its own map")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """How a model is run.

    Attributes
    ----------
    threshold
        The least score at which a frame is flagged.
    output
        What comes out.
    image, values
        What goes in: one of them, or both.
    schema
        Version of this description.
    """

    threshold: float = entry("the least score, above 0 and at most 1, at which a frame is flagged")
    output: Output = field(metadata={"meaning": "what comes out of the model: a table [output]"})
    image: ImageInput | None = None
    values: ValuesInput | None = None
    schema: int = SPEC_SCHEMA

    def __post_init__(self) -> None:
        require(0 < self.threshold <= 1, "threshold", "above 0 and at most 1", self.threshold)
        if self.image is None and self.values is None:
            raise ParameterError(
                "image", "is missing; say what goes into the model in a table [image]"
            )
        if self.output.kind == "mask" and self.image is None:
            raise ParameterError("output.kind", "a mask needs a picture: a table [image]")
        if self.output.map and self.image is None:
            raise ParameterError("output.map", "a map needs a picture: a table [image]")
        if self.image and self.values and self.image.input == self.values.input:
            raise ParameterError("values.input", "is the input that takes the picture")

    def to_dict(self) -> dict[str, Any]:
        """Return plain tables."""
        return encode(self)

    @classmethod
    def from_dict(cls, table: object) -> "ModelSpec":
        """Build from plain tables; what is wrong with them is a ParameterError."""
        check_schema(table, SPEC_SCHEMA, unsaid=SPEC_SCHEMA)
        return decode(cls, table)

    def to_json(self) -> str:
        """Return one line of JSON; equal descriptions give equal texts."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "ModelSpec":
        """Build from JSON."""
        return cls.from_dict(parsed_json(text))

    @classmethod
    def from_toml(cls, text: str) -> "ModelSpec":
        """Build from TOML."""
        import tomllib

        try:
            table = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise ParameterError("TOML", f"not a valid TOML text ({error})") from error
        return cls.from_dict(table)
