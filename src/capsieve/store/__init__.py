"""Storage of screened exams.

schema      columns of the tables
record      exam.json, validated when it is read
segments    finished segments, the lock of a folder, and the replacement of results
tables      from segments to tables, events and frame counts
choice      what calibration frames chose, with their hashes
exam        `Exam`: read a screened exam
"""

from capsieve.store.exam import Exam, exam_folders, unfinished_exams
from capsieve.store.record import RECORD, FrameCounts, Record, read_record, write_record
from capsieve.store.segments import Segments, locked, remove_results, replace_results

__all__ = [
    "RECORD",
    "Exam",
    "FrameCounts",
    "Record",
    "Segments",
    "exam_folders",
    "locked",
    "read_record",
    "remove_results",
    "replace_results",
    "unfinished_exams",
    "write_record",
]
