"""An exam of 50,000 frames in the browser: how long things take, as figures."""

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from browser.exams import digest
from capsieve.sources.base import Place, open_source
from support.looped_video import CLIP, FRAMES, looped
from support.results import write_results

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
    """Write the results of a video that shows a clip over and over; return its number of frames.

    Only the clip is decoded. Every thousandth frame is flagged.
    """
    short = open_source(Place("video", str(clip)))
    pixels = [f.pixels for each in short.survey().segments for f in short.frames(each)]
    hashes = [digest(each) for each in pixels if each is not None]
    rows, cols = pixels[0].shape[:2] if pixels[0] is not None else (0, 0)
    source = open_source(Place("video", str(video)))
    survey = source.survey()
    assert survey.packets is not None
    frames = [frame for each in survey.segments for frame in source.expected(each)]
    count = len(frames)
    flagged = np.arange(0, count, 1000).tolist()
    score = np.full(count, 20.0)
    score[flagged] = 50.0
    event: list[int | None] = [None] * count
    for rank, number in enumerate(flagged, 1):
        event[number] = rank
    packets = survey.packets.to_arrow()
    head = pa.array(np.zeros(len(packets), np.int16))
    write_results(
        out / exam,
        score=score,
        time_s=[frame.time for frame in frames],
        event=event,
        packet=[frame.packet for frame in frames],
        pixel_hash=[hashes[number % len(hashes)] for number in range(count)],
        rows=np.full(count, rows),
        cols=np.full(count, cols),
        packets=packets.append_column("head", head).to_pylist(),
        events=[
            {
                **{"event": rank, "head": 0, "score": 50.0, "frames": 1, "to_read": 1},
                **{"first_frame": number, "last_frame": number, "best_frame": number},
                **{"row": rows / 2, "col": cols / 2, "radius": 40.0},
            }
            for rank, number in enumerate(flagged, 1)
        ],
        record={
            "fields_of_view": [],
            "sources": [
                {
                    "head": 0,
                    "kind": "video",
                    "path": str(video),
                    "relative": str(Path("..") / ".." / video.name),
                    "stream": 0,
                    "names": "",
                    "sha256": survey.sha256,
                    "stamp": source.stamp(),
                    "bytes": survey.size,
                    "declared": None,
                    "description": dict(survey.description),
                }
            ],
        },
    )
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
    """Somebody in the list of exams."""
    person = enter(serve(out=long_exam))
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


def dragged(person) -> float:
    """Drag over the whole timeline; return the images per second that were drawn."""
    mouse, lanes = person.page.mouse, person.see(".timeline canvas.lanes").bounding_box()
    mouse.move(lanes["x"], lanes["y"] + 4)
    mouse.down()
    start = time.perf_counter()

    def drag() -> None:
        for step in range(1, 200):
            mouse.move(lanes["x"] + step / 200 * lanes["width"], lanes["y"] + 4)

    drawn = person.drawn(drag)
    seconds = time.perf_counter() - start
    mouse.up()
    return len(drawn) / seconds


def test_a_long_exam_opens_jumps_and_plays_every_frame(anna):
    start = time.perf_counter()
    anna.read("long")
    told("open, until the first frame is drawn", time.perf_counter() - start, "s")
    found = jumps(anna, rest=True)
    told("jump, median", float(np.median(found)), "ms")
    told("jump, 95 %", float(np.quantile(found, 0.95)), "ms")
    found = jumps(anna, rest=False)
    told("jumps one after the other, 95 %", float(np.quantile(found, 0.95)), "ms")
    told("dragging", dragged(anna), "images per second")

    anna.press(*["+"] * 30)
    anna.press("Home")
    anna.until_frame(0)
    start = time.perf_counter()
    drawn = anna.drawn(lambda: (anna.press("Space"), anna.until_frame(300)))
    told("playback", 300 / (time.perf_counter() - start), "frames per second")
    assert drawn[:300] == list(range(1, 301))


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
