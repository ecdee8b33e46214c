"""The body of `scorewright check`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from scorewright.cli.figures import counted
from scorewright.cli.speech import visible
from scorewright.domain.check import check_evaluator
from scorewright.domain.convention import Convention
from scorewright.domain.json_value import JsonObject


def check_command(paths: Sequence[Path], *, convention: str | None, as_json: bool) -> int:
    """Print what each file declares and what is wrong with it.

    Returns:
        0, or 1 when a file has errors.
    """
    chosen = Convention(convention) if convention else None
    documents = [check_evaluator(path, convention=chosen) for path in paths]
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(documents) + b"\n")
        sys.stdout.buffer.flush()
    else:
        for document in documents:
            _print(document)
    return int(any(_errors(document) for document in documents))


def _errors(document: JsonObject) -> int:
    diagnostics = document["diagnostics"]
    assert isinstance(diagnostics, list)  # noqa: S101 - the document's form
    return sum(isinstance(d, dict) and d["severity"] == "error" for d in diagnostics)


def _print(document: JsonObject) -> None:
    errors = _errors(document)
    verdict = counted(errors, "error") if errors else "ok"
    print(f"{document['path']}: {document['convention'] or 'no convention'}, {verdict}")
    for heading in ("variables", "params"):
        rows = document[heading]
        assert isinstance(rows, list)  # noqa: S101 - the document's form
        for row in rows:
            assert isinstance(row, dict)  # noqa: S101 - the document's form
            print(f"  {heading[:-1]:9} {_describe(row)}")
    diagnostics = document["diagnostics"]
    assert isinstance(diagnostics, list)  # noqa: S101 - the document's form
    for found in diagnostics:
        assert isinstance(found, dict)  # noqa: S101 - the document's form
        message = visible(str(found["message"]))
        print(f"  {found['severity']:9} {found['line']}:{found['column']} {message}")


def _describe(row: JsonObject) -> str:
    name = row.get("name") or row.get("key")
    kind = row.get("annotation") or row.get("type")
    parts = [f"{name}" if kind is None else f"{name}: {kind}"]
    parts.append("required" if row.get("required") else f"optional, default {row.get('default')}")
    if row.get("description"):
        parts.append(str(row["description"]))
    return visible("  ".join(parts))
