"""Exams that are videos: opened with care, cut at key frames, every frame accounted for."""

from capsieve.sources.video.opening import is_video_name, video_streams
from capsieve.sources.video.source import Video

__all__ = ["Video", "is_video_name", "video_streams"]
