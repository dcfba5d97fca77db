import pytest

from capsieve.report.formats import bytes_text, clock, number, percent, plain, plural


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00:00"), (59.99, "0:00:59"), (3661.0, "1:01:01"), (36_000, "10:00:00"),
     (119.9999, "0:02:00"), (-2, "\N{MINUS SIGN}0:00:02"), (None, "\N{EN DASH}")],
)  # fmt: skip
def test_times_read_as_hours_minutes_and_seconds(seconds: float | None, text: str) -> None:
    assert clock(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (1e-5, "< 0.1 %"), (0.012, "1.2 %"), (0.5, "50 %"),
     (0.99999, "> 99.9 %"), (1, "100 %")],
)  # fmt: skip
def test_what_is_not_zero_does_not_read_as_zero(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.04567, "0.0457"), (12345.6, "12,346"), (None, "\N{EN DASH}")]
)
def test_numbers_have_few_digits(value: float | None, text: str) -> None:
    assert number(value) == text


def test_sizes_carry_their_unit() -> None:
    assert [bytes_text(size) for size in (12, 1234, 5_600_000, 7_890_000_000)] == [
        "12 bytes", "1.23 kB", "5.6 MB", "7.9 GB",
    ]  # fmt: skip


def test_a_single_thing_has_no_plural() -> None:
    assert (plural(1, "frame"), plural(2000, "frame")) == ("1 frame", "2,000 frames")


def test_names_cannot_hide_what_they_are() -> None:
    assert plain("a\u202egpj.exe\n\x00\ud800") == "a\ufffdgpj.exe" + 3 * "\ufffd"
    assert plain("Müller 内視鏡.png") == "Müller 内視鏡.png"
