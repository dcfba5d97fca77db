"""What a Dask worker that was started here loads before it works."""

from capsieve.processes import silence_output

__all__ = ["dask_setup"]


def dask_setup(worker: object) -> None:
    """Keep what the worker prints away from the terminal. Dask calls this by its name."""
    del worker
    silence_output()
