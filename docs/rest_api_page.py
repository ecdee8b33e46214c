"""Writes the table of reference/rest-api.md from the description of the API: `make docs`. A test compares the page with what this would write."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from fastapi.routing import APIRoute, iter_route_contexts

from scorewright.api.access import PUBLIC, scope_of
from scorewright.api.app import create_app
from scorewright.api.context import Context
from scorewright.storage.database import Database

PAGE: Final = Path(__file__).with_name("reference") / "rest-api.md"
_START: Final = "<!-- Written by docs/rest_api_page.py from the code: make docs -->\n"
_PROJECT: Final = "/api/v1/projects/{project}"
#: What an operation takes beside what it is about, as the table shows it.
_MARKS: Final = {
    "if-match": "`If-Match`",
    "idempotency-key": "`Idempotency-Key`",
    "cursor": "pages",
}


def render() -> str:
    """Return the whole page: what people wrote of it, and the table."""
    written, _, _ = PAGE.read_text(encoding="utf-8").partition(_START)
    return written + _START + "\n" + "\n".join(_table()) + "\n"


def _table() -> Iterator[str]:
    database = Database("sqlite://")  # nothing is asked of it
    app = create_app(Context(database))
    scopes = {
        route.route.name: scope_of(route.route.endpoint, method)
        for route in iter_route_contexts(app.routes)
        if isinstance(route.route, APIRoute) and route.path not in PUBLIC
        for method in route.route.methods or ()
    }
    database.close()
    yield "| Request | Does | Scope | Takes |"
    yield "| --- | --- | --- | --- |"
    paths = cast("dict[str, dict[str, Any]]", app.openapi()["paths"])
    for path, operations in sorted(paths.items()):
        for method, operation in operations.items():
            names = {one["name"].lower() for one in operation.get("parameters", ())}
            takes = ", ".join(mark for name, mark in _MARKS.items() if name in names)
            short = path.replace(_PROJECT + "/", "…/")
            scope = scopes.get(operation["operationId"], "–")
            does = re.sub(r"([|<])", r"\\\1", operation["summary"])
            yield f"| `{method.upper()} {short}` | {does} | {scope} | {takes or '–'} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
