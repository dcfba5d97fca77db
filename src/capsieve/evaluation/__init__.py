"""Evaluate, compare and calibrate detectors on labelled frames.

Modules in reading order: scores (results of screening, or a table of any program), results (scores
with labels), leaks, evaluate, localisation (places against outlines), gallery_images, calibrate
(choose a threshold or a reading list), settings, labelled_run (many settings on labelled frames),
robustness, search.

Nothing is imported here: the commands need only the settings to print their help.
"""
