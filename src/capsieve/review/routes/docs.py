"""The documentation of the interface, as a page without scripts and without other hosts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response

from capsieve.review.small_pages import small_page

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_METHODS = ("get", "post")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    kind: str
    words: str
    needed: bool


@dataclass(frozen=True, slots=True)
class _Route:
    method: str
    path: str
    summary: str
    words: str
    parameters: list[_Field]
    takes: str
    gives: str


@dataclass(frozen=True, slots=True)
class _Group:
    name: str
    routes: list[_Route] = field(default_factory=list)


@router.get("/api/docs")
async def get_docs(request: Request) -> Response:
    """The interface in words, made from openapi.json."""
    content = request.app.openapi()
    return small_page(
        "docs.html",
        title=content["info"]["title"],
        version=content["info"]["version"],
        about=content["info"]["description"],
        groups=_groups(content),
        shapes=[
            (name, shape.get("description", ""), _fields(shape))
            for name, shape in sorted(content["components"]["schemas"].items())
        ],
    )


def _groups(content: Mapping[str, Any]) -> list[_Group]:
    groups: dict[str, _Group] = {}
    for path, methods in content["paths"].items():
        for method in _METHODS:
            if method in methods:
                route = methods[method]
                name = route.get("tags", ["Other"])[0]
                groups.setdefault(name, _Group(name)).routes.append(_route(method, path, route))
    return list(groups.values())


def _route(method: str, path: str, route: Mapping[str, Any]) -> _Route:
    words: str = route.get("description", "")
    return _Route(
        method=method.upper(),
        path=path,
        summary=route.get("summary", ""),
        words=words,
        parameters=[
            _Field(
                name=each["name"],
                kind=f"{_kind(each['schema'])}, in the {each['in']}",
                words=each.get("description", ""),
                needed=each.get("required", False),
            )
            for each in route.get("parameters", ())
        ],
        takes=", ".join(_contents(route.get("requestBody", {}))),
        gives=", ".join(_contents(route["responses"].get("200", {}))),
    )


def _contents(part: Mapping[str, Any]) -> Iterator[str]:
    for media, content in part.get("content", {}).items():
        shape = content.get("schema", {})
        yield _kind(shape) if media == "application/json" and shape else media


def _fields(shape: Mapping[str, Any]) -> list[_Field]:
    needed = shape.get("required", ())
    return [
        _Field(name, _kind(each), each.get("description", ""), name in needed)
        for name, each in shape.get("properties", {}).items()
    ]


def _kind(shape: Mapping[str, Any]) -> str:
    """Return the type of a value in words."""
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2]
    if "anyOf" in shape:
        return " or ".join(_kind(each) for each in shape["anyOf"])
    if "enum" in shape:
        return " | ".join(str(each) for each in shape["enum"])
    kind = str(shape.get("type", "anything"))
    if kind == "array":
        inner = shape.get("items") or {"type": "anything"}
        parts = shape.get("prefixItems")
        return f"[{', '.join(map(_kind, parts))}]" if parts else f"list of {_kind(inner)}"
    if kind == "object" and isinstance(shape.get("additionalProperties"), Mapping):
        return f"object of {_kind(shape['additionalProperties'])}"
    return kind
