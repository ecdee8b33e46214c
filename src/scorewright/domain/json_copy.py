"""A returned value copied into plain JSON types, within bounds and without running the author's code.

The copy decides every question of type once, so that nothing later has to ask again; what cannot be
copied is refused with the path of the offending part.
"""

from __future__ import annotations

from typing import Any, Final

from scorewright.domain.excerpt import base_of, excerpt, is_numpy, type_name
from scorewright.domain.json_value import JsonObject, JsonValue

# The plain methods, whatever a subclass says.
len_of = dict[Any, Any].__len__
items_of = dict[Any, Any].items

#: Levels of lists and objects inside one returned value.
MAX_DEPTH: Final = 64
#: Text of one result in UTF-8; every other value counts as `VALUE_BYTES`.
MAX_RESULT_BYTES: Final = 256 * 1024
VALUE_BYTES: Final = 8
MAX_EXPLANATION_BYTES: Final = 16 * 1024
CUT_MARK: Final = "… [cut at 16 KiB]"
#: Integers beyond 64 bits do not survive storage or other languages.
MIN_INT: Final = -(2**63)
MAX_INT: Final = 2**63 - 1

_FIXES: Final = {
    "decimal.Decimal": "return float(x) or str(x)",
    "fractions.Fraction": "return float(x) or str(x)",
    "complex": "return abs(x) or str(x)",
    "set": "return len(x), or an object that holds sorted(x)",
    "frozenset": "return len(x), or an object that holds sorted(x)",
    "bytes": "return x.decode()",
    "bytearray": "return x.decode()",
    "datetime.datetime": "return x.isoformat()",
    "datetime.date": "return x.isoformat()",
    "datetime.time": "return x.isoformat()",
    "datetime.timedelta": "return x.total_seconds()",
    "generator": "return an object that holds list(x)",
    "coroutine": "await it first",
    "function": "return what it gives when called",
    "method": "return what it gives when called",
}
_OTHER_FIX: Final = "return numbers, text, booleans, null, lists or objects of these"


class BadReturnError(Exception):
    """A returned value that is no result. Caught in `domain.returned`: becomes `bad_return`."""

    def __init__(self, what: str, problem: str, *, fix: str, at: str | None = None) -> None:
        """Say what is wrong.

        Args:
            what: The offending part, as a noun.
            problem: What is wrong with it, as a verb phrase; empty where `what` says it.
            fix: What to return instead.
            at: The key it lies under.
        """
        super().__init__(what, problem, fix)
        self._what, self._problem, self._fix = what, problem, fix
        #: Steps to the offending part, innermost first; added to on the way out.
        self.steps: list[str | int] = [] if at is None else [at]

    @property
    def message(self) -> str:
        """Where, what and what to do, in one line."""
        if self.steps:
            return f"{shown_path(self.steps[::-1])}: {self._what} {self._problem}; {self._fix}"
        problem = f", which {self._problem}" if self._problem else ""
        return f"evaluate returned {self._what}{problem}; {self._fix}"


class TooLargeError(Exception):
    """A returned value beyond `MAX_RESULT_BYTES`. Caught in `domain.returned`: becomes `output_limit`."""

    message: Final = (
        "evaluate returned more than 256 KiB; return less, e.g. only the start of long texts"
    )


def shown_path(steps: list[str | int]) -> str:
    """Write a path as authors do: `metrics.a["b c"][2]`, cut to a readable length."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step.isidentifier() and len(step) <= 40:
            path += f".{step}" if path else step
        else:
            path += f"[{excerpt(step[:40])}]"
    return path if len(path) <= 160 else f"{path[:80]}…{path[-80:]}"


def not_json(value: object) -> BadReturnError:
    """Make the error for a value of a type that is no JSON, with a way out for the well-known ones."""
    name = type_name(value)
    fix = "return x.item() or x.tolist()" if is_numpy(value) else _FIXES.get(name, _OTHER_FIX)
    return BadReturnError(name, "is not JSON", fix=fix)


def no_result(value: object, wanted: str) -> BadReturnError:
    """Make the error for a value of a type that the convention does not take."""
    return BadReturnError(excerpt(value), "is no result here", fix=wanted)


def too_deep() -> BadReturnError:
    """Make the error for a value that the interpreter's own limit keeps from being read."""
    return BadReturnError("a value nested too deep to read", "", fix="return a flatter value")


def clean_text(text: str) -> str:
    """Replace what UTF-8 cannot carry: a surrogate pair by its character, a lone one by U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def is_clean(text: str) -> bool:
    """Tell quickly whether `cut_text` would surely leave a text as it is."""
    if text.isascii():
        return len(text) <= MAX_EXPLANATION_BYTES
    # No character is longer than four bytes.
    return len(text) <= MAX_EXPLANATION_BYTES // 4 and clean_text(text) is text


def cut_text(text: str) -> str:
    """Clean a text and cut it to `MAX_EXPLANATION_BYTES` at a character, with a visible mark."""
    if is_clean(text):
        return text
    # No character is shorter than a byte: more of them than this are never needed.
    cleaned = clean_text(text[: MAX_EXPLANATION_BYTES + 1])
    encoded = cleaned.encode()
    if len(encoded) <= MAX_EXPLANATION_BYTES:
        return cleaned
    room = MAX_EXPLANATION_BYTES - len(CUT_MARK.encode())
    return encoded[:room].decode(errors="ignore") + CUT_MARK


class JsonCopy:
    """One copy in progress; counts what it takes over."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MAX_RESULT_BYTES

    def value(self, given: object, depth: int = 0) -> JsonValue:
        """Copy any value.

        Raises:
            BadReturnError: The author's fault: some part is no JSON, or nested too deep.
            TooLargeError: The author's fault: it is too much.
        """
        self._spend(VALUE_BYTES)
        kind = type(given)
        value: Any = given
        if value is None or kind is bool or (kind is float and value - value == 0):
            return value
        base = kind if kind is str or kind is int else base_of(value)
        if base is str:
            return self.text(str.__str__(value))
        if base is float:
            return _finite(float.__float__(value))
        if base is int:
            return _in_64_bits(int.__int__(value))
        if base is None:
            raise not_json(value)
        return self._container(value, base, depth)

    def text(self, text: str) -> str:
        """Copy a text."""
        # Before any work on it: no character is shorter than a byte.
        self._spend(len(text))
        if text.isascii():
            return text
        cleaned = clean_text(text)
        self._spend(len(cleaned.encode()) - len(text))
        return cleaned

    def object(self, value: Any, depth: int = 0, *, cut: str | None = None) -> JsonObject:
        """Copy an object, its keys turned into text.

        Args:
            value: A dict, or an instance of a subclass.
            depth: How deep it lies.
            cut: A key whose text is cut to `MAX_EXPLANATION_BYTES` instead of counted in full.

        Raises:
            BadReturnError: The author's fault: as for `value`, or two keys read alike.
            TooLargeError: The author's fault: it is too much.
        """
        self._expect_room(len_of(value))
        copied: JsonObject = {}
        # A list, so that a thread of the author's cannot change the dict under the loop.
        for key, part in list(items_of(value)):
            name = self.text(key) if type(key) is str else self._name(key)
            if name in copied:
                raise BadReturnError("two keys", f"read {excerpt(name)} as text", fix="rename one")
            try:
                if name == cut and base_of(part) is str:
                    copied[name] = self.text(cut_text(str.__str__(part)))
                else:
                    copied[name] = self.value(part, depth + 1)
            except BadReturnError as error:
                error.steps.append(name)
                raise
        return copied

    def _container(self, value: Any, base: Any, depth: int) -> JsonValue:
        if depth >= MAX_DEPTH:
            what = f"a {base.__name__} that is nested {MAX_DEPTH} levels deep, or inside itself,"
            raise BadReturnError(what, "is too deep", fix="return a flatter value")
        if base is dict:
            return self.object(value, depth)
        self._expect_room(base.__len__(value))
        copied: list[JsonValue] = []
        for part in base.__iter__(value):
            try:
                copied.append(self.value(part, depth + 1))
            except BadReturnError as error:
                error.steps.append(len(copied))
                raise
        return copied

    def _name(self, key: Any) -> str:
        """Turn a key into text as JSON would write it: `true`, `null`, `1`, `0.5`."""
        base = base_of(key)
        if base is str:
            return self.text(str.__str__(key))
        if base is int:
            return str(_in_64_bits(int.__int__(key)))
        if base is float:
            return repr(_finite(float.__float__(key)))
        if base is bool or key is None:
            return excerpt(key)
        raise BadReturnError(f"a key of type {type_name(key)}", "is not text", fix="use str(key)")

    def _expect_room(self, count: int) -> None:
        if count * VALUE_BYTES > self._left:
            raise TooLargeError

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise TooLargeError


def _finite(number: float) -> float:
    if number - number == 0:
        return number
    name = "NaN" if number != number else repr(number)  # noqa: PLR0124 - NaN
    raise BadReturnError(name, "is not JSON", fix="return a finite number, or leave it out")


def _in_64_bits(number: int) -> int:
    if MIN_INT <= number <= MAX_INT:
        return number
    raise BadReturnError(
        excerpt(number), "does not fit in 64 bits", fix="return a smaller number or str(x)"
    )
