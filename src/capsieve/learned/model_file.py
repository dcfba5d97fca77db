"""A model is one file: an ONNX graph with spec, card and checksum as metadata properties.

Nothing in a model file is executed but its graph. Weights in other files and operators that are not
part of ONNX are refused before onnxruntime gets the file.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, MissingExtraError, ParameterError
from capsieve.learned.card import ModelCard
from capsieve.learned.spec import ModelSpec
from capsieve.phash import BITS
from capsieve.user_files import read_bytes, read_text

if TYPE_CHECKING:
    from onnx import ModelProto

_SPEC, _CARD, _CHECKSUM = "capsieve.spec", "capsieve.card", "capsieve.sha256"
_PHASHES = "capsieve.training_phashes"
_PHASH = (2, BITS // 8)
_LARGEST = 1_000_000_000  # bytes; the limit of Protocol Buffers is 2 GB
_LARGEST_TOML = 1_000_000
_STANDARD = ("", "ai.onnx", "ai.onnx.ml")
_DEEPEST = 16  # functions that call functions
_MOST_NODES = 200_000  # after functions are inlined; large networks have thousands
_OTHER_FILES = {
    b"PK": "a ZIP archive, as PyTorch writes it; export the model to ONNX",
    b"\x80": "a pickle, which capsieve never loads; export the model to ONNX",
    b"\x89HDF": "an HDF5 file, as Keras writes it; export the model to ONNX",
    b"version https://git-lfs": "a Git LFS pointer; get the file with git lfs pull",
    b"<": "a web page; download the .onnx file itself",
}


@dataclass(frozen=True, slots=True, eq=False)
class ModelFile:
    """A model file that was read and checked.

    Attributes
    ----------
    path
        Absolute path of the file.
    content, sha256
        Bytes of the file, and their hash.
    spec
        How the model is run.
    card
        What a user should know about the model; None for a file that capsieve did not write.
    training_phashes
        Perceptual hashes of the training frames, N x 2 x 32 bytes as in
        :class:`~capsieve.phash.PixelHashes`, so that they are recognised in test data; N is 0 if
        they are unknown.
    """

    path: Path
    content: bytes
    sha256: str
    spec: ModelSpec
    card: ModelCard | None
    training_phashes: NDArray[np.uint8]


def write_model(
    path: str | Path,
    model: "ModelProto",
    spec: ModelSpec,
    card: ModelCard,
    training_phashes: NDArray[np.uint8] | None = None,
) -> None:
    """Write a model file; an error leaves no part of it behind.

    Parameters
    ----------
    path
        The file.
    model
        The graph with its weights; its metadata properties are not kept.
    spec, card
        How it is run, and what a user should know.
    training_phashes
        See :class:`ModelFile`.

    Raises
    ------
    FileError
        The file cannot be written, or :func:`read_model` would refuse the graph.
    """
    path = Path(path)
    bare = type(model)()
    bare.CopyFrom(model)
    _check(path, bare)
    del bare.metadata_props[:]
    properties = {_SPEC: spec.to_json(), _CARD: card.to_json()}
    if training_phashes is not None:
        properties[_PHASHES] = b64encode(training_phashes.astype(np.uint8).tobytes()).decode()
    for name, text in properties.items():
        bare.metadata_props.add(key=name, value=text)
    content = bare.SerializeToString(deterministic=True)
    with atomic_write(path, durable=True) as temporary:
        temporary.write_bytes(content + _checksum(content))


def read_model(path: str | Path) -> ModelFile:
    """Read a model file, or an ONNX file with a TOML file next to it.

    Raises
    ------
    FileError
        The file is missing, broken, changed, too large, of another kind, or needs other files or
        operators; or the TOML file next to it is missing or wrong.
    MissingExtraError
        onnx is not installed.
    """
    content = read_content(path)
    path = Path(path).absolute()
    model = _parsed(path, content)
    _check(path, model)
    properties = {each.key: each.value for each in model.metadata_props}
    spec, card, phashes = None, None, np.empty((0, *_PHASH), np.uint8)
    if any(name.startswith("capsieve.") for name in properties):
        spec, card, phashes = _own(path, content, properties)
    else:
        spec = _toml_spec(path)
    return ModelFile(path, content, sha256(content).hexdigest(), spec, card, phashes)


def read_content(path: str | Path) -> bytes:
    """Return the bytes of a model file.

    Raises
    ------
    FileError
        The file is missing, unreadable, empty or far too large.
    """
    content = read_bytes(path, largest=_LARGEST)
    if not content:
        raise FileError(f"{path} is empty; copy it again")
    return content


def _parsed(path: Path, content: bytes) -> "ModelProto":
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise MissingExtraError(
            "model files need the package onnx; pip install 'capsieve[learned]'"
        ) from None
    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except DecodeError:
        model.Clear()
    if not model.HasField("graph") or not all(map(_has_texts, _messages(model))):
        kinds = (kind for start, kind in _OTHER_FILES.items() if content.startswith(start))
        kind = next(kinds, "damaged, or of another kind; copy it again or export it to ONNX")
        raise FileError(f"{path} is not a complete ONNX file: it is {kind}")
    return model


def _check(path: Path, model: "ModelProto") -> None:
    """Refuse external data, foreign operators, and functions that grow without limit."""
    own = {(each.domain, each.name): each for each in model.functions}
    for message in _messages(model):
        kind = message.DESCRIPTOR.name
        if kind == "TensorProto" and (message.data_location or len(message.external_data)):
            raise FileError(
                f"{path} keeps weights such as {message.name!r} in another file, which capsieve "
                "does not open; save it as one file, with torch.onnx.export(..., "
                "external_data=False) or onnx.save(onnx.load(old), new)"
            )
        if kind == "NodeProto" and message.domain not in _STANDARD:
            operator = message.domain, message.op_type
            # Operators of onnxruntime itself may read files; a function must not hide one.
            if operator not in own or message.domain == "com.microsoft":
                raise FileError(
                    f"{path} needs the operator {'.'.join(operator)}, which is not part of ONNX; "
                    "export the model with standard operators"
                )
    if _node_count(model.graph, own, {}) > _MOST_NODES:
        raise FileError(f"{path} is too large: more than {_MOST_NODES:,} operators")


def _messages(message: Any) -> Iterator[Any]:
    """Yield a message and all messages in it; Protocol Buffers limit their depth."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for each in [value] if hasattr(value, "ListFields") else value:
                yield from _messages(each)


def _has_texts(message: Any) -> bool:
    """Return whether all texts of a message are UTF-8; others are read as bytes."""
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING:
            texts = [value] if isinstance(value, str | bytes) else value
            if not all(isinstance(text, str) for text in texts):
                return False
    return True


def _node_count(message: Any, functions: Any, known: dict[Any, int], depth: int = 0) -> int:
    """Return the number of operators with the model's functions inlined."""
    total = 0
    for each in _messages(message):
        if each.DESCRIPTOR.name == "NodeProto":
            key = each.domain, each.op_type
            if key in functions and key not in known:
                if depth == _DEEPEST:
                    return _MOST_NODES + 1
                known[key] = _node_count(functions[key], functions, known, depth + 1)
            total += known.get(key, 1)
    return total


def _checksum(content: bytes) -> bytes:
    """Return a metadata property with the SHA-256 of `content`, to be appended to it.

    Protocol Buffers merge what is appended, so the result is an ONNX file, and every changed byte
    is noticed.
    """
    from onnx import ModelProto

    tail = ModelProto()
    tail.metadata_props.add(key=_CHECKSUM, value=sha256(content).hexdigest())
    return tail.SerializeToString()


def _own(
    path: Path, content: bytes, properties: dict[str, str]
) -> tuple[ModelSpec, ModelCard, NDArray[np.uint8]]:
    length = len(_checksum(b""))
    if content[-length:] != _checksum(content[:-length]):
        raise FileError(
            f"{path} was changed after capsieve wrote it (the checksum differs); get it again"
        )
    beside = path.with_suffix(".toml")
    if beside.exists():
        raise FileError(f"{path} has a description, and so has {beside}; remove or rename it")
    try:
        spec = ModelSpec.from_json(properties.get(_SPEC, ""))
        card = ModelCard.from_json(properties.get(_CARD, ""))
        phashes = np.frombuffer(b64decode(properties.get(_PHASHES, ""), validate=True), np.uint8)
        return spec, card, phashes.reshape(-1, *_PHASH)
    except (ParameterError, ValueError) as error:
        raise FileError(
            f"{path} was written by another version of capsieve ({error}); train the model again, "
            "or use that version"
        ) from error


def _toml_spec(path: Path) -> ModelSpec:
    """Read the TOML file next to somebody else's model."""
    beside = path.with_suffix(".toml")
    if not beside.exists():
        raise FileError(
            f"{path} does not say how it is run, and there is no {beside.name} next to it; "
            "docs/foreign-models.md shows how to write one"
        )
    text = read_text(beside, largest=_LARGEST_TOML)
    try:
        return ModelSpec.from_toml(text)
    except ParameterError as error:
        raise FileError(f"{beside}: {error}") from error
