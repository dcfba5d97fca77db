"""What a Dask worker that was started here loads before it works."""

from capsieve.working_process import be_silent

__all__ = ["dask_setup"]


def dask_setup(worker: object) -> None:
    """Keep what the worker prints away from the terminal. Dask calls this by its name."""
    del worker
    be_silent()
