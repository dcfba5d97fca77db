"""Storage of screened exams.

schema      columns of the tables
record      exam.json, validated when it is read
segments    finished segments, the lock of a folder, and the replacement of results
tables      from segments to tables, events and frame counts
choice      what calibration frames chose, with their hashes
exam        `Exam`: read a screened exam
"""
