"""Somebody in front of a browser: what they press, what they see, what goes wrong."""

import base64
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from browser.server import Server

__all__ = ["Person"]

_WAIT = 60_000  # milliseconds, for a machine that is busy with other things

# What is drawn is noted as it is drawn: the numbers under the picture, and where asked its pixels.
_NOTES = """
window.noted = { frames: [], pixels: null, violations: [] };
addEventListener("securitypolicyviolation", (event) =>
  window.noted.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
new MutationObserver((changes) => {
  for (const { target } of changes) {
    if (!(target instanceof Element) || !target.matches(".caption")) continue;
    const [, frame] = /frame ([0-9\\u202f]+)/.exec(target.textContent) ?? [];
    window.noted.frames.push(Number(frame.replaceAll("\\u202f", "")));
  }
}).observe(document, { childList: true, subtree: true });
const draw = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (image, ...rest) {
  if (window.noted.pixels !== null && this.canvas.matches(".picture")) {
    const copy = new OffscreenCanvas(image.width, image.height).getContext("2d");
    copy.drawImage(image, 0, 0);
    const { data } = copy.getImageData(0, 0, image.width, image.height);
    let text = "";
    for (let i = 0; i < data.length; i += 4096) {
      text += String.fromCharCode(...data.subarray(i, i + 4096));
    }
    window.noted.pixels.push([image.height, image.width, btoa(text)]);
  }
  return draw.call(this, image, ...rest);
};
"""


class Person:
    """A browser of their own, with the room's link opened in it.

    Parameters
    ----------
    browser
        Playwright's.
    server
        Whose link is opened.
    options
        Of the browser's context.
    """

    def __init__(self, browser: Any, server: Server, **options: Any) -> None:
        options = {"viewport": {"width": 1280, "height": 800}, **options}
        self.server = server
        self._context = browser.new_context(**options)
        self._context.set_default_timeout(_WAIT)
        self._context.add_init_script(_NOTES)
        self._complaints: list[str] = []
        self._expected: list[str] = []
        self._context.on("request", self._asked)
        self._context.on("console", self._said)
        self._context.on("weberror", lambda error: self._complaints.append(str(error.error)))
        self.page = self.window(server.link)

    def window(self, address: str) -> Any:
        """Open another window, in the same browser."""
        page = self._context.new_page()
        page.goto(address)
        return page

    def leave(self) -> None:
        self._context.close()

    def expect(self, pattern: str) -> None:
        """From now on, complaints like this are part of the test."""
        self._expected.append(pattern)

    def complaints(self) -> list[str]:
        """Return what was against the rules, and nobody expected."""
        found = list(self._complaints)
        for page in self._context.pages:
            found += page.evaluate("window.noted?.violations ?? []")
        return [each for each in found if not any(re.search(p, each) for p in self._expected)]

    def read(self, exam: str) -> None:
        """Open an exam, and wait for its first frame."""
        self.page.goto(f"{self.server.address}/#/exam/{exam}")
        self.see(".exam .caption:has-text('frame')")

    def log_in(self, name: str, password: str) -> None:
        """Give name and password, and wait for the list."""
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        self.see("table.exams tbody tr")

    def refuse(self, address: str, status: int, sentence: str) -> None:
        """What any window writes to an address gets this answer, until `listen`."""
        self.expect(f"status of {status}")

        def answer(route: Any) -> None:
            if route.request.method == "POST":
                route.fulfill(status=status, json={"detail": sentence})
            else:
                route.continue_()

        self._context.route(address, answer)

    def listen(self, address: str) -> None:
        """The server answers again for itself."""
        self._context.unroute(address)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def see(self, selector: str) -> Any:
        """Wait until something can be seen, and return it."""
        found = self.page.locator(selector).first
        found.wait_for()
        return found

    def until(self, condition: str, argument: Any = None) -> None:
        """Wait until a function of the page says so."""
        self.page.wait_for_function(condition, arg=argument)

    def until_frame(self, frame: int) -> None:
        """Wait until a frame is on the screen, long enough to be decided."""
        self.until(
            "frame => window.noted.frames.at(-1) === frame && "
            "document.querySelector('.decisions.moved') === null",
            frame,
        )

    def go(self, frame: int) -> None:
        """Go to a frame from the first one, key by key."""
        self.press("Home")
        for number in range(frame + 1):
            self.until_frame(number)
            if number < frame:
                self.press("ArrowRight")

    def until_saved(self) -> None:
        """Wait until the page says that the server has everything."""
        self.see(".save:has-text('✓ saved')")

    def sign(self) -> None:
        """Sign the exam, by keyboard, with one reason for all that is open."""
        self.ask_to_sign()
        self.press("Enter")
        self.see("dialog:has-text('The exam is signed')")
        self.press("Escape")
        self.see(".examstate:has-text('signed by')")

    def ask_to_sign(self, reason: str = "not needed here") -> None:
        """Open the dialog, and give one reason for all that is open."""
        self.until_saved()
        self.press("Control+Enter")
        self.see("dialog:has-text('Signing freezes')")
        reasons = self.page.locator("dialog .reasons input")
        if reasons.count() > 0:
            reasons.first.fill(reason)

    def drawn(self, work: Callable[[], object]) -> list[int]:
        """Return the frames that were drawn during some work, in order."""
        self.page.evaluate("window.noted.frames.length = 0")
        work()
        return self.page.evaluate("window.noted.frames")

    def pictures(self, work: Callable[[], object]) -> list[NDArray[np.uint8]]:
        """Return the pixels of every picture that was drawn during some work.

        The same one again and again is one: a window that changes its size draws anew.
        """
        self.page.evaluate("window.noted.pixels = []")
        work()
        noted = self.page.evaluate("window.noted.pixels")
        self.page.evaluate("window.noted.pixels = null")
        found = [
            np.frombuffer(base64.b64decode(text), np.uint8).reshape(rows, cols, 4)[..., :3]
            for rows, cols, text in noted
        ]
        return [
            each for i, each in enumerate(found) if i == 0 or not np.array_equal(each, found[i - 1])
        ]

    def _asked(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("blob", "data") and parts.hostname != "127.0.0.1":
            self._complaints.append(f"asked another host: {request.url}")

    def _said(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self._complaints.append(f"{message.type}: {message.text} {message.location}")
