"""Sessions end."""

from capsieve.review.sessions import Reader, Sessions

ANNA = Reader("anna", "reader")


def test_a_session_ends_when_it_is_idle_and_in_any_case(clock):
    sessions = Sessions(longest=100, idle=10, clock=clock)
    secret = sessions.begin(ANNA)
    for _ in range(11):
        clock.now += 9
        assert sessions.reader(secret) == ANNA
    clock.now += 2  # used a moment ago, and too old
    assert sessions.reader(secret) is None
    secret = sessions.begin(ANNA)
    clock.now += 10
    assert sessions.reader(secret) is None


def test_what_a_page_does_on_its_own_keeps_no_session_alive(clock):
    sessions = Sessions(longest=100, idle=10, clock=clock)
    secret = sessions.begin(ANNA)
    clock.now += 6
    assert sessions.reader(secret, touch=False) == ANNA
    clock.now += 6
    assert sessions.reader(secret) is None


def test_secrets_differ_and_end_one_by_one(clock):
    sessions = Sessions(longest=100, idle=10, clock=clock)
    first, second = sessions.begin(ANNA), sessions.begin(ANNA)
    assert first != second
    sessions.end(first)
    assert sessions.reader(first) is None
    assert sessions.reader(second) == ANNA
    assert sessions.reader("\ud800") is None


def test_endless_logins_take_no_endless_memory(clock):
    sessions = Sessions(longest=100, idle=100, clock=clock)
    first = sessions.begin(ANNA)
    others = []
    for _ in range(1000):
        clock.now += 0.001
        others.append(sessions.begin(ANNA))
    assert sessions.reader(first) is None
    assert sessions.reader(others[-1]) == ANNA


def test_the_sessions_of_those_who_may_no_longer_enter_end(clock):
    known = {ANNA}
    sessions = Sessions(longest=100, idle=10, known=known.__contains__, clock=clock)
    secret = sessions.begin(ANNA)
    assert sessions.reader(secret) == ANNA
    known.clear()
    assert sessions.reader(secret) is None
    known.add(ANNA)
    assert sessions.reader(secret) is None  # who is let in again logs in again
