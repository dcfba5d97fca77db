"""What training needs beyond the core, and how it is kept to one thread."""

from contextlib import AbstractContextManager

from capsieve.errors import MissingExtraError

__all__ = ["one_thread", "require_training"]


def require_training() -> None:
    """Raise MissingExtraError where scikit-learn or onnx is not installed."""
    try:
        import onnx  # noqa: F401
        import sklearn  # noqa: F401
        import threadpoolctl  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "training needs the packages scikit-learn and onnx; pip install 'capsieve[train]'"
        ) from None


def one_thread() -> AbstractContextManager[object]:
    """Keep OpenMP and BLAS to one thread.

    Sums that several threads share are rounded in another order on another number of cores. With
    one thread the same examples and seed give the same bits.
    """
    require_training()
    import sklearn.ensemble
    import sklearn.svm  # noqa: F401  # libraries that are loaded later would escape the limit
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1)
