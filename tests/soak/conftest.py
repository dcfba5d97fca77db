import pytest


@pytest.fixture
def soak_seed(request: pytest.FixtureRequest) -> int:
    """Another seed damages and kills in other places."""
    return int(request.config.getoption("--soak-seed") or 0)


@pytest.fixture
def soak_minutes(request: pytest.FixtureRequest) -> float:
    """How long a test may take; one round is always finished."""
    return float(request.config.getoption("--soak-minutes") or 0)
