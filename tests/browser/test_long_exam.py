"""An exam of 50,000 frames in the browser: how long things take, as figures."""

import time
from pathlib import Path

import numpy as np
import pytest

from browser.exams import digest
from capsieve.sources.source import Place, open_source
from support.looped_video import CLIP, FRAMES, looped
from support.results import write_results, write_table

pytestmark = pytest.mark.soak

# From the press of the button until the next frame is drawn, in the page's own time.
TIMED = """() => {
  const before = window.noted.frames.length;
  window.noted.jump = null;
  addEventListener("pointerdown", () => {
    const start = performance.now();
    const look = () => {
      if (window.noted.frames.length > before) window.noted.jump = performance.now() - start;
      else requestAnimationFrame(look);
    };
    look();
  }, { once: true, capture: true });
}"""


def write_long_exam(out: Path, video: Path, clip: Path, *, exam: str) -> int:
    """Write the results of a video that shows a clip over and over; return how many frames it has.

    Only the clip is decoded. Every thousandth frame is flagged.
    """
    short = open_source(Place("video", str(clip)))
    pixels = [f.pixels for each in short.survey().segments for f in short.frames(each)]
    digests = [digest(each) for each in pixels if each is not None]
    rows, cols = pixels[0].shape[:2] if pixels[0] is not None else (0, 0)
    source = open_source(Place("video", str(video)))
    survey = source.survey()
    frames = [frame for each in survey.segments for frame in source.expected(each)]
    count = len(frames)
    flagged = np.arange(0, count, 1000)
    score = np.full(count, 20.0)
    score[flagged] = 50.0
    event: list[int | None] = [None] * count
    for rank, number in enumerate(flagged.tolist(), 1):
        event[number] = rank
    write_results(
        out / exam,
        score=score,
        time_s=np.array([frame.time for frame in frames]),
        event=event,
        pts=[frame.pts for frame in frames],
        sha1=[digests[number % len(digests)] for number in range(count)],
        rows=np.full(count, rows),
        cols=np.full(count, cols),
        record={
            "views": [],
            "sources": [
                {
                    "head": 0,
                    "kind": "video",
                    "path": str(video),
                    "relative": str(Path("..") / ".." / video.name),
                    "stream": 0,
                    "names": "",
                    "sha256": survey.sha256,
                    "bytes": survey.size,
                    "declared": None,
                    "description": {"rows": rows, "cols": cols},
                }
            ],
        },
    )
    events = [
        {
            **{"event": rank, "head": 0, "score": 50.0, "frames": 1, "to_read": 1},
            **{"first_frame": number, "last_frame": number, "best_frame": number},
            **{"row": rows / 2, "col": cols / 2, "radius": 40.0},
        }
        for rank, number in enumerate(flagged.tolist(), 1)
    ]
    write_table(out / exam, "events", events)
    return count


@pytest.fixture(scope="module")
def long_exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT with one exam, a clip over and over, with key frames 60 apart."""
    folder = tmp_path_factory.mktemp("long")
    path = looped(folder, apart=60, frames=FRAMES)
    write_long_exam(folder / "out", path, folder / "clip.mp4", exam="long")
    return folder / "out"


def told(name: str, value: float, unit: str) -> float:
    print(f"{FRAMES // CLIP * CLIP} frames: {name}: {value:.1f} {unit}", flush=True)
    return value


@pytest.fixture
def anna(long_exam, serve, enter):
    """Somebody in the list, when the index is made."""
    person = enter(serve(out=long_exam))
    ready = f"{person.server.address}/api/exams/long/preparing"
    while person.page.request.get(ready).json()["state"] not in ("ready", "failed"):
        person.page.wait_for_timeout(500)
    person.see("table.exams tbody tr")
    return person


def jumps(person, *, rest: bool) -> list[float]:
    """Click on the timeline; `rest`: when everything that the page asked for has come."""
    under_way: set[int] = set()
    page = person.page
    page.on("request", lambda request: "/frames/" in request.url and under_way.add(id(request)))
    for end in ("requestfinished", "requestfailed"):
        page.on(end, lambda request: under_way.discard(id(request)))
    lanes = person.see(".timeline canvas.lanes").bounding_box()
    found = []
    for share in np.random.default_rng(0).uniform(0.1, 0.98, 60):
        page.wait_for_timeout(200 if rest else 0)
        while rest and under_way:
            page.wait_for_timeout(50)
        page.evaluate(TIMED)
        page.mouse.click(lanes["x"] + share * lanes["width"], lanes["y"] + 4)
        person.until("() => window.noted.jump !== null")
        found.append(page.evaluate("window.noted.jump"))
    return found


def test_a_long_exam_opens_jumps_and_plays_as_promised(anna):
    start = time.perf_counter()
    anna.read("long")
    opened = told("open, until the first frame stands", time.perf_counter() - start, "s")
    found = jumps(anna, rest=True)
    told("jump, median", float(np.median(found)), "ms")
    late = told("jump, 95 %", float(np.quantile(found, 0.95)), "ms")
    found = jumps(anna, rest=False)
    told("jumps one upon the other, 95 %", float(np.quantile(found, 0.95)), "ms")

    anna.press(*["+"] * 30)
    anna.press("Home")
    anna.until_frame(0)
    start = time.perf_counter()
    drawn = anna.drawn(lambda: (anna.press("Space"), anna.until_frame(300)))
    rate = told("playback", 300 / (time.perf_counter() - start), "frames per second")
    assert drawn[:300] == list(range(1, 301))
    assert opened < 2
    assert late < 150
    assert rate > 28


def test_the_memory_of_the_page_stays_flat_over_ten_thousand_frames(anna):
    anna.read("long")
    anna.press(*["+"] * 30)
    anna.press("Home")
    anna.until_frame(0)
    anna.press("Space")
    heaps = []
    session = anna.page.context.new_cdp_session(anna.page)
    for frame in range(1000, 11_000, 1000):
        anna.page.wait_for_function(
            "frame => (window.noted.frames.at(-1) ?? 0) >= frame", arg=frame, timeout=600_000
        )
        anna.drawn(lambda: None)  # what is noted takes memory too
        session.send("HeapProfiler.collectGarbage")
        heaps.append(anna.page.evaluate("performance.memory.usedJSHeapSize") / 1e6)
        told(f"JavaScript heap after {frame} frames", heaps[-1], "MB")
    assert max(heaps[1:]) - heaps[0] < 5
