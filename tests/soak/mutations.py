"""Random damage to files: what disks, networks, editors and other programs do to them."""

import datetime
import io
import json
import random
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["damage_binary", "damage_json", "damage_parquet", "damage_text"]

_CELLS = (
    *("", " ", "-1", "0", "1e3", "1e400", "nan", "inf", "99999999999999999999", "0x10", "1_000"),
    *("1,5", "=1+1", "'", '"', "\\", "../x", "Polyp", "normal", "poylp", "\u202e", "\x00", "ä"),
    *("x" * 200_000, "\ufeff", "None", "true", "2026-01-01", "[1]", "{}"),
)
_NUMBERS = (b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\1")


def damage_binary(content: bytes, chance: random.Random) -> bytes:
    """Return a file with one kind of damage, in one to four places."""
    kind = chance.choice(_BINARY)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        content = kind(content, chance)
    return content


def damage_text(content: bytes, chance: random.Random) -> bytes:
    """Return a text file that is damaged like any file, or as editors and programs do it."""
    if chance.random() < 0.3:
        return damage_binary(content, chance)
    kind = chance.choice(_TEXT)
    for _ in range(chance.choice((1, 1, 2, 5))):
        content = kind(content, chance)
    return content


def _place(content: bytes, chance: random.Random) -> int:
    """Return a position; headers and indices at both ends are hit more often."""
    size = max(len(content), 1)
    near = min(size, chance.choice((64, 512, 4096)))
    return chance.choice((chance.randrange(size), chance.randrange(near), size - near))


def _length(content: bytes, chance: random.Random) -> int:
    return chance.choice((1, 2, 7, 16, 188, 600, 4096, 1 + len(content) // 5))


def _flip_bit(content: bytes, chance: random.Random) -> bytes:
    changed = bytearray(content or b"\0")
    changed[_place(bytes(changed), chance)] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _zero(content: bytes, chance: random.Random) -> bytes:
    start, length = _place(content, chance), _length(content, chance)
    return content[:start] + bytes(len(content[start : start + length])) + content[start + length :]


def _zero_end(content: bytes, chance: random.Random) -> bytes:
    start = int(len(content) * chance.choice((0.5, 0.8, 0.9, 0.99, chance.random())))
    return content[:start] + bytes(len(content) - start)


def _cut_end(content: bytes, chance: random.Random) -> bytes:
    return content[: int(len(content) * chance.choice((0.0, 0.5, 0.9, 0.999, chance.random())))]


def _remove(content: bytes, chance: random.Random) -> bytes:
    start = _place(content, chance)
    return content[:start] + content[start + _length(content, chance) :]


def _repeat(content: bytes, chance: random.Random) -> bytes:
    start = _place(content, chance)
    end = start + _length(content, chance)
    return content[:end] + content[start:end] + content[end:]


def _insert(content: bytes, chance: random.Random) -> bytes:
    start = _place(content, chance)
    return content[:start] + chance.randbytes(_length(content, chance)) + content[start:]


def _overwrite(content: bytes, chance: random.Random) -> bytes:
    start, length = _place(content, chance), min(_length(content, chance), 4096)
    return content[:start] + chance.randbytes(length) + content[start + length :]


def _number(content: bytes, chance: random.Random) -> bytes:
    start = _place(content, chance)
    return content[:start] + chance.choice(_NUMBERS) + content[start + 4 :]


def _swap(content: bytes, chance: random.Random) -> bytes:
    first, second = sorted((_place(content, chance), _place(content, chance)))
    length = min(_length(content, chance), second - first)
    one, other = content[first : first + length], content[second : second + length]
    between = content[first + length : second]
    return content[:first] + other + between + one + content[second + length :]


def _append(content: bytes, chance: random.Random) -> bytes:
    return content + chance.choice((b"\0", bytes(5000), chance.randbytes(700)))


_Kind = Callable[[bytes, random.Random], bytes]
_BINARY: tuple[_Kind, ...] = (
    *(_flip_bit, _flip_bit, _zero, _zero_end, _cut_end, _remove, _repeat, _insert, _overwrite),
    *(_number, _swap, _append),
)


def _cell(content: bytes, chance: random.Random) -> bytes:
    """Replace a word between separators."""
    lines = content.split(b"\n")
    row = chance.randrange(len(lines))
    separator = chance.choice((b",", b",", b":", b" "))
    cells = lines[row].split(separator)
    cells[chance.randrange(len(cells))] = chance.choice(_CELLS).encode()
    lines[row] = separator.join(cells)
    return b"\n".join(lines)


def _line(content: bytes, chance: random.Random) -> bytes:
    """Remove, repeat or move a line."""
    lines = content.split(b"\n")
    row = chance.randrange(len(lines))
    line = lines.pop(row)
    for _ in range(chance.choice((0, 2, 3))):
        lines.insert(chance.choice((row, chance.randrange(len(lines) + 1))), line)
    return b"\n".join(lines)


def _character(content: bytes, chance: random.Random) -> bytes:
    start = _place(content, chance)
    new = chance.choice((b"", b'"', b"'", b",", b";", b"\n", b"\t", b"\r", b"{", b"]", b"\xc3"))
    return content[:start] + new + content[start + chance.choice((0, 1)) :]


def _replace_all(content: bytes, chance: random.Random) -> bytes:
    old, new = chance.choice(
        (
            *((b",", b";"), (b",", b"\t"), (b"\n", b"\r\n"), (b"\n", b"\r"), (b".", b",")),
            *((b"/", b"\\"), (b"0", b"O"), (b"a", b"A"), (b"exam", b"video"), (b"frame", b"file")),
        )
    )
    return content.replace(old, new)


def _recode(content: bytes, chance: random.Random) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(chance.choice(("utf-8-sig", "utf-16", "utf-16-le", "cp500")), "replace")


_TEXT: tuple[_Kind, ...] = (_cell, _cell, _cell, _line, _line, _character, _replace_all, _recode)


_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, 1e308, 10**30, "", "x", "polyp", "9" * 5000, [], [[]], {}, [1]),
    *({"a": 1}, float("nan"), float("inf"), "../x", "\u202e", "\ud800", "1"),
)


def damage_json(content: bytes, chance: random.Random) -> bytes:
    """Return JSON that is damaged like a text, or in which values, keys or entries differ."""
    if chance.random() < 0.3:
        return damage_text(content, chance)
    tree = json.loads(content)
    for _ in range(chance.choice((1, 1, 2, 4))):
        places = [*_places(tree)]
        if not places:
            break
        owner, key = chance.choice(places)
        kind = chance.randrange(5)
        if kind == 0:
            del owner[key]
        elif kind == 1 and isinstance(owner, list):
            owner.append(owner[key])
        elif kind == 2 and isinstance(owner, dict):
            owner[chance.choice(("", "x", "schema", "\u202e"))] = owner.pop(key)
        else:
            owner[key] = chance.choice(_VALUES)
    return json.dumps(tree, indent=0).encode()


def _places(tree: Any) -> Any:
    """Yield all lists and objects with each key."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in keys:
        yield tree, key
        yield from _places(tree[key])


_COLUMNS: tuple[Callable[[int], pa.Array], ...] = (
    lambda n: pa.array([[1]] * n),
    lambda n: pa.array([{"a": 1}] * n),
    lambda n: pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int8())),
    lambda n: pa.array([b"\xff"] * n),
    lambda n: pa.array([b"a"] * n, pa.binary(1)),
    lambda n: pa.array([2**63 + i for i in range(n)], pa.uint64()),
    lambda n: pa.array([2**53 + i for i in range(n)]),
    lambda n: pa.array([-1 - i for i in range(n)], pa.int8()),
    lambda n: pa.array([float("inf"), float("nan"), *[-0.0] * n][:n]),
    lambda n: pa.array([1e300] * n),
    lambda n: pa.array([i + 0.5 for i in range(n)]),
    lambda n: pa.array([i % 2 == 0 for i in range(n)]),
    lambda n: pa.array([datetime.date(2026, 1, 1)] * n),
    lambda n: pa.array([datetime.datetime(2026, 1, 1)] * n, pa.timestamp("ns", "UTC")),
    lambda n: pa.array([datetime.timedelta(1)] * n),
    lambda n: pa.array(["e0", "e1", None, ""] * n).slice(0, n),
    lambda n: pa.array(["polyp", "normal"] * n).slice(0, n).dictionary_encode(),
    lambda n: pa.array(["1", "2.0", "x"] * n, pa.large_string()).slice(0, n),
    lambda n: pa.array(["\x00", "\u202e", "x" * 9999] * n).slice(0, n),
    pa.nulls,
    lambda n: pa.array(range(n), pa.float32()),
)


def damage_parquet(content: bytes, chance: random.Random) -> bytes:
    """Return Parquet that is damaged like any file, or has odd columns, names or rows."""
    if chance.random() < 0.3:
        return damage_binary(content, chance)
    table = pq.read_table(io.BytesIO(content))
    for _ in range(chance.choice((1, 1, 2, 3))):
        place, name = chance.choice(list(enumerate(table.column_names)))
        kind = chance.randrange(8)
        if kind == 0 and table.num_columns > 1:
            table = table.remove_column(place)
        elif kind == 1:
            other = chance.choice(("", "exam", "video", "FRAME", " score", "label", "x\n"))
            names = table.column_names
            names[place] = other
            table = table.rename_columns(names)
        elif kind == 2:
            rows = [chance.randrange(len(table)) for _ in range(chance.choice((1, 5, len(table))))]
            table = table.take(pa.array(rows))
        else:
            table = table.set_column(place, name, chance.choice(_COLUMNS)(len(table)))
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()
