"""The compact network: EfficientNet-Lite0, to train with torch and to run as ONNX."""
