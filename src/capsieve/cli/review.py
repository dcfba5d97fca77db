"""``capsieve review``: the review app, in the browser."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.settings_options import PathType, settings_options
from capsieve.review.settings import LOOPBACK, ReviewSettings, require_review

if TYPE_CHECKING:
    from capsieve.review.security import Access

_EXAMPLE = """\b
Example:
  capsieve review results
  capsieve review results --reader "A. Reader" --no-browser --port 9000
  capsieve users add anna --role validator --users users.json
  capsieve review results --host 0.0.0.0 --users users.json --workflow validated
"""


@click.command("review", epilog=_EXAMPLE)
@click.argument("out", type=PathType(), metavar="OUT")
@settings_options(ReviewSettings)
def command(out: Path, settings: ReviewSettings) -> None:
    """Read, decide and sign screened exams in the browser.

    OUT is the folder of capsieve screen, or one exam in it. Every action is stored at once, with
    reader and time. Ctrl-C ends the server.
    """
    require_review()
    from capsieve.review.log import log_nothing, log_to
    from capsieve.review.server import (
        bound_socket,
        link_access,
        link_page,
        run_server,
        users_access,
    )
    from capsieve.review.state import open_state
    from capsieve.review.users import Users, check_name

    users = None if settings.users is None else Users(settings.users, report=_warn)
    reader = settings.reader or _account()
    check_name(reader)
    log = log_to(settings.log) if settings.log is not None or users is not None else log_nothing
    with ExitStack() as stack:
        listener = stack.enter_context(bound_socket(settings.host, settings.port))
        port = listener.getsockname()[1]

        def access(workflow: Any) -> "Access":
            if users is not None:
                return users_access(users, settings, port=port, log=log)
            return link_access(workflow, port=port, reader=reader, role=settings.role, log=log)

        state = open_state(out, access, workflow=settings.workflow, database=settings.database)
        if settings.host not in LOOPBACK:
            _warn(
                f"the server answers at {settings.host} without encryption: put a proxy with TLS "
                "in front of it, or passwords and frames can be read on the network"
            )
        link = _link(state.access, settings.host, port)
        browser = None
        if settings.browser:
            browser = link if state.access.token is None else stack.enter_context(link_page(link))
        all_ended = run_server(
            state,
            listener,
            browser=browser,
            started=lambda: click.echo(
                f"The reading room is open: {link}\nPress Ctrl-C to close it."
            ),
        )
    click.echo("The reading room is closed.", err=True)
    if not all_ended:
        # Python would wait for work that nobody needs any more. Decisions are on the disk.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _account() -> str:
    """Return the name of the account on this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise click.UsageError("Your account has no name: give one with --reader NAME.") from None


def _link(access: "Access", host: str, port: int) -> str:
    """Return the address of the page, with the token if there is one."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    token = "" if access.token is None else f"?token={access.token}"
    return f"http://{shown}:{port}/{token}"


def _warn(sentence: str) -> None:
    click.echo(f"capsieve: {sentence}.", err=True)
