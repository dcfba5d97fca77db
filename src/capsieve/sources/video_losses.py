"""Losses that FFmpeg does not report: truncated files, skipped bytes, missing frames.

The number of frames or the duration that the container declares is compared with what was read. If
a container declares no number, its structure is checked (see the modules of the containers).
"""

from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from capsieve.sources.asf_losses import asf_gaps
from capsieve.sources.avi_losses import empty_entries
from capsieve.sources.base import NO_STAMP, PacketTable, Problem
from capsieve.sources.file_gaps import CUT_OFF, Gap
from capsieve.sources.matroska_losses import matroska_gaps
from capsieve.sources.mp4_losses import fragment_gaps, is_fragmented
from capsieve.sources.mpeg_losses import program_gaps, transport_gaps

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

_MOST_NAMED = 20
_TOLERANCE_S = 2.0
_PERIODS = 1.75  # a repeated field makes 1.5
_MATROSKA = "matroska,webm"  # its structure is checked instead of its duration


def find_losses(
    file: BinaryIO,
    container: "InputContainer",
    stream: "VideoStream",
    packets: PacketTable,
    positions: NDArray[np.int64],
) -> tuple[int | None, list[Problem], str]:
    """Compare a stream with what the container declares, and check the structure of the file.

    Parameters
    ----------
    file
        The file, opened for reading.
    container, stream, packets
        The same file in FFmpeg, and all packets that were read.
    positions
        Position of each packet in the file; negative if unknown.

    Returns
    -------
    declared
        Number of frames that the container declares, or None.
    problems
        Losses.
    warning
        A possible loss, or "".
    """
    kind = container.format.name
    stamped = (packets.pts != NO_STAMP) & ~packets.hidden
    times = np.where(stamped, packets.pts, 0) * float(stream.time_base or 1)
    gaps: list[Gap] = []
    warning = ""
    size = file.seek(0, 2)
    counted = stream.frames > 0
    single = len(container.streams) == 1
    if kind == _MATROSKA:
        blocks = len(packets) if single else None
        gaps, warning = matroska_gaps(file, size, blocks)
    elif kind == "mpegts":
        gaps = transport_gaps(file, size, stream.id, len(packets))
    elif kind == "mpeg":
        gaps = program_gaps(file, size)
    elif kind == "asf":
        gaps, warning = asf_gaps(file, size, stream.id, len(packets))
    elif kind.startswith("mov,") and is_fragmented(file):
        counted = False  # the number is that of the frames before the first fragment
        gaps, warning = fragment_gaps(file, size, int(packets.size.sum()) if single else None)
    problems: list[Problem] = []
    for position, problem in gaps[:_MOST_NAMED]:
        before = times[stamped & (positions >= 0) & (positions < position)]
        problems.append(Problem(problem, float(before.max()) if len(before) else None))
    if len(gaps) > _MOST_NAMED:
        problems.append(Problem(f"{len(gaps) - _MOST_NAMED} more parts of the file are damaged"))
    shown = np.sort(times[stamped])
    if not gaps:
        problems += _time_gaps(stream, packets, shown)
    repeated = _repeated(packets, empty_entries(file, size, stream.index)) if kind == "avi" else 0
    declared, missing = _missing(
        container, stream, packets, shown, counted=counted, repeated=repeated
    )
    found = len(packets) - int(packets.hidden.sum())
    if declared is not None and found > declared:
        more = f"the file declares {declared} frames and contains {found}; some may be repeated"
        warning = "; ".join(filter(None, (warning, more)))
    return declared, problems + missing, warning


def _missing(
    container: "InputContainer",
    stream: "VideoStream",
    packets: PacketTable,
    times: NDArray[np.float64],
    *,
    counted: bool,
    repeated: int,
) -> tuple[int | None, list[Problem]]:
    """Compare the number of frames or, if none is declared, the duration."""
    hidden = int(packets.hidden.sum())
    shown = len(packets) - hidden
    duration = _declared_duration(container, stream)
    held = float(times[-1] - times[0]) if len(times) else 0.0
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    short = duration is not None and duration - held > max(_TOLERANCE_S, 2 * usual)
    last = float(times[-1]) if len(times) and short else None
    if counted:
        declared = max(stream.frames - hidden - repeated, 0)
        problem = f"the file declares {declared} frames and contains {shown}: {CUT_OFF}"
        # AVI stores no times. They are counted, so a loss anywhere shortens the end.
        time = None if container.format.name == "avi" else last
        return declared, [Problem(problem, time)] if shown < declared else []
    problem = f"the file declares {duration or 0:.1f} s and contains {held:.1f} s: {CUT_OFF}"
    return None, [Problem(problem, last)] if short else []


def _declared_duration(container: "InputContainer", stream: "VideoStream") -> float | None:
    if stream.duration is not None:
        return float(stream.duration * (stream.time_base or 1))
    if container.duration is None or len(container.streams) > 1:
        return None  # another stream may be longer
    return None if container.format.name == _MATROSKA else container.duration * 1e-6


def _repeated(packets: PacketTable, empty: int | None) -> int:
    """Return how many packets of an AVI are empty: they repeat the previous frame.

    FFmpeg leaves them out, but counts them in the decoding times, one per packet. Damage of the
    index has the same effect, so its entries must be empty too, if they are known.
    """
    known = packets.dts[packets.dts != NO_STAMP]
    if len(known) == 0:
        return 0
    left_out = max(int(known.max() - known.min()) + 1 - len(packets), 0)
    return left_out if empty is None else min(left_out, empty)


def _time_gaps(
    stream: "VideoStream", packets: PacketTable, times: NDArray[np.float64]
) -> list[Problem]:
    """Return gaps in the times of MPEG-1 and MPEG-2, which have a constant frame rate."""
    constant = stream.codec_context.name in ("mpeg1video", "mpeg2video")
    # If stamps repeat, they are wrong, and a gap means nothing.
    distinct = len(np.unique(packets.pts)) == len(packets)
    if not (constant and distinct and stream.average_rate):
        return []
    gaps = np.diff(times)
    return [
        Problem(f"frames are missing for {gaps[before]:.2f} s here", float(times[before]))
        for before in np.flatnonzero(gaps > _PERIODS / float(stream.average_rate))[:_MOST_NAMED]
    ]
