"""The languages an evaluator can be written in, and the file endings that tell them apart."""

from __future__ import annotations

from typing import Literal, TypeAlias

ScriptLanguage: TypeAlias = Literal["javascript", "typescript"]
Language: TypeAlias = Literal["python", ScriptLanguage]

LANGUAGES: tuple[Language, ...] = ("python", "javascript", "typescript")

#: By the ending of a source file, in lower case.
LANGUAGE_OF_SUFFIX: dict[str, Language] = {
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
}

#: As people write them.
LANGUAGE_TITLES: dict[Language, str] = {
    "python": "Python",
    "javascript": "JavaScript",
    "typescript": "TypeScript",
}
