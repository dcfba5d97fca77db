"""Security headers of the responses."""

import re

import pytest

from support.users import add_user, cheap_hashes

PATHS = ["/", "/api/room", "/api/exams/none", "/api/exams/small/frames/0/0"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("browser", ["client", "unauthenticated"])
def test_every_response_has_the_security_headers(request, browser, path):
    headers = request.getfixturevalue(browser).get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("path", PATHS[1:])
def test_data_is_not_cached_by_the_browser(client, path):
    assert client.get(path).headers["cache-control"] == "no-store"


def test_an_internal_error_has_the_headers_and_does_not_expose_its_message(client, app):
    app.fail_on_exam_list(RuntimeError("a secret path"))
    answer = client.get("/api/exams")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_login_page_loads_nothing_and_has_one_style(open_app, tmp_path, monkeypatch):
    cheap_hashes(monkeypatch)
    add_user(tmp_path / "users.json", "anna")
    page = open_app(users=tmp_path / "users.json").client(log_in=False).get("/login")
    assert not re.search(r"<script|<img|<link|@import|url\(|style=| on\w+=", page.text)
    assert re.search(r"style-src 'sha256-[\w+/=]{44}'", page.headers["content-security-policy"])
