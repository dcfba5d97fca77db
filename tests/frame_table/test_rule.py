"""The rule of flags as an option of the command line."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.errors import ParameterError
from capsieve.frame_table import FlagRule


def parsed(option):
    name, value = shlex.split(option)
    if name == "--threshold":
        return FlagRule.parse(threshold=float(value))
    return FlagRule.parse(read=value)


@given(
    st.one_of(
        st.builds(FlagRule, st.just("threshold"), st.floats(allow_nan=False, allow_infinity=False)),
        st.builds(FlagRule, st.just("share"), st.floats(1e-9, 1.0)),
        st.builds(FlagRule, st.just("count"), st.integers(1, 10**8)),
    )
)
def test_the_printed_option_gives_the_same_rule(rule):
    assert parsed(rule.option) == rule


@pytest.mark.parametrize(
    ("rule", "option"),
    [
        (FlagRule("threshold", 37.0), "--threshold 37"),
        (FlagRule("threshold", 0.1234567890123), "--threshold 0.1234567890123"),
        (FlagRule("share", 0.07), "--read 7%"),
        (FlagRule("share", 0.125), "--read 12.5%"),
        (FlagRule("count", 300), "--read 300"),
    ],
)
def test_an_option_is_as_short_as_its_digits_allow(rule, option):
    assert rule.option == option


@pytest.mark.parametrize(
    ("kind", "value"),
    [("threshold", float("nan")), ("share", 0.0), ("share", 1.1), ("count", 0), ("count", 2.5)],
)
def test_impossible_values_are_refused(kind, value):
    with pytest.raises(ParameterError):
        FlagRule(kind, value)
