"""Screen exams: score every frame, flag frames, and write the results.

settings         options of a run, and its progress
screen           `screen`: all exams of a call
exam_run         state of one exam during screening
survey           heads of an exam, their fields of view, and versions of the libraries
plan             identity of an exam, and the segments to score
segment          the work on one segment: decode and score its frames
executors        where the work runs: in this process or in others
dask_executor    the same on a Dask cluster
flags            which frames are flagged: by a threshold, or as a reading list
thumbnails       thumbnails and evidence maps of flagged frames
range_check      comparison with the exams that the detector was tuned on
finish           from scored frames to tables, record and report
flagging         `flag`: other flags for screened exams

Nothing is imported here: the command line reads `settings` without loading the detectors.
"""
