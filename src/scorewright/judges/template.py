"""The language of prompts: text with placeholders such as `{trace.output}` or `{trace.metrics.cost_usd or "unknown"}`.

    placeholder := "{" path ("or" (path | text | number))* "}"
    path        := name (("." name ["()"]) | "[" (whole number | text) "]")*

It is read and walked, never evaluated. A brace that starts no placeholder is text, doubled braces are text with all that
is between them, and text stays byte for byte as it was typed. Source: contracts §5; amp seed, "LLM-Judge Evaluator".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Final, TypeAlias

import msgspec

from scorewright.domain.signature import Diagnostic
from scorewright.domain.suggestion import did_you_mean, name_list, quote

#: A prompt with more of them is a program.
MAX_PLACEHOLDERS: Final = 200
MAX_STEPS: Final = 32
_START: Final = re.compile(r"\{[ \t]*(?P<root>[A-Za-z_]\w*)", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_BLANKS: Final = re.compile(r"[ \t]*")
_OR: Final = re.compile(r"or(?![\w.\[(])", re.ASCII)
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?(?![\w.])", re.ASCII)
_INDEX: Final = re.compile(r"-?\d{1,9}", re.ASCII)
_TEXT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'')
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DOUBLED: Final = re.compile(r"\{{2,}")


class Step(msgspec.Struct, frozen=True, tag=True):
    """One step of a path."""


class Attribute(Step, frozen=True):
    """`.name`: a field, or a key of an object."""

    name: str


class Call(Step, frozen=True):
    """`.name()`."""

    name: str


class At(Step, frozen=True):
    """`[0]`, `[-1]` or `["key"]`."""

    key: int | str


Steps: TypeAlias = tuple[Attribute | Call | At, ...]


class Path(msgspec.Struct, frozen=True, tag=True):
    """Where a value is found."""

    root: str
    steps: Steps = ()


class Literal(msgspec.Struct, frozen=True, tag=True):
    """What stands in for a value that is not there."""

    value: str | int | float


class Placeholder(msgspec.Struct, frozen=True):
    """Tried in turn; the first one that is there and not empty is taken, else the last one."""

    choices: tuple[Path | Literal, ...]
    #: From 1, as is the column.
    line: int = 1
    column: int = 1


class Template(msgspec.Struct, frozen=True):
    """A prompt that was read: texts, as they were typed, and placeholders between them."""

    parts: tuple[str | Placeholder, ...]

    @property
    def paths(self) -> list[tuple[Path, Placeholder]]:
        """Every path, with the placeholder that it stands in."""
        return [
            (choice, part)
            for part in self.parts
            if isinstance(part, Placeholder)
            for choice in part.choices
            if isinstance(choice, Path)
        ]


class Reading(msgspec.Struct, frozen=True):
    """A prompt that was read, with all that is wrong with it; text where a placeholder could not be read."""

    template: Template
    diagnostics: tuple[Diagnostic, ...] = ()


class _UnreadableError(Exception):
    """A placeholder cannot be read; caught in `parse_template`."""

    def __init__(self, code: str, said: str) -> None:
        self.code = code
        self.said = said
        super().__init__(said)


def parse_template(text: str, roots: Collection[str]) -> Reading:
    """Read a prompt.

    Args:
        text: Any text.
        roots: What a placeholder may begin with; a brace before anything else may be text.
    """
    reader = _Reader(text, roots)
    reader.read()
    parts = tuple(part for part in reader.parts if part)
    return Reading(Template(parts), tuple(reader.diagnostics))


def print_template(template: Template) -> str:
    """Write a template as it would be typed: reading that gives the same template again."""
    return "".join(
        part if isinstance(part, str) else print_placeholder(part) for part in template.parts
    )


def print_placeholder(placeholder: Placeholder) -> str:
    """Write a placeholder with its braces."""
    return "{" + " or ".join(map(_print_choice, placeholder.choices)) + "}"


def print_path(path: Path) -> str:
    """Write a path."""
    return path.root + "".join(map(_print_step, path.steps))


def _print_choice(choice: Path | Literal) -> str:
    return print_path(choice) if isinstance(choice, Path) else _json(choice.value)


def _print_step(step: Attribute | Call | At) -> str:
    match step:
        case Attribute():
            return f".{step.name}"
        case Call():
            return f".{step.name}()"
        case At():
            return f"[{_json(step.key)}]"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Reader:
    """Reads one prompt from its beginning to its end."""

    def __init__(self, text: str, roots: Collection[str]) -> None:
        self._text = text
        self._roots = roots
        self._at = 0
        self.parts: list[str | Placeholder] = []
        self.diagnostics: list[Diagnostic] = []
        self._placeholders = 0

    def read(self) -> None:
        text, typed_from, at = self._text, 0, 0
        while (at := text.find("{", at)) >= 0:
            if doubled := _DOUBLED.match(text, at):
                self._warn_of_doubled(at, doubled.end() - 1)
                at = doubled.end()
                continue
            placeholder = self._placeholder(at)
            if placeholder is None:
                at += 1
                continue
            self.parts += (text[typed_from:at], placeholder)
            typed_from = at = self._at
        self.parts.append(text[typed_from:])

    def _placeholder(self, at: int) -> Placeholder | None:
        """Return what starts at a brace; None where that is text, or cannot be read."""
        start = _START.match(self._text, at)
        if start is None:
            return None
        root = start["root"]
        is_known = root in self._roots
        if is_known and not self._goes_on(start.end()):
            return None
        self._at = _BLANKS.match(self._text, at + 1).end()  # pyright: ignore[reportOptionalMemberAccess] - it matches nothing, too
        try:
            choices = self._choices()
        except _UnreadableError as error:
            if is_known:
                self._note(at, "error", error.code, error.said)
            return None
        if not is_known and not self._note_unknown(at, choices[0]):
            return None
        self._placeholders += 1
        if self._placeholders == MAX_PLACEHOLDERS + 1:
            self._note(
                at, "error", "too_many", f"more than {MAX_PLACEHOLDERS} placeholders; remove some"
            )
        line, column = self._place(at)
        return Placeholder(tuple(choices), line, column)

    def _goes_on(self, at: int) -> bool:
        """Tell whether what follows a known name is more of a placeholder, or its end, and not other text."""
        after = _BLANKS.match(self._text, at).end()  # pyright: ignore[reportOptionalMemberAccess] - as above
        rest = self._text[after : after + 1]
        return rest in ("", "}", ".", "[", "\n", "\r") or _OR.match(self._text, after) is not None

    def _note_unknown(self, at: int, first: Path | Literal) -> bool:
        """Note a name that is not there; returns whether a placeholder was surely meant."""
        if not isinstance(first, Path):
            return False
        near = did_you_mean(first.root, self._roots)
        shown = print_path(first)
        if near or first.steps:
            self._note(
                at,
                "error",
                "unknown_placeholder",
                f"there is no {quote(first.root)}{near} in {{{shown[:60]}}}; use {name_list(sorted(self._roots))}, or write {{{{ for braces that are text",
            )
        else:
            self._note(
                at,
                "warning",
                "not_filled",
                f"{{{shown[:60]}}} is left as text: there is no placeholder and no param of that name",
            )
        return False

    def _choices(self) -> list[Path | Literal]:
        choices: list[Path | Literal] = [self._path()]
        while True:
            self._skip_blanks()
            if self._take("}"):
                return choices
            alternative = _OR.match(self._text, self._at)
            if alternative is None:
                raise self._unreadable()
            self._at = alternative.end()
            self._skip_blanks()
            choices.append(self._alternative())

    def _alternative(self) -> Path | Literal:
        if found := _TEXT.match(self._text, self._at):
            self._at = found.end()
            return Literal(_unquote(found[0]))
        if found := _NUMBER.match(self._text, self._at):
            self._at = found.end()
            return Literal(float(found[0]) if "." in found[0] else int(found[0]))
        return self._path()

    def _path(self) -> Path:
        root = self._name()
        if root not in self._roots and self._at < len(self._text) and self._text[self._at] == "(":
            raise self._unreadable()
        steps: list[Attribute | Call | At] = []
        while True:
            if self._take("."):
                name = self._name()
                steps.append(Call(name) if self._take("()") else Attribute(name))
            elif self._take("["):
                steps.append(At(self._key()))
            elif len(steps) > MAX_STEPS:
                raise _UnreadableError(
                    "too_long", f"a path of more than {MAX_STEPS} steps; shorten it"
                )
            else:
                return Path(root, tuple(steps))

    def _key(self) -> int | str:
        key: int | str
        if found := _INDEX.match(self._text, self._at):
            key = int(found[0])
        elif found := _TEXT.match(self._text, self._at):
            key = _unquote(found[0])
        else:
            raise self._unreadable()
        self._at = found.end()
        if not self._take("]"):
            raise self._unreadable()
        return key

    def _name(self) -> str:
        found = _NAME.match(self._text, self._at)
        if found is None:
            raise self._unreadable()
        self._at = found.end()
        return found[0]

    def _take(self, text: str) -> bool:
        if not self._text.startswith(text, self._at):
            return False
        self._at += len(text)
        return True

    def _skip_blanks(self) -> None:
        self._at = _BLANKS.match(self._text, self._at).end()  # pyright: ignore[reportOptionalMemberAccess] - as above

    def _unreadable(self) -> _UnreadableError:
        found = self._text[self._at : self._at + 1]
        if found in ("", "\n", "\r"):
            return _UnreadableError(
                "unclosed", "unclosed {; close it with }, or write {{ for a brace that is text"
            )
        return _UnreadableError(
            "unreadable",
            f"{quote(self._text[self._at : self._at + 20])} cannot stand in a placeholder; use names, [0], "
            f'["key"], methods without arguments and "or", or write {{{{ for braces that are text',
        )

    def _warn_of_doubled(self, at: int, last: int) -> None:
        """Warn where another product's form of a placeholder would be left as text."""
        start = _START.match(self._text, last)
        if start is not None and start["root"] in self._roots and self._goes_on(start.end()):
            end = self._text.find("}", last)
            inner = self._text[last + 1 : end if 0 < end < last + 60 else last + 60].strip()
            said = f"doubled braces are text; write {{{inner}}} for the value"
            self._note(at, "warning", "doubled_braces", said)

    def _note(self, at: int, severity: str, code: str, said: str) -> None:
        line, column = self._place(at)
        self.diagnostics.append(
            Diagnostic(
                severity="error" if severity == "error" else "warning",
                code=code,
                message=f"prompt: {said}",
                line=line,
                column=column,
            )
        )

    def _place(self, at: int) -> tuple[int, int]:
        return self._text.count("\n", 0, at) + 1, at - self._text.rfind("\n", 0, at)


def _unquote(quoted: str) -> str:
    """Read a text in either kind of quotes, with JSON's escapes; another backslash is left out."""
    return _ESCAPE.sub(_unescape, quoted[1:-1])


def _unescape(found: re.Match[str]) -> str:
    said = found[1]
    return chr(int(said[1:], 16)) if len(said) == 5 else _ESCAPES.get(said, said)
