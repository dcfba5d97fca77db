"""Decisions of readers on screened exams: an append-only log, and its sum, the reading.

roles      workflows and roles (imports nothing, for the command line)
model      one strict model per kind of entry, for the database, the API and the exports
exam       events and identity of a screened exam
database   SQLite or PostgreSQL: tables, append-only triggers, one writer
viewed     which frames were displayed, as bitmaps
reading    the pure fold of a log into a reading
workflow   who sees which entries, and who may write what
log        read the log, and append actions to it
signing    sign a reading, and check signatures
agreement  agreement of two blind readers
export     decisions and labels as CSV
backup     one portable file of all decisions
"""
