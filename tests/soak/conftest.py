import pytest


@pytest.fixture
def soak_seed(request: pytest.FixtureRequest) -> int:
    """Another seed damages and kills in other places."""
    return request.config.getoption("--soak-seed")


@pytest.fixture
def soak_minutes(request: pytest.FixtureRequest) -> float:
    """How long a test may go on; one round is always finished."""
    return request.config.getoption("--soak-minutes")
