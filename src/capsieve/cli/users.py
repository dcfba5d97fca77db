"""``capsieve users``: the users of the review app."""

from pathlib import Path

import click

from capsieve.cli.settings_options import PathType, usage_errors
from capsieve.decisions.roles import Role, roles_of_all

_EXAMPLE = """\b
Example:
  capsieve users add anna --role validator --users users.json
  capsieve users list --users users.json
  capsieve users password anna --users users.json
  capsieve users remove anna --users users.json
"""

_NAMES = {"name": "NAME", "reader": "NAME", "password": "Password"}

_users_option = click.option(
    "--users",
    "path",
    type=PathType(dir_okay=False),
    required=True,
    metavar="FILE",
    help="File of the users, for capsieve review --users.",
)


@click.group("users", epilog=_EXAMPLE)
def command() -> None:
    """Manage who may log in to the review app.

    A running server applies a change immediately.
    """


@command.command("add", epilog=_EXAMPLE)
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(roles_of_all()),
    default="reader",
    show_default=True,
    help="What the user does; validators, pre-readers and consensus readers belong to workflows.",
)
@_users_option
def add(name: str, role: Role, path: Path) -> None:
    """Add the user NAME, and ask for a password.

    If there is a user of this name, you are asked before password and role are replaced.
    """
    from capsieve.review.users import add_user, check_name, listed_users

    with usage_errors(_NAMES):
        check_name(name)
    known = {user.name: user.role for user in listed_users(path)} if path.exists() else {}
    if name in known:
        click.confirm(
            f"{name} is a {_role(known[name])} in {path}. Replace password and role?",
            abort=True,
            err=True,
        )
    with usage_errors(_NAMES):
        add_user(path, name, _password(name), role)
    click.echo(f"{name} {'is now' if name in known else 'was added as'} a {_role(role)} in {path}.")


@command.command("list", epilog=_EXAMPLE)
@_users_option
def list_users(path: Path) -> None:
    """List the users with their roles."""
    from capsieve.review.users import listed_users

    users = sorted(listed_users(path), key=lambda user: user.name)
    width = max(len(user.name) for user in users)
    for user in users:
        click.echo(f"{user.name:<{width}}  {_role(user.role)}")


@command.command("remove", epilog=_EXAMPLE)
@click.argument("name")
@_users_option
def remove(name: str, path: Path) -> None:
    """Remove the user NAME. Decisions and signatures of this name remain."""
    from capsieve.review.users import remove_user

    with usage_errors(_NAMES):
        remove_user(path, name)
    click.echo(f"{name} was removed from {path}.")


@command.command("password", epilog=_EXAMPLE)
@click.argument("name")
@_users_option
def password(name: str, path: Path) -> None:
    """Ask for a new password of the user NAME."""
    from capsieve.review.users import add_user, find_user

    with usage_errors(_NAMES):
        role = find_user(path, name).role
        add_user(path, name, _password(name), role)
    click.echo(f"The password of {name} was changed in {path}.")


def _password(name: str) -> str:
    from capsieve.review.users import SHORTEST

    return click.prompt(
        f"Password for {name} (at least {SHORTEST} characters)",
        hide_input=True,
        confirmation_prompt=True,
        err=True,
    )


def _role(role: str) -> str:
    return f"{role} reader" if role == "consensus" else role
