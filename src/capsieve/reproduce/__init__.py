"""The paper's study with one command, on the phantom or on one's own exams.

Modules in reading order: options, paper_numbers (what the paper prints), study (exams, screening
and scores), readings (the results of a study with each reading), tables, figures, run.

Nothing is imported here: the command needs only the options to print its help.
"""
