"""Writes openapi.json from the code: `make docs`. A test compares the file with what this would write."""

from __future__ import annotations

import json
from pathlib import Path

from scorewright.api.app import create_app
from scorewright.api.context import Context
from scorewright.storage.database import Database

FILE = Path(__file__).parents[1] / "openapi.json"


def write_document() -> str:
    """Return what the file should hold."""
    database = Database("sqlite://")  # nothing is asked of it
    document = create_app(Context(database)).openapi()
    database.close()
    return json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.write_text(write_document(), encoding="utf-8")
