"""Progress of a reading, and the events that it has to decide."""

import numpy as np

from capsieve.decisions.agreement import BLOCK, events_to_decide, offered_events
from capsieve.decisions.database import Database, change_workflow
from capsieve.decisions.exam import Event
from capsieve.decisions.log import load_entries
from capsieve.decisions.progress import make_progress
from capsieve.decisions.reading import Reading, fold
from capsieve.decisions.viewed import load_viewed
from capsieve.decisions.workflow import own_reading
from decisions.hands import EVENTS, EXAM, FRAMES, Hand

MANY = tuple(Event(0, frame, (frame,)) for frame in range(2 * BLOCK + 10))


def ranks(reading: Reading) -> list[int]:
    return [event.best for event in offered_events(reading, MANY)]


def test_the_best_events_are_offered_and_the_block_of_every_decision(sqlite: Database) -> None:
    assert ranks(Reading()) == list(range(BLOCK))
    hand = Hand(sqlite)
    hand.decide(MANY[-1].subject, "reject", frame=MANY[-1].best)
    reading = fold(load_entries(sqlite, EXAM))
    assert ranks(reading) == [*range(BLOCK), *range(2 * BLOCK, len(MANY))]


def test_a_consensus_decides_events_without_a_common_decision(sqlite: Database) -> None:
    change_workflow(sqlite, "blind")
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    for event, words in zip(EVENTS, (("accept", "accept"), ("accept", "reject")), strict=False):
        anna.decide(event.subject, words[0])
        ben.decide(event.subject, words[1])
    anna.sign()
    ben.sign()
    log = load_entries(sqlite, EXAM)
    own = fold(own_reading(log, workflow="blind", reader="carl", role="consensus"))
    assert events_to_decide(log, own, EVENTS, role="consensus") == list(EVENTS[1:])


def test_progress_counts_listed_and_displayed_frames_and_is_frozen_by_a_signature(
    sqlite: Database,
) -> None:
    hand = Hand(sqlite)
    hand.decide(EVENTS[0].subject, "accept")
    hand.see(1, 2, 3, viewed=(2, 3))
    listed = {head: np.zeros(frames, bool) for head, frames in FRAMES.items()}
    listed[0][[1, 2, 5]] = True

    def progress() -> list[int]:
        reading = fold(load_entries(sqlite, EXAM))
        found = make_progress(
            reading,
            load_viewed(sqlite, EXAM, "screening-1"),
            events=EVENTS,
            offered=offered_events(reading, EVENTS),
            to_read=listed,
            without_picture=4,
        )
        return list(found.model_dump().values())

    #          events     of offered     listed      frames
    before = [len(EVENTS), 3, 1, 1, *(3, 2, 1), *(sum(FRAMES.values()), 3, 2), 4]
    assert progress() == before
    hand.sign()
    hand.see(5, 7)
    assert progress() == before
