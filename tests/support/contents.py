"""Contents of entries as JSON, for requests."""

from collections.abc import Iterable
from typing import Any

__all__ = ["decision", "finding", "landmark", "note", "removed", "spans", "undo"]


def decision(subject: str, word: str, *, frame: int | None = None, **more: Any) -> dict[str, Any]:
    """Decide on an event or a frame; its (best) frame is displayed."""
    shown = int(subject.rpartition(":")[2]) if frame is None else frame
    return {"kind": "decision", "subject": subject, "decision": word, "frame": shown} | more


def spans(frames: Iterable[int], head: int = 0) -> list[dict[str, int]]:
    """Return one span per frame run."""
    runs: list[dict[str, int]] = []
    for frame in sorted(frames):
        if runs and runs[-1]["last"] == frame - 1:
            runs[-1]["last"] = frame
        else:
            runs.append({"head": head, "first": frame, "last": frame})
    return runs


def finding(name: str, frames: Iterable[int], *, head: int = 0, **more: Any) -> dict[str, Any]:
    """Describe a polyp; the first frame is the best one."""
    frames = list(frames)
    best = {"head": head, "frame": frames[0]}
    content = {"kind": "finding", "subject": f"finding:{name}", "spans": spans(frames, head)}
    return content | {"best": best} | more


def removed(of: str, subject: str) -> dict[str, Any]:
    return {"kind": "removed", "of": of, "subject": subject}


def note(text: str, subject: str = "exam") -> dict[str, Any]:
    return {"kind": "note", "subject": subject, "text": text}


def landmark(name: str, frame: int) -> dict[str, Any]:
    return {"kind": "landmark", "subject": f"landmark:{name}", "head": 0, "frame": frame}


def undo(action: int) -> dict[str, Any]:
    return {"kind": "undo", "action": action}
