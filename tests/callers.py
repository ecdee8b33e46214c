"""Callers of the API, in the process of the tests."""

from __future__ import annotations

from typing import Final

from starlette.testclient import TestClient

from scorewright.api.app import create_app
from scorewright.api.context import Context
from scorewright.services.access import make_general_key
from scorewright.storage.database import Database

#: A name that the server is asked by.
ADDRESS: Final = "http://127.0.0.1:8321"


def new_client(where: Database | Context, *, secret: str | None = None) -> TestClient:
    """Make a caller over a database.

    Args:
        where: The database, or all that the server works with.
        secret: Of the key to ask with; one that may do everything is made unless given, and none is sent for "".
    """
    context = where if isinstance(where, Context) else Context(where)
    if secret is None:
        secret = make_general_key(context.database, "tests").secret
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    return TestClient(
        create_app(context), base_url=ADDRESS, headers=headers, raise_server_exceptions=False
    )
