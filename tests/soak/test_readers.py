"""Twenty readers at one server: no acknowledged entry is lost, and how long requests take."""

import threading
import time
from typing import Any

import httpx
import numpy as np
import pytest

from support.contents import decision
from support.review_server import TIMEOUT, serve_review
from support.small_exam import EVENTS_OF_SMALL, FRAMES, write_small_exam

pytestmark = pytest.mark.soak

READERS = 20
SECONDS = 120
EVENT = f"event:0:{EVENTS_OF_SMALL[0][0]}"
WORDS = ("accept", "reject", "unsure")


class Reading:
    """A reader who looks at frames of one exam, decides, and whose page polls."""

    def __init__(self, server: httpx.Client, exam: str) -> None:
        self.exam, self.path = exam, f"/api/exams/{exam}"
        self.acknowledged: list[dict[str, Any]] = []
        self.seconds: list[float] = []
        self._client = httpx.Client(
            base_url=server.base_url, cookies=server.cookies, timeout=TIMEOUT
        )

    def read_until(self, end: float) -> None:
        """Read until a moment of the clock."""
        screening = self._ask("get", self.path).json()["screening"]
        who = {"reader": "anna", "role": "reader", "screening": screening}
        rng = np.random.default_rng(len(self.exam))
        polled = 0.0
        while time.monotonic() < end:
            first = int(rng.integers(FRAMES - 8))
            numbers = ",".join(map(str, range(first, first + 8)))
            self._ask("get", f"{self.path}/frames/0?numbers={numbers}")
            shown = [{"head": 0, "first": first, "last": first + 7}]
            body = who | {"head": 0, "displayed": shown, "viewed": []}
            self._ask("post", f"{self.path}/viewed", json=body)
            count = len(self.acknowledged)
            entry = decision(EVENT, WORDS[count % 3])
            body = who | {"key": f"{self.exam}-{count:06d}", "entries": [entry]}
            self.acknowledged += self._ask("post", f"{self.path}/entries", json=body).json()
            if time.monotonic() - polled > 5:
                polled = time.monotonic()
                self._ask("get", f"{self.path}/reading")
                self._ask("get", "/api/exams")
            time.sleep(float(rng.uniform(0.2, 0.6)))

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        start = time.perf_counter()
        answer = self._client.request(method, path, **options)
        self.seconds.append(time.perf_counter() - start)
        assert answer.status_code == 200, answer.text
        return answer


@pytest.mark.timeout(1200)
def test_twenty_readers_lose_nothing(tmp_path, capsys):
    exams = [f"exam-{number:02d}" for number in range(READERS)]
    for exam in exams:
        write_small_exam(tmp_path / "out", tmp_path / f"source-{exam}", exam=exam)
    database = tmp_path / "decisions.sqlite"
    with serve_review(tmp_path / "out", database, state=tmp_path) as (_, client):
        readings = [Reading(client, exam) for exam in exams]
        end = time.monotonic() + SECONDS
        threads = [threading.Thread(target=each.read_until, args=(end,)) for each in readings]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for each in readings:
            each.close()
            assert each.acknowledged
            stored = client.get(f"{each.path}/entries").json()
            assert [entry["number"] for entry in stored] == [
                entry["number"] for entry in each.acknowledged
            ]
    seconds = np.concatenate([each.seconds for each in readings])
    median, high = 1000 * np.percentile(seconds, [50, 95])
    with capsys.disabled():
        print(f"\n{seconds.size} requests of {READERS} readers: median {median:.0f} ms, ", end="")
        print(f"95 % below {high:.0f} ms")
