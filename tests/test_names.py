import random

from capsieve.names import natural_key, split_head


def test_numbers_are_sorted_by_value_and_letters_without_regard_to_case():
    large = ["b" + "9" * 4999, "b" + "9" * 5000]  # Python does not convert such texts to numbers
    expected = ["1a", "-", "a", "a02", "a2", "A10", "b1", *large]
    for seed in range(5):
        names = random.Random(seed).sample(expected, len(expected))
        assert sorted(names, key=natural_key) == expected


def test_the_head_is_split_off_a_name():
    assert split_head("exam-head-1") == ("exam", 1)
    assert split_head("EXAM HEAD0") == ("EXAM", 0)
    assert split_head("head_0") == ("", 0)
    for name in ("overhead0", "exam-head-2", "head", "exam"):
        assert split_head(name) == (name, None)
