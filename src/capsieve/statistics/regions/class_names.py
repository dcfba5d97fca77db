"""Names of classes beside YOLO's labels: classes.txt, obj.names or data.yaml."""

import re
from pathlib import Path

from capsieve.errors import FileError

__all__ = ["NAME_FILES", "read_class_names"]

NAME_FILES = ("data.yaml", "data.yml", "dataset.yaml", "dataset.yml", "classes.txt", "obj.names")

_COMMENT = re.compile(r"\s+#.*$|^#.*$")
_NUMBERED = re.compile(r"""^['"]?(\d+)['"]?\s*:\s*(.+)$""")


def read_class_names(folder: Path) -> dict[int, str] | None:
    """Return the name of every class, or None where no file tells.

    Parameters
    ----------
    folder
        The labels'. Where it is called labels, or lies in such a folder, the files are looked for
        beside that folder, too.
    """
    places = [folder]
    if folder.name == "labels":
        places.append(folder.parent)
    elif folder.parent.name == "labels":
        places += [folder.parent, folder.parent.parent]
    for place in places:
        for name in NAME_FILES:
            if (place / name).is_file():
                return _read(place / name)
    return None


def _read(path: Path) -> dict[int, str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {path}: {error}") from error
    if path.suffix not in (".yaml", ".yml"):
        lines = (line.strip() for line in text.splitlines())
        names = dict(enumerate(line for line in lines if line))
    else:
        names = _yaml_names(text)
    if not names:
        raise FileError(
            f"{path} names no class in a way that is understood; write the names into a "
            "classes.txt, one per line, in the order of their numbers"
        )
    return names


def _yaml_names(text: str) -> dict[int, str]:
    """Read the entry `names` in the ways in which it is written; no more of YAML is needed."""
    lines = [_COMMENT.sub("", line).rstrip() for line in text.splitlines()]
    begin = next((i for i, line in enumerate(lines) if re.match(r"names\s*:", line)), None)
    if begin is None:
        return {}
    rest = lines[begin].partition(":")[2].strip()
    block = []
    for line in lines[begin + 1 :]:
        if line and not line[0].isspace() and line[0] not in "-]}":
            break  # the next entry
        block.append(line.strip())
    if rest[:1] in ("[", "{"):
        inner = " ".join([rest, *block])[1:]
        items = [item.strip() for item in re.split(r"[\]}]", inner)[0].split(",")]
    elif rest:
        return {}
    else:
        items = [line.removeprefix("-").strip() for line in block]
    items = [item for item in items if item]
    numbered = [_NUMBERED.match(item) for item in items]
    if items and all(numbered):
        return {int(match[1]): _bare(match[2]) for match in numbered if match}
    return {place: _bare(item) for place, item in enumerate(items)}


def _bare(word: str) -> str:
    return word.strip().strip("'\"")
