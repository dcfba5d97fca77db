"""Labels of frames: formats, matching with screened frames, outlines."""
