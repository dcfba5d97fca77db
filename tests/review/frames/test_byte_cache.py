from capsieve.review.frames.byte_cache import ByteCache


def test_the_least_recently_used_goes_first() -> None:
    cache = ByteCache[str](10)
    for name in "abc":
        cache.put(name, name, 3)
    assert cache.get("a") == "a"
    cache.put("d", "d", 3)
    assert [name for name in "abcd" if cache.get(name)] == ["a", "c", "d"]
    assert cache.bytes == 9


def test_a_value_that_grows_pushes_others_out() -> None:
    cache = ByteCache[str](10)
    cache.put("a", "a", 3)
    cache.put("b", "b", 3)
    cache.put("b", "b", 8)
    assert cache.get("a") is None
    assert (cache.get("b"), cache.bytes, len(cache)) == ("b", 8, 1)


def test_what_is_larger_than_all_is_not_kept() -> None:
    cache = ByteCache[str](10)
    cache.put("a", "a", 4)
    cache.put("b", "b", 11)
    assert cache.get("b") is None
    assert cache.get("a") == "a"


def test_one_owner_can_be_forgotten() -> None:
    cache = ByteCache[str](10)
    for owner, number in (("x", 1), ("x", 2), ("y", 1)):
        cache.put((owner, number), owner, 2)
    cache.forget("x")
    assert cache.bytes == 2
    assert cache.get(("y", 1)) == "y"
