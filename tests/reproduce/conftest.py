"""A small study of the phantom, rendered once."""

from pathlib import Path

import pytest

from capsieve.reproduce.run import Reproduction, reproduce
from support.small_study import small_options


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Reproduction]:
    """Return the folder of the small study, and its page and tables."""
    out = tmp_path_factory.mktemp("reproduced") / "study"
    return out, reproduce(out, options=small_options())
