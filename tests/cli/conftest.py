from pathlib import Path

import pytest
from PIL import Image

from support.commands import invoke
from support.polyp_frames import polyp_frame


@pytest.fixture
def run():
    """Run a command line in this process."""
    return invoke


@pytest.fixture(scope="session")
def frame_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("frames") / "frame.png"
    Image.fromarray(polyp_frame()).save(path)
    return path
