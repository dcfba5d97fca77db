"""Opening a video file, so that no file can do harm."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from capsieve.errors import FileError
from capsieve.sources.video.boxes import lacks_its_index
from capsieve.sources.video.damaged_jpeg import FAIL_AT_ERRORS

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

__all__ = ["LIMITS", "is_video_name", "open_video", "video_streams"]

_ENDINGS = (
    *(".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".m2v", ".vob", ".ts"),
    *(".mts", ".mjpeg", ".mjpg", ".h264", ".264", ".wmv", ".asf"),
)
_KINDS = "MP4, AVI, MKV or MPEG"

# Containers only: playlists and scripts (hls, dash, concat, image2) name other files to be opened.
_FORMATS = "mov,matroska,avi,mpeg,mpegts,mpegvideo,h264,hevc,m4v,mjpeg,asf"

_MOST_PIXELS = 100_000_000
_LONGEST_SIDE = 16_384
LIMITS = {"max_pixels": str(_MOST_PIXELS)}
"""What every decoder is told: to refuse larger pictures before it takes memory for them."""

_OPTIONS = {"protocol_whitelist": "file", "format_whitelist": _FORMATS, **LIMITS}

_BY_CODEC = {
    # Without it the H.264 decoder guesses from the first frames how far pictures are reordered,
    # and drops some when it learns better.
    "h264": {"strict": "1"},
    "mjpeg": FAIL_AT_ERRORS,
}


def is_video_name(path: str | os.PathLike[str]) -> bool:
    """Tell by the ending of its name whether a file is meant to be a video."""
    return Path(path).suffix.lower() in _ENDINGS


def video_streams(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Return the indices of a file's video streams; two streams are two heads.

    Cover art is not a video stream.

    Raises
    ------
    FileError
        The file is absent, a folder, unreadable, cut off, no video, or nothing in it can be
        decoded.
    """
    with _container(Path(path)) as container:
        streams = _pictures(container)
        if not streams:
            raise FileError(
                f"cannot read {path}: there is no video in it; give a file with video ({_KINDS})"
            )
        decodable = tuple(stream.index for stream in streams if _has_decoder(stream))
        if not decodable:
            raise FileError(
                f"cannot read {path}: its video is of a kind that cannot be decoded; "
                "convert it to H.264"
            )
        return decodable


@contextmanager
def open_video(
    path: str | os.PathLike[str], index: int
) -> Iterator[tuple["InputContainer", "VideoStream"]]:
    """Open a video file and yield it with one of its streams, made ready to be decoded.

    Decoding uses one thread, and what a packet carries as ``opaque`` comes out with its frame.

    Raises
    ------
    FileError
        The file is absent, a folder, unreadable, cut off, no video, the stream is not there, cannot
        be decoded or claims absurd dimensions.
    """
    path = Path(path)
    with _container(path) as container:
        found = {stream.index: stream for stream in _pictures(container)}
        if index not in found:
            raise FileError(
                f"cannot read {path}: there is no video in it as stream {index}; "
                f"give a file with video ({_KINDS})"
            )
        stream = found[index]
        if not _has_decoder(stream):
            raise FileError(
                f"cannot read {path}: its video is of a kind that cannot be decoded; "
                "convert it to H.264"
            )
        _check_dimensions(stream, path)
        context = stream.codec_context
        context.thread_count = 1
        context.copy_opaque = True
        context.options = {**LIMITS, **_BY_CODEC.get(context.name, {})}
        yield container, stream


@contextmanager
def _container(path: Path) -> Iterator["InputContainer"]:
    _check_place(path)
    import av
    from av.error import FFmpegError

    try:
        # The prefix keeps names such as "concat:a|b" from being taken for another protocol.
        container = av.open(f"file:{path.absolute()}", options=_OPTIONS, metadata_errors="replace")
    except PermissionError as error:
        raise FileError(
            f"cannot read {path}: {error.strerror}; change the file's permissions"
        ) from error
    except MemoryError as error:
        raise FileError(f"cannot read {path}: there is not enough memory for it") from error
    except (FFmpegError, OSError, ValueError) as error:
        if lacks_its_index(path):
            raise FileError(
                f"cannot read {path}: the video is cut off, and its index, which comes last, is "
                "missing; get a whole copy"
            ) from error
        raise FileError(
            f"cannot read {path}: it is not a video that can be read; give {_KINDS}"
        ) from error
    with container:
        yield container


def _check_place(path: Path) -> None:
    try:
        if path.is_file():
            if path.stat().st_size == 0:
                raise FileError(f"cannot read {path}: the file is empty; get a fresh copy")
            return
        exists, folder = path.exists(), path.is_dir()
    except (OSError, ValueError) as error:
        raise FileError(f"cannot read {str(path)!r}: {error}; check the name") from error
    if folder:
        raise FileError(f"cannot read {path}: it is a folder; give one video file")
    if exists:
        raise FileError(f"cannot read {path}: it is not a regular file; copy it to a file first")
    raise FileError(f"cannot read {path}: there is no such file; check the name")


def _pictures(container: "InputContainer") -> list["VideoStream"]:
    from av.stream import Disposition

    covers = Disposition.attached_pic | Disposition.timed_thumbnails
    return [stream for stream in container.streams.video if not stream.disposition & covers]


def _has_decoder(stream: "VideoStream") -> bool:
    # PyAV has no context where FFmpeg has no decoder, though its types do not say so.
    return stream.codec_context is not None  # pyright: ignore[reportUnnecessaryComparison]


def _check_dimensions(stream: "VideoStream", path: Path) -> None:
    rows, cols = stream.codec_context.height, stream.codec_context.width
    if rows * cols > _MOST_PIXELS or max(rows, cols) > _LONGEST_SIDE:
        raise FileError(
            f"cannot read {path}: its frames claim to be {cols} x {rows}, which no capsule frame "
            "is; scale the video down"
        )
