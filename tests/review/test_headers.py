"""What every answer carries."""

import re

import pytest

ADDRESSES = ["/", "/api/room", "/api/exams/none", "/api/docs", "/api/exams/small/frames/0/0"]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("who", ["client", "visitor"])
def test_every_answer_is_closed_to_others(request, who, address):
    headers = request.getfixturevalue(who).get(address).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("address", ADDRESSES[1:])
def test_no_data_stays_in_the_browser(client, address):
    assert client.get(address).headers["cache-control"] == "no-store"


def test_a_mistake_of_the_server_carries_them_too_and_tells_nothing(client, room, monkeypatch):
    def fail() -> None:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(room.summaries, "follow", fail)
    answer = client.get("/api/exams")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_pages_of_the_server_load_nothing_and_name_their_one_style(client):
    page = client.get("/api/docs")
    assert not re.search(r"<script|<img|<link|@import|url\(|style=| on\w+=", page.text)
    assert re.search(r"style-src 'sha256-[\w+/=]{44}'", page.headers["content-security-policy"])
