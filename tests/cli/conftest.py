from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from PIL import Image

from capsieve.cli.main import cli
from support.polyp_frames import polyp_frame


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run a command line in this process."""

    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments])

    return run


@pytest.fixture(scope="session")
def frame_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("frames") / "frame.png"
    Image.fromarray(polyp_frame()).save(path)
    return path
