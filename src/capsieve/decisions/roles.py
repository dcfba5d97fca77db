"""Workflows, their roles, and the name of the database. Only the standard library is imported."""

from typing import Literal, get_args

DATABASE = "decisions.sqlite"
"""The file in OUT that has the decisions, unless another database is given."""

Workflow = Literal["single", "validated", "blind"]
"""One reader; a pre-reader and a validator who signs; or two blind readers and a consensus."""

Role = Literal["reader", "pre-reader", "validator", "consensus"]

WORKFLOWS: tuple[Workflow, ...] = get_args(Workflow)

ROLES: dict[Workflow, tuple[Role, ...]] = {
    "single": ("reader",),
    "validated": ("pre-reader", "validator"),
    "blind": ("reader", "consensus"),
}
"""The roles of each workflow; the first one is the default."""


def is_address(place: str) -> bool:
    """Return whether a database is given by the address of a server, and not by a file."""
    return "://" in place


def default_role(workflow: Workflow) -> Role:
    """Return the role of a reader if none is given."""
    return ROLES[workflow][0]


def roles_of_all() -> tuple[Role, ...]:
    """Return the roles of all workflows, each once."""
    return get_args(Role)
