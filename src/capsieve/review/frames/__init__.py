"""Any frame of a screened exam, exactly the one that was scored, fast."""

from capsieve.review.frames.access import Caches, ExamFrames
from capsieve.review.frames.open_exams import OpenExams
from capsieve.review.frames.packs import MEDIA_TYPES, MOST_TOGETHER
from capsieve.review.frames.timeline import timeline_bytes

__all__ = ["MEDIA_TYPES", "MOST_TOGETHER", "Caches", "ExamFrames", "OpenExams", "timeline_bytes"]
