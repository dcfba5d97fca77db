"""What a request may be."""

from capsieve.review.limits import MOST_BYTES

ENTRIES = "/api/exams/small/entries"


def test_a_huge_body_is_refused(client):
    answer = client.post(ENTRIES, content=b"x" * (MOST_BYTES + 1))
    assert answer.status_code == 413
    assert "longer than" in answer.json()["detail"]


def test_a_huge_body_without_a_declared_length_is_refused(client):
    async def pieces():
        for _ in range(20):
            yield b"x" * 100_000

    assert client.post(ENTRIES, content=pieces()).status_code == 413


def test_a_false_length_is_refused(client):
    answer = client.post(ENTRIES, content=b"{}", headers={"content-length": "-1"})
    assert answer.status_code == 413


def test_malformed_json_is_one_sentence(client):
    for body in (b"{", b"\xff\xfe", b"[" * 100_000, b'{"key": NaN}'):
        answer = client.post(ENTRIES, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422)
        detail = answer.json()["detail"]
        assert detail.endswith(".")
        assert "\n" not in detail


def test_a_form_is_no_json(client):
    form = {"key": "12345678", "kind": "note", "subject": "exam"}
    assert client.post(ENTRIES, data=form).status_code == 422


def test_numbers_out_of_range_are_refused(client):
    for number in ("-1", "99999999999999999999", "1.5", "nan", "%00"):
        answer = client.get(f"/api/exams/small/frames/0/{number}")
        assert answer.status_code in (404, 422)
        assert answer.json()["detail"].endswith(".")
