from collections.abc import Callable
from pathlib import Path

import pytest

from capsieve.sources import video_segments
from support.videos import make_video


@pytest.fixture
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let segments have 10 frames or more."""
    monkeypatch.setattr(video_segments, "LEAST_FRAMES", 10)


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a maker of the sample videos that makes each of them once; do not change them."""
    made: dict[str, Path] = {}

    def get(kind: str) -> Path:
        if kind not in made:
            made[kind] = make_video(tmp_path_factory.mktemp(kind), kind)
        return made[kind]

    return get
