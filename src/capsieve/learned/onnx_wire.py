"""A look into an ONNX file without loading it: its metadata, and what it would reach for.

ONNX files are Protocol Buffers. Reading the few fields that matter takes no library, and happens
before any is handed the file. Field numbers are those of onnx.proto.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["METADATA_FIELD", "Contents", "WireError", "fields_of", "metadata_entry", "survey"]

METADATA_FIELD = 14  # of ModelProto
_GRAPH, _FUNCTIONS = 7, 25  # of ModelProto
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_LARGEST_TAG = 2**32 - 1
_DEEPEST = 16  # graphs within graphs: loops and branches; nobody nests more
_STANDARD = frozenset({"", "ai.onnx", "ai.onnx.ml"})
_MOST_NODES = 200_000  # with the file's own functions written out; large networks have thousands

_Operator = tuple[str, str]  # domain and name

_Value = int | memoryview


class WireError(ValueError):
    """Bytes that are no ONNX file, or not a whole one."""


@dataclass(slots=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    metadata
        The file's own notes.
    graph
        Whether there is a graph.
    nodes
        How many steps it has.
    external
        Names of weights that lie in other files.
    foreign
        Operators that are not ONNX's own.
    """

    metadata: dict[str, str] = field(default_factory=dict[str, str])
    graph: bool = False
    nodes: int = 0
    external: list[str] = field(default_factory=list[str])
    foreign: list[str] = field(default_factory=list[str])


def fields_of(message: memoryview) -> Iterator[tuple[int, _Value, int, int]]:
    """Yield number, value, first and last byte (exclusive) of each field of a message.

    Raises
    ------
    WireError
        The bytes are not a message.
    """
    place, end = 0, len(message)
    while place < end:
        first = place
        tag, place = _varint(message, place)
        number, wire = tag >> 3, tag & 7
        if number == 0 or tag > _LARGEST_TAG:
            raise WireError
        value: _Value
        if wire == _VARINT:
            value, place = _varint(message, place)
        else:
            if wire == _LENGTH:
                length, place = _varint(message, place)
            elif wire in (_FIXED32, _FIXED64):
                length = 4 if wire == _FIXED32 else 8
            else:
                raise WireError
            if length > end - place:
                raise WireError
            value, place = message[place : place + length], place + length
        yield number, value, first, place


def survey(content: bytes) -> Contents:
    """Return what a model file holds, without loading it.

    Raises
    ------
    WireError
        It is no ONNX file, or not a whole one.
    """
    found = Contents()
    whole = memoryview(content)
    own: dict[_Operator, Counter[_Operator]] = {}
    used: Counter[_Operator] = Counter()
    for number, value, _, _ in fields_of(whole):
        if isinstance(value, int):
            continue
        if number == _GRAPH:
            found.graph = True
            _graph(value, found, used, 0)
        elif number == METADATA_FIELD:
            name, text = _pair(value)
            if name in found.metadata:
                raise WireError
            found.metadata[name] = text
        elif number == _FUNCTIONS:
            name, calls = _function(value, found)
            if name in own:
                raise WireError
            own[name] = calls
    operators = set(used).union(*own.values())
    found.foreign = sorted(
        f"{domain}.{name}"
        for domain, name in operators
        if domain not in _STANDARD and ((domain, name) not in own or domain == "com.microsoft")
    )
    if _written_out(used, own, {}) > _MOST_NODES:
        raise WireError
    return found


def _written_out(
    calls: Counter[_Operator],
    own: dict[_Operator, Counter[_Operator]],
    known: dict[_Operator, int],
    depth: int = 0,
) -> int:
    """Return how many nodes there are once functions that the file defines are written out."""
    if depth > _DEEPEST:
        raise WireError
    total = 0
    for operator, times in calls.items():
        if operator in own and operator not in known:
            known[operator] = _written_out(own[operator], own, known, depth + 1)
        total += times * known.get(operator, 1)
    return total


def metadata_entry(name: str, text: str) -> bytes:
    """Return a field that adds an entry to a file's metadata wherever it is put."""
    inner = b"".join(
        bytes([number << 3 | _LENGTH]) + _length(len(value)) + value
        for number, value in ((1, name.encode()), (2, text.encode()))
    )
    return bytes([METADATA_FIELD << 3 | _LENGTH]) + _length(len(inner)) + inner


def _graph(message: memoryview, found: Contents, used: Counter[_Operator], depth: int) -> None:
    if depth > _DEEPEST:
        raise WireError
    for number, value, _, _ in fields_of(message):
        if isinstance(value, int):
            continue
        if number == 1:
            found.nodes += 1
            _node(value, found, used, depth)
        elif number == 5:
            _tensor(value, found)
        elif number == 15:
            _sparse(value, found)


def _node(message: memoryview, found: Contents, used: Counter[_Operator], depth: int) -> None:
    operator = domain = ""
    for number, value, _, _ in fields_of(message):
        if isinstance(value, int):
            continue
        if number == 4:
            operator = _text(value)
        elif number == 7:
            domain = _text(value)
        elif number == 5:
            _attribute(value, found, used, depth)
    used[domain, operator] += 1


def _attribute(message: memoryview, found: Contents, used: Counter[_Operator], depth: int) -> None:
    for number, value, _, _ in fields_of(message):
        if isinstance(value, int):
            continue
        if number in (5, 10):
            _tensor(value, found)
        elif number in (6, 11):
            _graph(value, found, used, depth + 1)
        elif number in (22, 23):
            _sparse(value, found)


def _function(message: memoryview, found: Contents) -> tuple[_Operator, Counter[_Operator]]:
    """Look through a function that the file defines itself; return its name and what it uses."""
    domain = name = ""
    used: Counter[_Operator] = Counter()
    for number, value, _, _ in fields_of(message):
        if isinstance(value, int):
            continue
        if number == 1:
            name = _text(value)
        elif number == 7:
            _node(value, found, used, 0)
        elif number == 10:
            domain = _text(value)
        elif number == 11:
            _attribute(value, found, used, 0)
    return (domain, name), used


def _sparse(message: memoryview, found: Contents) -> None:
    for number, value, _, _ in fields_of(message):
        if number in (1, 2) and not isinstance(value, int):
            _tensor(value, found)


def _tensor(message: memoryview, found: Contents) -> None:
    name, elsewhere = "", False
    for number, value, _, _ in fields_of(message):
        if number == 8 and not isinstance(value, int):
            name = _text(value)
        elif number == 13 or (number == 14 and value != 0):
            elsewhere = True
    if elsewhere:
        found.external.append(name)


def _pair(message: memoryview) -> tuple[str, str]:
    texts = {1: "", 2: ""}
    for number, value, _, _ in fields_of(message):
        if number in texts and not isinstance(value, int):
            texts[number] = _text(value)
    return texts[1], texts[2]


def _text(value: memoryview) -> str:
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError as error:
        raise WireError from error


def _varint(message: memoryview, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if place >= len(message):
            raise WireError
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise WireError


def _length(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
