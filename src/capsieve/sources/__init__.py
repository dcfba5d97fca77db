"""Sources of frames: videos, and folders and ZIP archives of images.

base             what all sources share: `Place`, `Segment`, `Survey`, `Source`, `open_source`
discovery        `find_exams`: from the paths of a user to exams and their heads
image_file       decode one image file
image_source     a folder or archive of images
video_container  open a video file and read its packets
video_losses     truncated files and missing frames
video_segments   cut a video into segments that decode independently
video_source     a stream of a video
reader           `FrameReader`: any screened frame by its number
"""

from capsieve.sources.base import Place, Source, SourceFrame, Survey, natural_key, open_source
from capsieve.sources.discovery import ExamInput, find_exams
from capsieve.sources.image_file import read_image
from capsieve.sources.reader import FrameReader

__all__ = [
    "ExamInput",
    "FrameReader",
    "Place",
    "Source",
    "SourceFrame",
    "Survey",
    "find_exams",
    "natural_key",
    "open_source",
    "read_image",
]
