import pytest

from capsieve.report.style import symbols


@pytest.mark.parametrize(
    ("plain", "set_"),
    [
        ("T_max = 3", r"$T_{\mathrm{max}}$ = 3"),
        ("below S_L = 292.", r"below $S_{\mathrm{L}}$ = 292."),
        ("max u = 0.2, Theta = 0.1", r"max $u$ = 0.2, $\Theta$ = 0.1"),
        ("R = 54, R_P", r"$R$ = 54, $R_{\mathrm{P}}$"),
        ("Feature 1: passes", "Feature 1: passes"),
    ],
)
def test_the_papers_symbols_are_set_as_such(plain, set_):
    assert symbols(plain) == set_
