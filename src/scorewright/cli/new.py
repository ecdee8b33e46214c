"""The body of `scorewright new`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from scorewright.cli.speech import say
from scorewright.domain.convention import Convention
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator_name import check_name
from scorewright.domain.source_language import Language
from scorewright.services.evaluator_templates import file_suffix, template


def new_command(
    name: str, *, convention: str, language: Language = "python", as_json: bool = False
) -> None:
    """Write NAME.py, NAME.js or NAME.ts, and never over a file that is there.

    Args:
        name: The evaluator's name.
        convention: How its `evaluate` is called.
        language: What it is written in.
        as_json: Print what was written on stdout, beside the line for people on stderr.

    Raises:
        CallerError: The name is none, the language has no such convention, or the file is there already or cannot
            be written.
    """
    check_name(name)
    path = Path(f"{name}{file_suffix(language)}")
    text = template(Convention(convention), language).source
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} is there already; choose another name") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
    override = f" --convention {convention}" if convention == "legacy_score" else ""
    say(f"wrote {path}; try it: scorewright run {path}{override} --data YOUR_DATA.jsonl")
    if as_json:
        document = {"path": str(path), "convention": convention, "language": language}
        sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
