"""Limits of requests."""

import pytest

ENTRIES = "/api/exams/small/entries"
LIMIT = 1 << 20  # bytes of a body


def test_a_long_body_is_rejected(client):
    assert client.post(ENTRIES, content=b" " * (LIMIT + 1)).status_code == 413
    assert client.post(ENTRIES, content=b" " * LIMIT).status_code == 422


def test_a_long_body_without_a_declared_length_is_rejected(client):
    async def pieces():
        for _ in range(20):
            yield b"x" * 100_000

    assert client.post(ENTRIES, content=pieces()).status_code == 413


def test_an_invalid_content_length_is_rejected(client):
    answer = client.post(ENTRIES, content=b"{}", headers={"content-length": "-1"})
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"key": NaN}'])
def test_invalid_json_is_rejected_with_a_message_of_one_line(client, body):
    answer = client.post(ENTRIES, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    detail = answer.json()["detail"]
    assert detail
    assert "\n" not in detail


def test_a_form_is_not_accepted_as_json(client):
    form = {"key": "12345678", "kind": "note", "subject": "exam"}
    assert client.post(ENTRIES, data=form).status_code == 422


@pytest.mark.parametrize("number", ["-1", "99999999999999999999", "1.5", "nan", "%00"])
def test_a_frame_number_out_of_range_is_rejected(client, number):
    answer = client.get(f"/api/exams/small/frames/0/{number}")
    assert answer.status_code in (404, 422)
    assert answer.json()["detail"]
