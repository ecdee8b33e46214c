"""Names of evaluators: which are allowed, how one is proposed, how two alike are told apart."""

from __future__ import annotations

import re
from collections.abc import Iterable

from scorewright.domain.errors import EvaluatorError
from scorewright.domain.suggestion import quote

MAX_NAME_CHARS = 128
NAME_PATTERN = rf"[A-Za-z][A-Za-z0-9_-]{{2,{MAX_NAME_CHARS - 1}}}"
_UNNAMED = "unnamed-evaluator"


def check_name(name: str) -> None:
    """Refuse a name that is no evaluator name. Source: contracts §1.

    Raises:
        EvaluatorError: The author's.
    """
    if not re.fullmatch(NAME_PATTERN, name):
        raise EvaluatorError(
            f"name: {quote(name)} is no evaluator name; start with a letter, use letters, digits, "
            f"underscores and hyphens (A to Z without accents), 3 to {MAX_NAME_CHARS} characters"
        ).at("/name")


def slug(text: str) -> str:
    """Propose a name for a display name or a file's stem: lower case, with hyphens, always allowed."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not name:
        return _UNNAMED
    if not name[0].isalpha():
        name = f"evaluator-{name}"
    if len(name) < 3:
        name = f"{name}-evaluator"
    return name[:MAX_NAME_CHARS].rstrip("-")


def unique_names(names: Iterable[str]) -> list[str]:
    """Tell equal names apart: the second `a` becomes `a-2`. Letter case makes no difference."""
    wanted = list(names)
    taken: set[str] = set()
    reserved = {name.lower() for name in wanted}
    unique: list[str] = []
    for name in wanted:
        candidate, number = name, 2
        while candidate.lower() in taken or (number > 2 and candidate.lower() in reserved):
            suffix = f"-{number}"
            candidate, number = name[: MAX_NAME_CHARS - len(suffix)] + suffix, number + 1
        taken.add(candidate.lower())
        unique.append(candidate)
    return unique
