"""Video files: open them safely and read their packets once without decoding.

MPEG-4 part 2 (DivX, Xvid) in AVI needs care, because AVI has one packet per moment. If nothing
changed, the packet contains a picture that is "not coded". Many encoders also pack two pictures
into one packet and put a "not coded" picture into the next, because AVI has no presentation order.
"""

import hashlib
import zlib
from array import array
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from capsieve.errors import FileError, file_errors
from capsieve.sources.base import (
    MAX_PIXELS,
    NO_STAMP,
    PacketTable,
    Problem,
    Survey,
)
from capsieve.sources.mp4_losses import lacks_index
from capsieve.sources.video_losses import find_losses
from capsieve.user_files import PathLike, open_file

if TYPE_CHECKING:
    from av import Packet
    from av.container import InputContainer
    from av.video.codeccontext import VideoCodecContext
    from av.video.stream import VideoStream

Order = Literal["time", "packets", "groups", "decoder"]
"""Order of presentation: by time stamp, as stored, or known only to the decoder. In the order
"groups", everything stored before a key frame is shown before everything stored after it."""

_ENDINGS = (
    *(".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".m2v", ".vob", ".ts"),
    *(".mts", ".mjpeg", ".mjpg", ".h264", ".264", ".wmv", ".asf"),
)
_RAW_JPEG, _JPEG = (".mjpeg", ".mjpg"), b"\xff\xd8\xff"
_KINDS = "MP4, AVI, MKV or MPEG"

# Containers only: playlists and scripts (hls, dash, concat, image2) name other files to be opened.
_FORMATS = "mov,matroska,avi,mpeg,mpegts,mpegvideo,h264,hevc,m4v,mjpeg,asf"
_LONGEST_SIDE = 16_384
_MOST_ERRORS = 100  # in a row

LIMITS = {"max_pixels": str(MAX_PIXELS)}
"""Options of every decoder: larger pictures are refused before memory is allocated."""

_BY_CODEC = {
    # Otherwise the H.264 decoder guesses from the first frames how far pictures are reordered, and
    # drops some when the guess was too small.
    "h264": {"strict": "1"},
    # The MJPEG decoder does not mark damaged pictures, but it can fail on them.
    "mjpeg": {"err_detect": "explode"},
}

_COLUMNS = 8
_START_CODE, _IDR = b"\0\0\1", 5

_VOP = b"\0\0\1\xb6"  # start code of an MPEG-4 picture
_PREDICTED = 1  # the two bits after it

# A coded predicted picture has a header of at least 19 bits and one bit per macroblock of 16 x 16
# pixels. A picture that is not coded ends before.
_HEADER_BITS = 19
_NOT_CODED_BYTES = 5

# ITU-T H.273, as FFmpeg numbers them.
_MATRICES = {1: "BT.709", 4: "FCC", 5: "BT.601", 6: "BT.601", 7: "SMPTE 240M"} | dict.fromkeys(
    (9, 10), "BT.2020"
)
_RANGES = {1: "limited range", 2: "full range"}


def is_video_name(path: PathLike) -> bool:
    """Return whether the ending of a name is that of a video."""
    return Path(path).suffix.lower() in _ENDINGS


def video_streams(path: PathLike) -> tuple[int, ...]:
    """Return the indices of the video streams of a file; cover art is not included.

    Raises
    ------
    FileError
        The file is missing, a folder, unreadable, truncated, not a video, or cannot be decoded.
    """
    with _container(Path(path)) as container:
        streams = _streams(container, path)
        if not streams:
            raise FileError(
                f"cannot read {path}: there is no video in it; give a file with video ({_KINDS})"
            )
        return tuple(streams)


@contextmanager
def open_video(path: PathLike, index: int) -> Generator[tuple["InputContainer", "VideoStream"]]:
    """Open a video file and yield it with one of its streams, ready to be decoded.

    The decoder uses one thread and copies the ``opaque`` of a packet to its frame.

    Raises
    ------
    FileError
        As for :func:`video_streams`; or the stream does not exist, or its frames are too large.
    """
    with _container(Path(path)) as container:
        streams = _streams(container, path)
        if index not in streams:
            raise FileError(
                f"cannot read {path}: there is no video in it as stream {index}; "
                f"give a file with video ({_KINDS})"
            )
        context = streams[index].codec_context
        rows, cols = context.height, context.width
        if rows * cols > MAX_PIXELS or max(rows, cols) > _LONGEST_SIDE:
            raise FileError(
                f"cannot read {path}: its frames are {cols} x {rows} pixels, more than the "
                f"{MAX_PIXELS} that fit into memory; scale the video down"
            )
        context.thread_count = 1
        context.copy_opaque = True
        context.options = {**LIMITS, **_BY_CODEC.get(context.name, {})}
        yield container, streams[index]


@contextmanager
def _container(path: Path) -> Generator["InputContainer"]:
    with open_file(path) as file:
        start = file.read(len(_JPEG))
        if not start:
            raise FileError(f"cannot read {path}: the file is empty; copy it again")
    import av
    from av.error import FFmpegError

    options = {"protocol_whitelist": "file", "format_whitelist": _FORMATS, **LIMITS}
    # From version 19 on (Python 3.12), PyAV always replaces metadata that is not UTF-8.
    replaced: dict[str, Any] = {"metadata_errors": "replace"} if _pyav_before_19() else {}
    # FFmpeg may take a file of JPEG images for one image.
    kind = "mjpeg" if path.suffix.lower() in _RAW_JPEG and start == _JPEG else None
    try:
        # The prefix keeps FFmpeg from reading names such as "concat:a|b" as another protocol.
        container = av.open(f"file:{path.absolute()}", format=kind, options=options, **replaced)
    except MemoryError as error:
        raise FileError(f"cannot read {path}: there is not enough memory for it") from error
    except (FFmpegError, OSError, ValueError) as error:
        if lacks_index(path):
            raise FileError(
                f"cannot read {path}: the video is cut off and its index, which is stored last, is "
                "missing; get a whole copy"
            ) from error
        raise FileError(
            f"cannot read {path}: it is not a video that can be read; give {_KINDS}"
        ) from error
    with container:
        yield container


def _pyav_before_19() -> bool:
    import av

    return int(av.__version__.split(".")[0]) < 19


def _streams(container: "InputContainer", path: PathLike) -> dict[int, "VideoStream"]:
    from av.stream import Disposition

    covers = Disposition.attached_pic | Disposition.timed_thumbnails
    videos = [stream for stream in container.streams.video if not stream.disposition & covers]
    # PyAV has no context if FFmpeg has no decoder, unlike its types.
    readable = {s.index: s for s in videos if s.codec_context is not None}  # pyright: ignore[reportUnnecessaryComparison]
    if videos and not readable:
        raise FileError(f"cannot read {path}: no decoder for its video; convert it to H.264")
    return readable


def scan_packets(path: str, index: int) -> Survey:
    """Read a file once; return the survey of a stream, without segments.

    Raises
    ------
    FileError
        As for :func:`open_video`.
    """
    values = array("q")
    packed = False
    refreshes: list[int] = []  # packets with an IDR picture
    problems: list[Problem] = []
    with open_video(path, index) as (container, stream):
        context = stream.codec_context
        mpeg4 = context.name == "mpeg4"
        for packet in read_packets(container, stream, problems):
            values.append(NO_STAMP if packet.pts is None else packet.pts)
            values.append(NO_STAMP if packet.dts is None else packet.dts)
            values.extend((packet.size, zlib.crc32(packet), packet.is_keyframe))
            values.append(-1 if packet.pos is None else packet.pos)
            values.extend((packet.is_discard, mpeg4 and _is_not_coded(packet, context)))
            if packet.is_keyframe and context.name == "h264" and _is_refresh(packet, context):
                refreshes.append(len(values) // _COLUMNS - 1)
            packed = packed or (mpeg4 and bytes(packet).count(_VOP) > 1)
        columns = np.array(values, np.int64).reshape(-1, _COLUMNS).T.copy()
        pts, dts, size, crc32, key, positions, discarded, not_coded = columns
        # In packed streams, the second picture of the previous packet is shown instead.
        hidden = discarded if packed else discarded | not_coded
        packets = PacketTable(
            pts, dts, size, crc32.astype(np.uint32), key.astype(np.bool_), hidden.astype(np.bool_)
        )
        with file_errors("read", path, "get a whole copy"), open_file(path) as file:
            declared, losses, warning = find_losses(file, container, stream, packets, positions)
            file.seek(0)
            sha256, length = hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
        order = _order(container, stream, packets, packed=packed)
        if order == "decoder" and refreshes and refreshes[0] == 0:
            order = "groups"
            packets.key[:] = False
            packets.key[refreshes] = True
        description = _describe(container, stream, packets, order)
        if count := int(discarded.sum()):
            hides = f"its edit list hides {count} frame{'s' * (count != 1)}, not screened"
            warning = "; ".join(filter(None, (warning, hides)))
        if warning:
            description["warning"] = warning
        faults = (*problems, *losses)
        return Survey(sha256, length, declared, (), description, faults, packets)


def read_packets(
    container: "InputContainer", stream: "VideoStream", problems: list[Problem] | None = None
) -> Iterator["Packet"]:
    """Yield the packets of a stream; after errors, continue as long as the container can.

    Packets without content are left out: repeated frames of AVI, and PyAV's mark of the end, which
    would end decoding.

    Parameters
    ----------
    container, stream
        The open file and the stream to read.
    problems
        A list to which errors are added.
    """
    from av.error import FFmpegError

    stamp: int | None = None
    errors = 0
    problems = [] if problems is None else problems
    while errors < _MOST_ERRORS:
        try:
            for packet in container.demux(stream):
                if packet.size:
                    errors = 0
                    stamp = stamp if packet.pts is None else packet.pts
                    yield packet
            return
        except IndexError:  # PyAV raises it at the end if a stream appeared in the middle
            return
        except FFmpegError as error:
            if errors == 0:
                time = seconds(stamp, stream_time_base(stream))
                problems.append(Problem(f"the file cannot be read here ({error.strerror})", time))
            errors += 1
    time = seconds(stamp, stream_time_base(stream))
    problems.append(Problem("after too many errors, the rest of the file was not read", time))


def _is_refresh(packet: "Packet", context: "VideoCodecContext") -> bool:
    """Return whether a packet of H.264 has an IDR picture (Rec. ITU-T H.264, 7.4.1.2.4).

    Pictures before and after it depend on each other neither in decoding nor in their order.
    """
    if (context.extradata or b"")[:1] == b"\1":  # no start codes; such containers have time stamps
        return False
    units = bytes(packet).split(_START_CODE)[1:]
    return any(unit[:1] and unit[0] & 0x1F == _IDR for unit in units)


def _is_not_coded(packet: "Packet", context: "VideoCodecContext") -> bool:
    if packet.size > len(_VOP) + _NOT_CODED_BYTES:
        return False
    macroblocks = -(-context.width // 16) * -(-context.height // 16)
    if _HEADER_BITS + macroblocks <= 8 * _NOT_CODED_BYTES:
        return False  # too small to distinguish
    content = bytes(packet)
    after = content[len(_VOP) :]
    return content.startswith(_VOP) and bool(after) and after[0] >> 6 == _PREDICTED


def _order(
    container: "InputContainer", stream: "VideoStream", packets: PacketTable, *, packed: bool
) -> Order:
    if packets.key.all():
        return "packets"
    # AVI stores no presentation times. FFmpeg derives them, but not for H.264 and HEVC, nor if
    # packets contain several pictures. If two stamps are equal, the stamps are wrong.
    context = stream.codec_context
    reordered = context.has_b_frames and context.name in ("h264", "hevc")
    derived = packed or (container.format.name == "avi" and reordered)
    stamps = packets.pts
    distinct = bool((stamps != NO_STAMP).all()) and len(np.unique(stamps)) == len(stamps)
    return "time" if distinct and not derived else "decoder"


def _describe(
    container: "InputContainer", stream: "VideoStream", packets: PacketTable, order: Order
) -> dict[str, Any]:
    context = stream.codec_context
    shape = stream.sample_aspect_ratio
    description: dict[str, Any] = {
        "container": container.format.name,
        "codec": context.name,
        "rows": context.height,
        "cols": context.width,
        "pixel_format": context.pix_fmt,
        "colour": _colour(context),
        "time_base": str(stream_time_base(stream)),
        "order": order,
        "key_frames": int(packets.key.sum()),
        "average_rate": str(stream.average_rate) if stream.average_rate else None,
        "duration_s": None if container.duration is None else container.duration * 1e-6,
        "pixel_aspect_ratio": str(shape) if shape and shape != 1 else None,
        "hidden_frames": int(packets.hidden.sum()) or None,
    }
    return {name: value for name, value in description.items() if value is not None}


def _colour(context: "VideoCodecContext") -> str:
    """Return the matrix and range of the conversion to RGB, and whether the stream declares them.

    libswscale uses the same tags and, without tags, the same defaults; a test compares both.
    """
    name = context.pix_fmt or ""
    if name.startswith(("rgb", "bgr", "gbr", "argb", "abgr", "pal8", "0rgb", "0bgr")):
        return "RGB, as stored"
    tags: Any = context
    matrix = _MATRICES.get(int(tags.colorspace))
    values = _RANGES.get(int(tags.color_range))
    if name.startswith("yuvj"):
        values = _RANGES[2]  # the meaning of the j
    words = [f"{values or 'limited range'} ({'tagged' if values else 'assumed'})"]
    if not name.startswith("gray"):
        words.insert(0, f"{matrix or 'BT.601'} ({'tagged' if matrix else 'assumed'})")
    return ", ".join(words)


def stream_time_base(stream: "VideoStream") -> Fraction:
    """Return the unit of a stream's time stamps in seconds."""
    return stream.time_base or Fraction(1, 1)  # every demuxer sets it, unlike the types


def seconds(stamp: int | None, time_base: Fraction) -> float | None:
    """Return a time stamp in seconds, computed as in PyAV."""
    if stamp is None:
        return None
    return float(stamp) * time_base.numerator / time_base.denominator
