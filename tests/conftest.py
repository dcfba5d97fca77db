"""What all tests share."""

import os
from hashlib import sha256
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]

# Compiled kernels make the first example slow, so no example has a deadline. In CI the examples
# are the same ones every time: a change that fails there fails because of the change.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def _kernel_cache() -> Path:
    """Return a folder of its own for every state of the kernels.

    numba's cache notices a change in a kernel's own file, but not in another file that it calls:
    tests would go on with the old code.
    """
    state = sha256()
    for path in sorted(ROOT.glob("src/capsieve/**/kernels/*.py")):
        state.update(path.read_bytes())
    return ROOT / ".numba_cache" / state.hexdigest()[:16]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_kernel_cache()))
