"""capsieve screens capsule-endoscopy exams for polyps.

Research software, not a medical device. The public names are listed in ``__init__.pyi``; a module
is imported when one of its names is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
