"""Evidence over HTTP."""

import io

from PIL import Image

from review_exam import SIZE

EVIDENCE = "/api/exams/small/evidence/0"


def test_evidence_comes_with_its_maps(client):
    evidence = client.get(f"{EVIDENCE}/0").json()
    assert evidence["words"]
    for name in evidence["maps"]:
        answer = client.get(f"{EVIDENCE}/0/{name}.png")
        assert answer.headers["content-type"] == "image/png"
        assert Image.open(io.BytesIO(answer.content)).size == (SIZE, SIZE)


def test_what_is_not_there_is_one_sentence(client):
    for address in (f"{EVIDENCE}/99", "/api/exams/small/evidence/3/0", f"{EVIDENCE}/0/none.png"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert answer.json()["detail"].endswith(".")
