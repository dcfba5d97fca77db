"""Sessions end, also with automatic requests; attempts to log in are counted."""

from capsieve.review.sessions import Attempts, client_address

AUTOMATIC = {"x-capsieve-automatic": "1"}


def test_an_unused_session_ends_whatever_the_page_asks_for_by_itself(open_app):
    now = [0.0]
    client = open_app(clock=lambda: now[0]).client()
    for now[0] in (30.0, 59.0):
        assert client.get("/api/exams", headers=AUTOMATIC).status_code == 200
    now[0] = 61.0
    assert client.get("/api/exams", headers=AUTOMATIC).status_code == 401
    assert client.get("/api/exams").status_code == 401


def test_a_used_session_lasts_until_its_longest_time(open_app):
    now = [0.0]
    client = open_app(clock=lambda: now[0]).client()
    for now[0] in range(50, 600, 50):
        assert client.get("/api/exams").status_code == 200
    now[0] = 600.0
    assert client.get("/api/exams").status_code == 401


def test_a_secret_of_an_attacker_is_never_a_session(app):
    name = "capsieve-8765"
    browser = app.client(log_in=False)
    answer = browser.get("/", params={"token": app.token}, headers={"cookie": f"{name}=chosen"})
    assert "chosen" not in answer.headers["set-cookie"]
    fixed = app.client(log_in=False).get("/api/room", headers={"cookie": f"{name}=chosen"})
    assert fixed.status_code == 401


def test_attempts_are_counted_for_a_name_at_an_address_and_for_the_address():
    attempts = Attempts()
    assert [attempts.count("anna", "a") > 0 for _ in range(4)] == [False, False, False, True]
    assert attempts.count("anna", "b") == 0
    attempts.forget("anna", "a")
    assert attempts.count("anna", "a") == 0
    waits = [attempts.count(f"name {number}", "c") for number in range(40)]
    assert waits[0] == 0 < waits[-1] <= 3600


def test_addresses_of_one_ipv6_network_are_one():
    addresses = ["2001:db8::1", "2001:db8::ffff", "::ffff:192.0.2.1", "192.0.2.1", "unknown"]
    found = [client_address({"client": (address, 1)}) for address in addresses]
    assert found == ["2001:db8::/64", "2001:db8::/64", "192.0.2.1", "192.0.2.1", "unknown"]
