import pytest

from capsieve.report.evaluation.symbols import (
    html_symbols,
    is_symbol,
    math_symbols,
    tex_symbols,
)


@pytest.mark.parametrize(
    ("text", "html", "tex"),
    [
        ("T_max", "T<sub>max</sub>", r"$T_{\mathrm{max}}$"),
        ("R_P = 37", "R<sub>P</sub> = 37", "$R_{P}$ = 37"),
        ("sigma1 and sigma", "σ<sub>1</sub> and σ", r"$\sigma_{1}$ and $\sigma$"),
        ("delta(SPEC)", "δ(SPEC)", r"$\delta$(SPEC)"),
        ("Theta", "Θ", r"$\Theta$"),
        ("GT_max, T_maximum, my_R_P", "GT_max, T_maximum, my_R_P", "GT_max, T_maximum, my_R_P"),
    ],
)
def test_symbols_are_set(text: str, html: str, tex: str) -> None:
    assert html_symbols(text) == html
    assert tex_symbols(text, str) == tex
    assert math_symbols(text) == tex


def test_what_stands_between_is_escaped() -> None:
    assert html_symbols("<T_max & x>") == "&lt;T<sub>max</sub> &amp; x&gt;"
    assert math_symbols("$5 and R_P") == r"\$5 and $R_{P}$"


def test_only_a_whole_symbol_is_one() -> None:
    assert is_symbol("sigma2")
    assert not is_symbol("sigma2 of patient 1")
