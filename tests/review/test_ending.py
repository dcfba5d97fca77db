"""The end is quiet and soon, whatever is being worked out."""

import asyncio
import logging
import signal
import threading
import time

import pytest
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

from capsieve.review.ending import QuietEnd, working_threads_end
from served_app import connected, received, served_app

GET = b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n"


class Work:
    """An application whose answers are worked out until somebody lets them go."""

    def __init__(self):
        self.go, self.ending = threading.Event(), threading.Event()
        self.begun = threading.Semaphore(0)
        app = FastAPI()

        @app.get("/slow")
        def slow():
            self.begun.release()
            self.go.wait(60)

        @app.get("/endless")
        async def endless():
            async def parts():
                yield b"part"
                self.begun.release()
                await asyncio.sleep(60)

            return StreamingResponse(parts())

        self.app = QuietEnd(app, ending=self.ending)


@pytest.fixture
def work():
    made = Work()
    yield made
    made.go.set()
    assert working_threads_end(60)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_what_is_under_way_is_called_off_without_a_word(work, caplog, capfd, sig):
    caplog.set_level(logging.INFO, "capsieve")
    with served_app(work.app, ending=work.ending) as (server, port):
        gone = [connected(port, GET % b"slow") for _ in range(3)]
        waiting = [connected(port, GET % b"slow") for _ in range(2)]
        half = connected(port, GET % b"endless")
        for _ in range(6):
            assert work.begun.acquire(timeout=60)
        for each in gone:
            each.close()
        server.handle_exit(sig, None)
        answers = [received(each) for each in waiting]
        part = received(half)
    for answer in answers:
        assert answer.startswith(b"HTTP/1.1 503")
        assert b"The reading room was closed" in answer
    assert b"part" in part
    assert not part.endswith(b"0\r\n\r\n")  # it does not look whole
    for each in (*waiting, half):
        each.close()
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []
    assert capfd.readouterr().err == ""


def test_an_answer_that_is_nearly_ready_is_given(work):
    with (
        served_app(work.app, ending=work.ending, last_words=60) as (server, port),
        connected(port, GET % b"slow") as waiting,
    ):
        assert work.begun.acquire(timeout=60)
        server.handle_exit(signal.SIGINT, None)
        work.go.set()
        assert received(waiting).startswith(b"HTTP/1.1 200")


def test_working_threads_are_waited_for_but_not_for_ever(work):
    with served_app(work.app, ending=work.ending) as (_, port), connected(port, GET % b"slow"):
        assert work.begun.acquire(timeout=60)
    before = time.monotonic()
    assert not working_threads_end(0.05)
    assert time.monotonic() >= before + 0.05
    work.go.set()
    assert working_threads_end(60)
