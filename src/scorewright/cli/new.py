"""The body of `scorewright new`; what it writes lies in `templates/`, a file per convention and language."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from scorewright.cli.speech import say
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator_name import check_name
from scorewright.domain.source_language import LANGUAGE_OF_SUFFIX, LANGUAGE_TITLES, Language

_TEMPLATES = Path(__file__).with_name("templates")


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
    suffix = next(one for one, of in LANGUAGE_OF_SUFFIX.items() if of == language)
    path = Path(f"{name}{suffix}")
    text = _template(convention, language, suffix)
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


def _template(convention: str, language: Language, suffix: str) -> str:
    if language != "python" and convention == "trace_object":
        raise UsageError(
            f"--convention trace_object is for Python only, and this is {LANGUAGE_TITLES[language]}; "
            "use --convention inputs_outputs_trace: the trace arrives as an object"
        )
    return (_TEMPLATES / f"{convention}{suffix}").read_text(encoding="utf-8")
