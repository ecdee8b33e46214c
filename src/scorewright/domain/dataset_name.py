"""Names of datasets: which are allowed, and how one is proposed."""

from __future__ import annotations

import re
from typing import Final

from scorewright.domain.errors import UsageError
from scorewright.domain.suggestion import quote

MAX_NAME_CHARS: Final = 128
_NAME: Final = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{MAX_NAME_CHARS - 1}}}")


def check_dataset_name(name: str) -> None:
    """Refuse a name that is none: it stands in URLs and on command lines.

    Raises:
        UsageError: The caller's.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"name: {quote(name)} is no dataset name; start with a letter, use letters, digits, "
            f"underscores and hyphens (A to Z without accents), at most {MAX_NAME_CHARS} characters"
        )


def propose_dataset_name(text: str) -> str:
    """Propose a name for a display name or a file's name: lower case, with hyphens, always allowed."""
    import unicodedata

    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if not name or not name[0].isalpha():
        name = f"dataset-{name}".rstrip("-")
    return name[:MAX_NAME_CHARS].rstrip("-")
