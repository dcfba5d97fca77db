"""One file per model: an ONNX graph with its description, its card and a checksum inside.

Nothing in a model file is ever executed as code: ONNX is a list of known operators, and what would
reach beyond the file (weights in other files, operators of somebody's library) is refused before
any library is handed the bytes.
"""

import stat
from collections import deque
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve.atomic_write import atomic_write
from capsieve.errors import FileError, ParameterError
from capsieve.learned.card import ModelCard
from capsieve.learned.onnx_wire import (
    METADATA_FIELD,
    Contents,
    WireError,
    fields_of,
    metadata_entry,
    survey,
)
from capsieve.learned.spec import ModelSpec

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["ModelFile", "read_content", "read_model", "write_model"]

_SPEC, _CARD, _CHECKSUM = "capsieve.spec", "capsieve.card", "capsieve.sha256"
_LARGEST = 1_000_000_000  # bytes; Protocol Buffers end at two gigabytes
_LONGEST_TEXT = 1_000_000  # bytes of a TOML file
_BEGINNINGS = {
    b"PK": "it is a ZIP archive, as PyTorch writes them; export the model to ONNX",
    b"\x80": "it is a pickle, which capsieve never loads; export the model to ONNX",
    b"\x89HDF": "it is an HDF5 file, as Keras writes them; export the model to ONNX",
    b"version https://git-lfs": "it is the stand-in of a file in Git LFS; get the file itself "
    "with git lfs pull",
    b"<": "it is a web page or another text; download the .onnx file itself",
    b"ORTM": "it is in onnxruntime's own format; give the ONNX file that it was made from",
}


@dataclass(frozen=True, slots=True, eq=False)
class ModelFile:
    """A model file that was read and found whole.

    Attributes
    ----------
    path
        Where it lies, absolute.
    content
        Its bytes.
    sha256
        Of its bytes.
    spec
        How it is run.
    card
        None for a file that somebody else made.
    """

    path: Path
    content: bytes
    sha256: str
    spec: ModelSpec
    card: ModelCard | None


def write_model(
    path: str | Path, model: "ModelProto", spec: ModelSpec, card: ModelCard
) -> ModelCard:
    """Write a model file, whole or not at all.

    Parameters
    ----------
    model
        The graph; its weights lie inside.
    spec, card
        What is written beside it; the card gets the hash of the graph.

    Returns
    -------
    ModelCard
        The card as it was written.

    Raises
    ------
    FileError
        The place cannot be written to, or the graph is none that :func:`read_model` would read.
    """
    path = Path(path)
    bare = type(model)()
    bare.CopyFrom(model)
    del bare.metadata_props[:]
    graph = bare.SerializeToString(deterministic=True)
    card = replace(card, hashes=replace(card.hashes, graph=sha256(graph).hexdigest()))
    body = graph + metadata_entry(_SPEC, spec.to_json()) + metadata_entry(_CARD, card.to_json())
    content = body + metadata_entry(_CHECKSUM, sha256(body).hexdigest())
    _surveyed(path, content)
    with atomic_write(path, durable=True) as temporary:
        temporary.write_bytes(content)
    return card


def read_model(path: str | Path) -> ModelFile:
    """Read a model file, or an ONNX file with a TOML file beside it.

    Only this package reads here: no library sees the file before it was found whole and harmless.

    Raises
    ------
    FileError
        The file is absent, broken, changed, too large, of another kind, or reaches beyond itself;
        or the TOML file beside it is absent or wrong.
    """
    content = read_content(path)
    path = Path(path).absolute()
    found = _surveyed(path, content)
    own = any(name.startswith("capsieve.") for name in found.metadata)
    spec, card = _own(path, content, found) if own else (_beside(path), None)
    return ModelFile(path, content, sha256(content).hexdigest(), spec, card)


def read_content(path: str | Path) -> bytes:
    """Return the bytes of a model file.

    Raises
    ------
    FileError
        There is no such file, it cannot be read, or it is far too large or empty.
    """
    path = Path(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(f"{path} is a folder; give a model file, such as {path / 'model.onnx'}")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{path} is no regular file, so no model can be read from it")
        if status.st_size > _LARGEST:
            raise FileError(
                f"{path} has {status.st_size / 1e9:.1f} GB: a model file has at most "
                f"{_LARGEST / 1e9:.0f} GB"
            )
        content = path.read_bytes()
    except FileError:
        raise
    except (OSError, ValueError) as error:  # a ValueError: a name with a null byte
        reason = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot read the model {path}: {reason}") from error
    if not content:
        raise FileError(f"{path} is empty, so it is no model; copy it again")
    return content


def _surveyed(path: Path, content: bytes) -> Contents:
    """Look through a file, and refuse what is no model or reaches beyond itself."""
    try:
        found = survey(content)
    except WireError as error:
        raise FileError(f"{path} is no ONNX file, or not a whole one: {_kind(content)}") from error
    if not found.graph:
        raise FileError(f"{path} is no ONNX file, or not a whole one: {_kind(content)}")
    if found.external:
        raise FileError(
            f"{path} keeps weights such as {found.external[0]!r} in another file, which capsieve "
            "does not open; save the model as one file, with torch.onnx.export(..., "
            "external_data=False) or onnx.save(onnx.load(old), new)"
        )
    if found.foreign:
        raise FileError(
            f"{path} needs the operator {found.foreign[0]}, which is not part of ONNX; export the "
            "model with ONNX's own operators"
        )
    return found


def _kind(content: bytes) -> str:
    for beginning, words in _BEGINNINGS.items():
        if content.startswith(beginning):
            return words
    # Bytes of control characters are no text, though they are ASCII.
    if content[:200].isascii() and min(content[:200]) >= ord("\t"):
        return "it is a text; give the .onnx file itself"
    return "it cannot be read to its end; copy it again, or export the model to ONNX"


def _own(path: Path, content: bytes, found: Contents) -> tuple[ModelSpec, ModelCard]:
    _check_unchanged(path, content)
    beside = path.with_suffix(".toml")
    if beside.exists():
        raise FileError(
            f"{path} says itself how it is run, and so does {beside}; remove or rename that file"
        )
    try:
        spec = ModelSpec.from_json(found.metadata.get(_SPEC, ""))
        card = ModelCard.from_json(found.metadata.get(_CARD, ""))
    except ParameterError as error:
        raise FileError(
            f"{path} was written by another version of capsieve or another program ({error}); "
            "train the model again, or take the version that wrote it"
        ) from error
    if card.hashes.graph != _graph_hash(content):
        raise FileError(f"{path} holds another graph than its card says; get the file again")
    return spec, card


def _check_unchanged(path: Path, content: bytes) -> None:
    """Compare the checksum, which is the last entry, with all that stands before it."""
    # Of the fields only the last is kept: a hostile file may have very many.
    ((number, _, first, _),) = deque(fields_of(memoryview(content)), maxlen=1)
    expected = metadata_entry(_CHECKSUM, sha256(memoryview(content)[:first]).hexdigest())
    if number != METADATA_FIELD or content[first:] != expected:
        raise FileError(
            f"{path} was changed after it was written (its checksum does not fit); get the file "
            "again"
        )


def _graph_hash(content: bytes) -> str:
    """Return the SHA-256 of all fields but the metadata."""
    digest = sha256()
    whole = memoryview(content)
    for number, _, first, last in fields_of(whole):
        if number != METADATA_FIELD:
            digest.update(whole[first:last])
    return digest.hexdigest()


def _beside(path: Path) -> ModelSpec:
    """Read the TOML file beside somebody else's model."""
    beside = path.with_suffix(".toml")
    try:
        if beside.exists() and not beside.is_file():
            raise FileError(f"{beside} is no file; docs/foreign-models.md shows how to write one")
        if beside.stat().st_size > _LONGEST_TEXT:
            raise FileError(f"{beside} is far too long to be the description of a model")
        text = beside.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise FileError(
            f"{path} does not say how it is run, and there is no {beside.name} beside it that "
            "does; docs/foreign-models.md shows how to write one"
        ) from error
    except (OSError, ValueError) as error:
        if isinstance(error, FileError):
            raise
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FileError(f"cannot read {beside}: {reason}") from error
    try:
        return ModelSpec.from_toml(text)
    except ParameterError as error:
        raise FileError(f"{beside}: {error}") from error
