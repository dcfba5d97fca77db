"""Whether the description of a model fits its graph: names, ranks, sizes, counts."""

from collections.abc import Mapping
from typing import Any

from capsieve.errors import FileError
from capsieve.learned.spec import ImageInput, ModelSpec, Output, ValuesInput

__all__ = ["check_fit"]

_NUMBERS = ("tensor(float)", "tensor(float16)", "tensor(double)")


def check_fit(
    spec: ModelSpec, inputs: Mapping[str, Any], outputs: Mapping[str, Any], name: str
) -> None:
    """Raise a FileError where a description does not fit a graph.

    Parameters
    ----------
    spec
        The description.
    inputs, outputs
        By name, onnxruntime's notes on the graph: `shape` (numbers, or names and None for what
        may vary) and `type`.
    name
        How messages call the model.
    """
    expected = [each.input for each in (spec.image, spec.values) if each is not None]
    for entry, asked in (("image", spec.image), ("values", spec.values)):
        if asked is not None:
            _known(f"{entry}.input", asked.input, "input", inputs, name)
    for given in inputs:
        if given not in expected:
            raise FileError(
                f"{name} has an input {given!r} that the description does not fill; capsieve can "
                "fill a picture ([image]) and features of the frame ([values])"
            )
    if spec.image is not None:
        _check_image(spec.image, inputs[spec.image.input], name)
    if spec.values is not None:
        _check_values(spec.values, inputs[spec.values.input], name)
    output = spec.output
    _known("output.name", output.name, "output", outputs, name)
    _check_output(output, outputs[output.name], spec, name)
    if output.map:
        _known("output.map", output.map, "output", outputs, name)
        shape = list(outputs[output.map].shape)
        if len(shape) != 3 and not (len(shape) == 4 and shape[1] in (1, None)):
            raise FileError(
                f"{name}: output.map: the output {output.map!r} is {_shown(shape)}; a map is "
                "frames x rows x columns"
            )


def _known(entry: str, wanted: str, what: str, there: Mapping[str, Any], name: str) -> None:
    if wanted not in there:
        names = ", ".join(repr(each) for each in there) or "none"
        raise FileError(f"{name}: {entry}: the graph has no {what} {wanted!r}; it has {names}")


def _check_batch(entry: str, shape: list[Any], name: str) -> None:
    if isinstance(shape[0], int) and shape[0] != 1:
        raise FileError(
            f"{name}: {entry}: the input takes {shape[0]} frames at once, no more and no fewer; "
            "export the model with a batch of any size, or of 1"
        )


def _check_image(image: ImageInput, given: Any, name: str) -> None:
    shape = list(given.shape)
    if len(shape) != 4:
        raise FileError(
            f"{name}: image.input: the input {image.input!r} is {_shown(shape)}; a picture has "
            "four axes: frames, channels, rows and columns; a model of frames x features has a "
            "table [values] instead of [image]"
        )
    _check_batch("image.input", shape, name)
    channels, rows, cols = (1, 2, 3) if image.layout == "nchw" else (3, 1, 2)
    if _other(shape[channels], image.channels):
        raise FileError(
            f'{name}: image.layout and image.colour: "{image.layout}" with "{image.colour}" has '
            f"{image.channels} at axis {channels}, but the graph takes {_shown(shape)}"
        )
    if isinstance(shape[rows], int) and isinstance(shape[cols], int) and shape[rows] != shape[cols]:
        raise FileError(
            f"{name}: image.input: the graph takes {_shown(shape)}, and capsieve gives square "
            "pictures only; export the model with as many rows as columns, or with open sizes"
        )
    if _other(shape[rows], image.size) or _other(shape[cols], image.size):
        raise FileError(
            f"{name}: image.size: it says {image.size}, but the graph takes {_shown(shape)}"
        )
    if given.type == "tensor(uint8)":
        if (image.scale, image.mean, image.std) != (1.0, 0.0, 1.0):
            raise FileError(
                f"{name}: image.scale: the graph takes bytes; say scale = 1.0, and no mean or std"
            )
    elif given.type not in _NUMBERS:
        raise FileError(f"{name}: image.input: the graph takes {given.type}, which is no picture")


def _check_values(values: ValuesInput, given: Any, name: str) -> None:
    from capsieve.learned.features.registry import NAMES, VERSION

    if values.version != VERSION:
        raise FileError(
            f"{name}: values.version: the model takes features of version {values.version}, and "
            f"this capsieve has version {VERSION}; train the model again, or take the version of "
            "capsieve that wrote it"
        )
    for each in values.names:
        if each not in NAMES:
            raise FileError(
                f"{name}: values.names: there is no feature {each!r}; see docs/features.md"
            )
    shape = list(given.shape)
    if len(shape) != 2:
        raise FileError(
            f"{name}: values.input: the input {values.input!r} is {_shown(shape)}; values are "
            "frames x features"
        )
    _check_batch("values.input", shape, name)
    if _other(shape[1], len(values.names)):
        raise FileError(
            f"{name}: values.names: it names {len(values.names)} features, but the graph takes "
            f"{_shown(shape)}"
        )
    if given.type not in _NUMBERS:
        raise FileError(f"{name}: values.input: the graph takes {given.type}, not numbers")


def _check_output(output: Output, given: Any, spec: ModelSpec, name: str) -> None:
    shape = list(given.shape)
    if given.type not in _NUMBERS:
        raise FileError(
            f"{name}: output.name: the output {output.name!r} gives {given.type}; name one that "
            "gives a table of fractions, such as a probability for each class, and not the class "
            "itself"
        )
    if output.kind == "mask":
        if len(shape) not in (3, 4):
            raise FileError(
                f"{name}: output.kind: a mask is frames x rows x columns, or with an axis of "
                f"classes, but the output {output.name!r} is {_shown(shape)}"
            )
        nhwc = spec.image is not None and spec.image.layout == "nhwc"
        classes = 1 if len(shape) == 3 else shape[3 if nhwc else 1]
    else:
        if not shape or len(shape) > 4 or any(_other(each, 1) for each in shape[2:]):
            raise FileError(
                f'{name}: output.kind: a "{output.kind}" is frames x classes, but the output '
                f"{output.name!r} is {_shown(shape)}"
            )
        classes = shape[1] if len(shape) > 1 else 1
    if not isinstance(classes, int):
        return  # it is told when the model has answered
    if output.class_index is None and classes != 1:
        raise FileError(
            f"{name}: output.class_index is missing: the output {output.name!r} has {classes} "
            "classes; say which one is the polyp, from 0"
        )
    if (output.class_index or 0) >= classes:
        count = "a single class" if classes == 1 else f"{classes} classes"
        raise FileError(
            f"{name}: output.class_index: it says {output.class_index}, but the output "
            f"{output.name!r} has {count}, counted from 0"
        )


def _other(given: object, wanted: int) -> bool:
    """Whether an axis has a fixed length, and it is another one."""
    return isinstance(given, int) and given != wanted


def _shown(shape: list[Any]) -> str:
    return " x ".join("?" if side is None else str(side) for side in shape) or "a single number"
