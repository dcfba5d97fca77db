"""``capsieve review``: the reading room, in the browser."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from capsieve.review.access import Door

__all__ = ["command"]

_WAYS = ("single", "validated", "blind")
_ROLES = ("reader", "pre-reader", "validator", "consensus")

_EXAMPLE = """\b
Example:
  capsieve review results
  capsieve review results --reader "A. Reader" --no-browser --port 9000
  capsieve review --add-user anna --role validator --users users.json
  capsieve review results --host 0.0.0.0 --users users.json --way validated
"""


@click.command("review", epilog=_EXAMPLE)
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT", required=False)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    metavar="N",
    help="Where the room listens.  [default: 8765, or any that is free]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="By default this machine alone; any other address needs --users.",
)
@click.option("--no-browser", is_flag=True, help="Print the link and open no browser.")
@click.option(
    "--reader",
    metavar="NAME",
    help="Who reads, as entries and signatures name them; by default the name of the account.",
)
@click.option(
    "--role",
    type=click.Choice(_ROLES),
    help="As what; by default reader, or pre-reader where the work is validated.",
)
@click.option(
    "--way",
    type=click.Choice(_WAYS),
    help="How the exams are read: by one, by a pre-reader whom a validator confirms, or by two who "
    "read blind. It is chosen once.  [default: single]",
)
@click.option(
    "--users",
    "users_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Who may enter by name and password, instead of by the link.",
)
@click.option(
    "--add-user",
    metavar="NAME",
    help="Ask for a password, add it to the file of --users as a hash, and do nothing else.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="A name under which readers reach this machine, as a browser shows it; may be given "
    "several times.",
)
@click.option(
    "--database",
    metavar="URL",
    help="Where decisions are kept; by default in OUT. A file, or postgresql://user@host/name.",
)
def command(
    out: Path | None,
    port: int | None,
    host: str,
    no_browser: bool,
    reader: str | None,
    role: Any,
    way: Any,
    users_file: Path | None,
    add_user: str | None,
    names: tuple[str, ...],
    database: str | None,
) -> None:
    """Read, decide and sign the exams that were screened into OUT, in the browser.

    OUT is what capsieve screen -o wrote, or the folder of one exam in it. Every action is kept at
    once, with its reader and its time. Ctrl-C ends the room; nothing is lost.
    """
    from capsieve.review.extra import require_review

    require_review()
    if add_user is not None:
        _add_user(add_user, users_file, role or "reader")
        return
    if out is None:
        raise click.UsageError("Say what is to be read: the folder that capsieve screen -o wrote.")
    if users_file is not None and reader is not None:
        raise click.UsageError("With --users the readers log in; leave --reader out.")
    from capsieve.errors import ParameterError
    from capsieve.review.link_token import forget_token, kept_fresh, kept_token, token_file
    from capsieve.review.room import is_loopback, local_door, open_room, users_door
    from capsieve.review.running import bound_socket, run_room
    from capsieve.review.users import Users, check_name

    if users_file is None and not is_loopback(host):
        raise ParameterError(
            "host", f"a room at {host} needs --users FILE; --add-user NAME makes the file"
        )
    users = None if users_file is None else Users(users_file, say=_caution)
    who = reader or _account()
    check_name(who)
    listener = bound_socket(host, port)
    with listener:
        number = listener.getsockname()[1]
        kept = token_file(out.resolve(), number, who, role)

        def door(chosen: Any) -> "Door":
            if users is None:
                token = kept_token(kept)
                return local_door(chosen, port=number, reader=who, role=role, token=token)
            return users_door(users, port=number, host=host, names=names)

        try:
            room = open_room(out, door, reader=who, way=way, database=database)
            if not is_loopback(host):
                _caution(
                    f"the room answers at {host} without encryption: put a server with TLS in "
                    "front of it, or passwords and frames can be read on the way"
                )
            link = _link(room.door, host, number)
            with kept_fresh(kept):
                all_ended = run_room(
                    room,
                    listener,
                    link=link,
                    browser=None if no_browser else _opened(link, room.door, kept),
                    say=lambda link: click.echo(
                        f"The reading room is open: {link}\nCtrl-C closes it."
                    ),
                )
        finally:
            forget_token(kept)  # a server that is killed does not come here, and keeps its link
    click.echo("The reading room is closed.", err=True)
    if not all_ended:
        # Python would wait for work that nobody wants any more. Decisions are on the disk.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _account() -> str:
    """Return the name of whoever is logged in on this machine."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise click.UsageError("Say who reads, with --reader NAME.") from None


def _link(door: "Door", host: str, port: int) -> str:
    """Return what opens the room."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    token = "" if door.token is None else f"?token={door.token}"
    return f"http://{shown}:{port}/{token}"


def _opened(link: str, door: "Door", kept: Path) -> str | None:
    """Return what a browser is opened with: no token stands in it."""
    from capsieve.review.link_token import leading_page

    if door.token is None:
        return link
    page = leading_page(kept, link)
    if page is None:
        _caution(f"no browser is opened, for nothing can be written beside {kept}; open the link")
    return page


def _caution(sentence: str) -> None:
    click.echo(f"capsieve: {sentence}.", err=True)


def _add_user(name: str, users_file: Path | None, role: Any) -> None:
    from capsieve.review.users import LEAST_LENGTH, add_user, check_name

    if users_file is None:
        raise click.UsageError("--add-user needs --users FILE, the file to add to.")
    check_name(name)
    password = click.prompt(
        f"Password for {name} (at least {LEAST_LENGTH} letters)",
        hide_input=True,
        confirmation_prompt=True,
        err=True,
    )
    there = add_user(users_file, name, password, role)
    click.echo(f"{name} is {'now' if there else 'added as'} a {role} in {users_file}.")
