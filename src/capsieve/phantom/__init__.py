"""Synthetic exams whose truth is known, for tests, documentation and demonstrations.

Modules in reading order: noise, colon, polyps, motion, camera, textures, light and spoilers are the
parts; scene puts them together at one time; plan places the frames of exams and studies; render
makes one frame; write makes a study on disk; sample reads a stored frame.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
