"""The words of a text, as a search finds them: the same on every database, since it is done here."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from scorewright.domain.errors import UsageError
from scorewright.domain.suggestion import quote

#: Of one text; what stands behind is not found.
MAX_CHARS: Final = 10_000
MAX_WORD_CHARS: Final = 64
#: Scripts that put no spaces between words: each character is one.
_ALONE: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(f"[{_ALONE}]|[^\\W_{_ALONE}]+")


def words_of(text: str) -> set[str]:
    """Return the different words of a text: runs of letters and digits, without regard to case."""
    text = text[:MAX_CHARS]
    if text.isascii():
        return {word[:MAX_WORD_CHARS] for word in _WORD.findall(text.lower())}
    folded = unicodedata.normalize("NFKC", text).casefold()
    return {word[:MAX_WORD_CHARS] for word in _WORD.findall(folded)}


def searched_words(search: str) -> list[str]:
    """Return the words that a text must have; each may go on in it.

    Raises:
        UsageError: The caller's: there is no word in it.
    """
    words = words_of(search)
    if not words:
        raise UsageError(
            f"search: {quote(search)} has neither a letter nor a digit; give the beginnings of words"
        ).at("search")
    # One that begins another says nothing more.
    return sorted(
        word for word in words if not any(o != word and o.startswith(word) for o in words)
    )
