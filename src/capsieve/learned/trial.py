"""Try a model of another program on one frame, in a process with limits.

A graph may loop without end, or make gigabytes from a few bytes. So it is first loaded and run in a
process with limits of time and memory.
"""

import resource
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

from capsieve.errors import CapsieveError, FileError
from capsieve.learned.spec import ModelSpec

TIME_S = 60
MEMORY = 4_000_000_000
"""Bytes of address space."""

_ADVICE = "use a smaller model, and only models that you trust"


@lru_cache(maxsize=64)
def try_model(path: Path, digest: str, spec: ModelSpec) -> None:
    """Load and run a model in another process, once for each content and description.

    Other errors than those of time and memory are left to the process that loads the model next.

    Raises
    ------
    FileError
        The process did not end within :data:`TIME_S` seconds, or needed more than :data:`MEMORY`
        bytes.
    """
    # The same packages as here, also if this program has changed its path.
    program = f"import sys; sys.path[:] = {sys.path!r}; from capsieve.learned import trial; "
    command = [sys.executable, "-c", f"{program}trial.main()", str(path), digest, spec.to_json()]
    nothing = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command, stdin=nothing, stdout=nothing, stderr=nothing, timeout=TIME_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise FileError(f"{path} gave no answer for one frame in {TIME_S} s; {_ADVICE}") from None
    if done.returncode:
        raise FileError(
            f"{path} cannot be run on one frame with {MEMORY / 1e9:g} GB of memory; {_ADVICE}"
        )


def main() -> None:
    """Run the model that the arguments name; the exit code is 1 if the memory does not suffice."""
    from capsieve.learned.runtime import runner

    path, digest, spec = sys.argv[1:]
    limits = [each for each in resource.getrlimit(resource.RLIMIT_AS) if each >= 0]
    limit = min([MEMORY, *limits])  # negative: no limit
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        runner(Path(path), digest, ModelSpec.from_json(spec))
    except CapsieveError as error:
        sys.exit("alloc" in str(error))  # onnxruntime has no class for it
