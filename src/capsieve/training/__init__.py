"""Train a model on labelled frames of screened exams.

Modules in reading order: run (`train`), data (labelled frames with groups and folds), inputs (crops
and features), windows (of frames with outlines), folds (weights, fits per fold, calibration),
classical (svm, forest), cnn, network, augment and integers (the network), card (threshold, metrics,
card), store (arrays that a training keeps).
"""
