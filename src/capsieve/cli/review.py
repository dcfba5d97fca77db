"""``capsieve review``: the review app, in the browser."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from capsieve.cli.settings_options import PathType, settings_options
from capsieve.review.settings import ReviewSettings, is_loopback

if TYPE_CHECKING:
    from capsieve.review.access import Door

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

    OUT is the folder of capsieve screen, or one exam in it. Every action is stored immediately,
    with reader and time. Ctrl-C ends the server.
    """
    from capsieve.review.extra import require_review

    require_review()
    from capsieve.review.link_token import forget_token, kept_fresh, kept_token, token_file
    from capsieve.review.room import local_door, open_room, users_door
    from capsieve.review.running import bound_socket, run_room
    from capsieve.review.users import Users, check_name

    host, role = settings.host, settings.role
    users = None if settings.users is None else Users(settings.users, say=_caution)
    reader = settings.reader or _account()
    check_name(reader)
    with bound_socket(host, settings.port) as listener:
        port = listener.getsockname()[1]
        kept = token_file(out.resolve(), port, reader, role)

        def door(workflow: Any) -> "Door":
            if users is None:
                token = kept_token(kept)
                return local_door(workflow, port=port, reader=reader, role=role, token=token)
            return users_door(users, port=port, host=host, names=settings.allowed_hosts)

        try:
            room = open_room(out, door, workflow=settings.workflow, database=settings.database)
            if not is_loopback(host):
                _caution(
                    f"the server answers at {host} without encryption: put a proxy with TLS in "
                    "front of it, or passwords and frames can be read on the network"
                )
            link = _link(room.door, host, port)
            with kept_fresh(kept):
                all_ended = run_room(
                    room,
                    listener,
                    link=link,
                    browser=_browser_address(link, room.door, kept) if settings.browser else None,
                    say=lambda link: click.echo(
                        f"The reading room is open: {link}\nPress Ctrl-C to close it."
                    ),
                )
        finally:
            forget_token(kept)  # a server that is killed does not come here, and keeps its link
    click.echo("The reading room is closed.", err=True)
    if not all_ended:
        # Python would wait for threads that still work. Decisions are on the disk.
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


def _link(door: "Door", host: str, port: int) -> str:
    """Return the address of the page, with the token if there is one."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    token = "" if door.token is None else f"?token={door.token}"
    return f"http://{shown}:{port}/{token}"


def _browser_address(link: str, door: "Door", kept: Path) -> str | None:
    """Return the address that a browser is started with: without the token."""
    from capsieve.review.link_token import leading_page

    if door.token is None:
        return link
    page = leading_page(kept, link)
    if page is None:
        _caution(f"no browser is opened, because {kept.parent} cannot be written; open the link")
    return page


def _caution(sentence: str) -> None:
    click.echo(f"capsieve: {sentence}.", err=True)
