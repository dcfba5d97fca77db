from functools import partial

import pytest

from capsieve.review.decisions.database import Database
from capsieve.review.decisions.following import heard_after
from capsieve.review.decisions.room import Room, change_room, read_room
from capsieve.review.way import Way
from review.decisions.made_entries import EXAM, Hand

EVENT = "event:0:1-5"


def heard(database: Database, reader: str, role: str = "reader", after: int = 0) -> list[int]:
    way = read_room(database).way
    found, _, _ = heard_after(database, after, way=way, reader=reader, role=role)
    assert all(exam == EXAM for _, exam in found)
    return [number for number, _ in found]


@pytest.mark.parametrize("way", ["single", "validated"])
def test_who_reads_together_hears_everything(sqlite: Database, way: Way) -> None:
    change_room(sqlite, Room(way), reader="anna")
    role = {"single": "reader", "validated": "validator"}[way]
    Hand(sqlite, "anna", role).say(EVENT, "accept")
    assert heard(sqlite, "ben", role) == [1]


def test_blind_readers_hear_only_that_the_other_signed_until_both_have(sqlite: Database) -> None:
    change_room(sqlite, Room("blind"), reader="anna")
    anna, ben = Hand(sqlite), Hand(sqlite, "ben")
    anna.say(EVENT, "accept")
    ben.say(EVENT, "accept")
    anna.sign()
    anna.write("reopen", "exam", {"reason": "again"})
    assert heard(sqlite, "anna") == [1, 3, 4]
    assert heard(sqlite, "ben") == [2, 3, 4]
    assert heard(sqlite, "carl", "consensus") == [3, 4]
    anna.sign()
    ben.sign()
    Hand(sqlite, "carl", "consensus").say(EVENT, "accept")
    assert heard(sqlite, "ben", after=4) == [5, 6, 7]


def test_what_is_not_heard_is_passed_over(sqlite: Database) -> None:
    change_room(sqlite, Room("blind"), reader="anna")
    for _ in range(3):
        Hand(sqlite).say(EVENT, "accept")
    listen = partial(heard_after, sqlite, way="blind", reader="ben", role="reader", most=2)
    assert listen(0) == ([], 2, True)
    assert listen(2) == ([], 3, False)
    assert listen(3) == ([], 3, False)
