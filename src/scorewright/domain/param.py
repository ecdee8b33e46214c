"""Config params: what may be set on an evaluator by hand, and which values fit.

A value may come typed (from a definition, the API) or as text (from the command line, a form). Both go
through `coerce_value`; the rules are in `docs/reference/calling-conventions.md`. Source: amp seed, "Step 5".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, get_args

import msgspec

from scorewright.domain.errors import ParamError
from scorewright.domain.json_literal import json_literal
from scorewright.domain.json_value import JsonValue
from scorewright.domain.suggestion import did_you_mean, name_list, quote

ParamType: TypeAlias = Literal["string", "integer", "float", "boolean", "array", "enum"]
PARAM_TYPES: tuple[str, ...] = get_args(ParamType)

_MAX_KEY_CHARS = 128
_INTEGER = r"[+-]?\d+"
_NUMBER = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
#: Beyond it a float no longer holds every whole number.
_EXACT_FLOAT = 1 << 53
_INT_LIMIT = 1 << 63


class ConfigParam(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One config param; checked when it is made.

    Raises:
        ParamError: The author's: the schema contradicts itself, or the default does not fit it.
    """

    #: The parameter's name: a Python identifier and no keyword.
    key: str
    type: ParamType
    description: str = ""
    #: Used when no value is given; UNSET leaves the code's own default. None stands for "no value".
    default: JsonValue | msgspec.UnsetType = msgspec.UNSET
    #: Whether a value must be given where there is no default.
    required: bool = False
    #: Smallest and largest number allowed, for integer and float.
    min: int | float | None = None
    max: int | float | None = None
    #: The allowed values of an enum.
    values: tuple[str | int | float, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what contradicts itself; keep the default in the param's own type."""
        import keyword

        if not self.key.isidentifier() or keyword.iskeyword(self.key):
            what = "a Python keyword" if keyword.iskeyword(self.key) else "not a Python identifier"
            raise ParamError(f"param {quote(self.key)}: the key is {what}; choose another name")
        if len(self.key) > _MAX_KEY_CHARS:
            raise self._error(f"the key has more than {_MAX_KEY_CHARS} characters; shorten it")
        if self.type not in PARAM_TYPES:
            near = did_you_mean(str(self.type), PARAM_TYPES)
            raise self._error(
                f"no type {quote(str(self.type))}{near}; use {name_list(PARAM_TYPES)}"
            )
        self._check_bounds()
        self._check_values()
        if self.default is not msgspec.UNSET and self.default is not None:
            msgspec.structs.force_setattr(self, "default", coerce_value(self, self.default))

    def _check_bounds(self) -> None:
        for bound in (self.min, self.max):
            if bound is not None and (isinstance(bound, bool) or not math.isfinite(bound)):
                raise self._error("min and max must be finite numbers")
        if self.min is None and self.max is None:
            return
        if self.type not in ("integer", "float"):
            raise self._error(
                f"min and max go with a number, not with type {self.type}; remove them"
            )
        if self.min is not None and self.max is not None and self.min > self.max:
            raise self._error(f"min {self.min} is above max {self.max}; swap them")

    def _check_values(self) -> None:
        if self.type != "enum":
            if self.values:
                raise self._error(f"values go with type enum, not with {self.type}; remove them")
            return
        if not self.values:
            raise self._error("an enum needs values; list what is allowed")
        texts = [_text_of(value) for value in self.values]
        if len(set(texts)) < len(texts):
            raise self._error("two values of the enum are the same; remove one")

    def _error(self, said: str) -> ParamError:
        return ParamError(f"param {quote(self.key)}: {said}")


def coerce_value(param: ConfigParam, value: JsonValue) -> JsonValue:
    """Return a value in the param's type.

    Args:
        param: What the value is for.
        value: Typed, or the text of a value for any type.

    Raises:
        ParamError: The caller's: the value does not fit; the text names what would.
    """
    if value is None and param.default is None:
        return None
    fitting = _coerce(param, value)
    if fitting is msgspec.UNSET:
        shown = value if isinstance(value, str) else _text_of(value)
        raise ParamError(
            f"param {quote(param.key)}: {quote(shown)} does not fit; give {_wanted(param)}"
        )
    return fitting


def settle_values(
    params: Iterable[ConfigParam], given: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """Return every config param's value: the given one, else the default; without either it is left out.

    Raises:
        ParamError: The caller's: a key is unknown, a value does not fit, or a required one is missing.
    """
    known = {param.key: param for param in params}
    for key in given:
        if key not in known:
            near = did_you_mean(key, known)
            raise ParamError(f"param {quote(key)} is unknown{near}; there are: {name_list(known)}")
    missing = [p.key for p in known.values() if _is_missing(p, given)]
    if missing:
        raise ParamError(
            f"param {name_list(missing)} is required and has no default; "
            f"give it a value (--param {missing[0]}=VALUE)"
        )
    settled: dict[str, JsonValue] = {}
    for key, param in known.items():
        if key in given:
            settled[key] = coerce_value(param, given[key])
        elif param.default is not msgspec.UNSET:
            settled[key] = param.default
    return settled


def _is_missing(param: ConfigParam, given: Mapping[str, JsonValue]) -> bool:
    return param.required and param.default is msgspec.UNSET and param.key not in given


def _coerce(param: ConfigParam, value: JsonValue) -> JsonValue | msgspec.UnsetType:
    match param.type:
        case "string":
            return value if isinstance(value, str) else msgspec.UNSET
        case "integer":
            return _within(param, _integer(value))
        case "float":
            return _within(param, _number(value))
        case "boolean":
            return _boolean(value)
        case "array":
            return _array(value)
        case "enum":
            return _enum(param, value)


def _within(param: ConfigParam, number: float | None) -> JsonValue | msgspec.UnsetType:
    if number is None or (param.min is not None and number < param.min):
        return msgspec.UNSET
    return msgspec.UNSET if param.max is not None and number > param.max else number


def _integer(value: JsonValue) -> int | None:
    if isinstance(value, str) and re.fullmatch(_INTEGER, value.strip(), re.ASCII):
        digits = value.strip()
        value = int(digits) if len(digits) < 32 else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -_INT_LIMIT <= value < _INT_LIMIT else None
    number = _number(value)
    whole = number is not None and number.is_integer() and abs(number) <= _EXACT_FLOAT
    return int(number) if number is not None and whole else None


def _number(value: JsonValue) -> float | None:
    if isinstance(value, str) and re.fullmatch(_NUMBER, value.strip(), re.ASCII):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _boolean(value: JsonValue) -> JsonValue | msgspec.UnsetType:
    """Take true and false in any letter case; 0 and 1 are numbers."""
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip().lower(), msgspec.UNSET)
    return value if isinstance(value, bool) else msgspec.UNSET


def _array(value: JsonValue) -> JsonValue | msgspec.UnsetType:
    """Take a list. Text that starts with `[` is a JSON list, any other is cut at its commas."""
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return [part.strip() for part in value.split(",")] if value.strip() else []
        try:
            value = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return msgspec.UNSET
    try:
        return json_literal(value) if isinstance(value, list) else msgspec.UNSET
    except ValueError:
        return msgspec.UNSET


def _enum(param: ConfigParam, value: JsonValue) -> JsonValue | msgspec.UnsetType:
    text = value if isinstance(value, str) else _text_of(value)
    if isinstance(value, bool):
        return msgspec.UNSET
    return next((v for v in param.values if _text_of(v) == text), msgspec.UNSET)


def _text_of(value: JsonValue) -> str:
    """A value as a person would type it."""
    if isinstance(value, str):
        return value
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError, RecursionError):
        return f"a value of type {type(value).__name__} that JSON cannot hold"


def _wanted(param: ConfigParam) -> str:
    match param.type:
        case "string":
            return "a text"
        case "integer":
            return f"a whole number{_bounds(param)}"
        case "float":
            return f"a finite number{_bounds(param)}"
        case "boolean":
            return "true or false"
        case "array":
            return 'a list: JSON as in \'["a", "b"]\', or texts separated by commas'
        case "enum":
            return f"one of {name_list(map(_text_of, param.values))}"


def _bounds(param: ConfigParam) -> str:
    if param.min is not None and param.max is not None:
        return f" from {param.min} to {param.max}"
    if param.min is not None:
        return f" of at least {param.min}"
    return "" if param.max is None else f" of at most {param.max}"
