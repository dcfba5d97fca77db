"""Events are offered best first, 50 at a time, in the order and with the filters of the reader."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.results import frame_hash, write_results
from support.small_exam import SIZE, small_frame

pytestmark = pytest.mark.slow
EXAM, EVENTS = "many", 60


@pytest.fixture
def out(tmp_path):
    """Results of an exam of images, in which every second frame is an event."""
    source, names = tmp_path / "source", [f"frame{n}.png" for n in range(2 * EVENTS)]
    source.mkdir()
    for number, name in enumerate(names):
        Image.fromarray(small_frame(number)).save(source / name)
    best = [2 * (7 * rank % EVENTS) for rank in range(EVENTS)]  # the best score is not the first
    event: list[int | None] = [None] * len(names)
    score = np.full(len(names), 20.0)
    for rank, frame in enumerate(best, 1):
        event[frame], score[frame] = rank, 200.0 - rank
    record_source = {
        **{"head": 0, "kind": "folder", "path": str(source), "stream": 0, "names": ""},
        **{"relative": str(Path("..") / ".." / "source"), "sha256": "0" * 64, "stamp": ""},
        **{"bytes": 1, "declared": None, "description": {"rows": SIZE, "cols": SIZE}},
    }
    write_results(
        tmp_path / "out" / EXAM,
        score=score,
        events=[
            {
                **{"event": rank, "head": 0, "score": 200.0 - rank, "frames": 1, "to_read": 1},
                **{"first_frame": frame, "last_frame": frame, "best_frame": frame},
                **{"best_file": names[frame], "row": 40.0, "col": 50.0, "radius": 20.0},
            }
            for rank, frame in enumerate(best, 1)
        ],
        file=names,
        event=event,
        pixel_hash=[frame_hash(small_frame(number)) for number in range(len(names))],
        rows=np.full(len(names), SIZE),
        cols=np.full(len(names), SIZE),
        record={"fields_of_view": [], "sources": [record_source]},
    )
    return tmp_path / "out"


def cards(person):
    """Return the numbers of the events in the list."""
    places = "all => all.map(one => Number(one.dataset.place) + 1)"
    return person.page.eval_on_selector_all(".card", places)


def test_events_are_offered_by_score_and_listed_as_the_reader_wants(serve, enter, out):
    anna = enter(serve(out=out))
    anna.read(EXAM)
    anna.until_frame(0)
    assert cards(anna) == list(range(1, 51))
    anna.see(".strip:has-text('50 of 50 open')")

    anna.press("r")
    anna.until_frame(14)  # the second by score
    anna.page.get_by_role("button", name="Time", exact=True).click()
    in_time = sorted(range(50), key=lambda rank: 7 * rank % EVENTS)
    assert cards(anna) == [rank + 1 for rank in in_time]
    anna.press("u")
    following = in_time[in_time.index(1) + 1]
    anna.until_frame(2 * (7 * following % EVENTS))  # the next in time

    anna.page.get_by_role("button", name="Unsure", exact=True).click()
    assert cards(anna) == [2]
    anna.page.get_by_role("button", name="Open", exact=True).click()
    assert cards(anna) == [rank + 1 for rank in in_time if rank > 1]
    anna.page.get_by_role("button", name="Open", exact=True).click()

    anna.page.get_by_role("button", name="Show 10 more").click()
    anna.until("() => document.querySelectorAll('.card').length === 60")
    anna.until_saved()
    anna.page.reload()
    anna.until("() => document.querySelectorAll('.card').length === 60")
    assert cards(anna)[0] == 1  # in the order of time
    assert cards(anna)[1] == 1 + next(rank for rank in range(EVENTS) if 7 * rank % EVENTS == 1)


def test_a_decision_on_an_event_offers_it_everywhere(serve, enter, out):
    server = serve(out=out)
    anna = enter(server)
    anna.read(EXAM)
    anna.page.get_by_role("button", name="Show 10 more").click()
    anna.page.locator(".card").nth(54).click()
    anna.until("() => document.querySelector('.decisions').textContent.includes('Event 55 of')")
    anna.press("r")
    anna.until_saved()
    again = enter(server)  # another browser
    again.read(EXAM)
    again.until("() => document.querySelectorAll('.card').length === 60")
