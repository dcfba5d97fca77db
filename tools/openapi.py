"""Print the shapes of the review app's messages as an OpenAPI document, for the types of its page.

Every property is required: the server sends all of them, and so does the page.
"""

import json
from typing import Any

from capsieve.review.app import create_api


def main() -> None:
    """Print the document."""
    document = create_api().openapi()
    shapes = {name: _complete(shape) for name, shape in document["components"]["schemas"].items()}
    content = {"openapi": document["openapi"], "info": {"title": "capsieve", "version": "1"}}
    print(json.dumps(content | {"paths": {}, "components": {"schemas": shapes}}))


def _complete(shape: dict[str, Any]) -> dict[str, Any]:
    properties = {
        name: {key: value for key, value in each.items() if key not in ("title", "default")}
        for name, each in shape.get("properties", {}).items()
    }
    kept = {key: value for key, value in shape.items() if key != "title"}
    return kept | {"properties": properties, "required": list(properties)}


if __name__ == "__main__":
    main()
