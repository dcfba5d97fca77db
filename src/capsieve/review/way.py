"""Ways of working in a room, and who does what in them."""

from typing import Literal, get_args

__all__ = ["ROLES", "WAYS", "Role", "Way", "default_role", "roles_of_all"]

Way = Literal["single", "validated", "blind"]
"""One reader; a pre-reader whose work a validator confirms; or two who read blind."""

Role = Literal["reader", "pre-reader", "validator", "consensus"]

WAYS: tuple[Way, ...] = get_args(Way)

ROLES: dict[Way, tuple[Role, ...]] = {
    "single": ("reader",),
    "validated": ("pre-reader", "validator"),
    "blind": ("reader", "consensus"),
}
"""Who reads in which way; the first one is meant where nobody says otherwise."""


def default_role(way: Way) -> Role:
    """Return the role of somebody of whom nothing is said."""
    return ROLES[way][0]


def roles_of_all() -> tuple[Role, ...]:
    """Return the roles of all workflows, each once."""
    return get_args(Role)
