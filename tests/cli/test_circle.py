"""The option that takes a circle."""

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsieve.cli.circle import Circle

NUMBER = st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBER, NUMBER, NUMBER)
def test_three_numbers_are_taken_as_they_stand(row, col, radius):
    text = f"{row!r},{col!r},{radius!r}"
    assert Circle("auto").convert(text, None, None) == (row, col, radius)


def test_blanks_do_not_matter():
    assert Circle().convert(" 1, 2 ,3 ", None, None) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("word", ["auto", "whole"])
def test_its_words_are_taken(word):
    assert Circle("auto", "whole").convert(word, None, None) == word


def test_what_was_converted_stays():
    assert Circle("auto").convert((1.0, 2.0, 3.0), None, None) == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("text", ["", "1,2", "1,2,3,4", "a,b,c", "1;2;3", "whole", "Auto"])
def test_anything_else_is_told_with_an_example(text):
    with pytest.raises(click.BadParameter) as caught:
        Circle("auto").convert(text, None, None)
    assert repr(text) in caught.value.message
    assert "neither auto nor ROW,COL,RADIUS, for instance 255.5,255.5,240" in caught.value.message


def test_the_message_names_every_word():
    with pytest.raises(click.BadParameter, match="neither auto nor whole nor ROW,COL,RADIUS"):
        Circle("auto", "whole").convert("round", None, None)
