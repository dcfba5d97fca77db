"""Run a model file as a detector.

Modules in reading order: spec (inputs and outputs of a model), card (what a user should know about
it), model_file (ONNX with both as metadata), crop (the image that a network sees), features (the
numbers that other models take), runtime (onnxruntime), trial (limits for models of others),
evidence (where a map points), detector.
"""
