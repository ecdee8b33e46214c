"""The funnel against values made to break it: it never raises and never runs their code."""

from __future__ import annotations

import asyncio
import datetime as dt
import decimal
import enum
import inspect
import sys
import types
from collections import OrderedDict
from typing import Any

import pytest
from funnel_checks import UNIT, assert_sound, nested_list, read
from hypothesis import given
from hypothesis import strategies as st

from scorewright.authoring import EvalResult
from scorewright.domain.convention import Convention
from scorewright.domain.result import Failed, Scored
from scorewright.domain.returned import Reading, interpret, make_interpreter

NAN, INFINITY = float("nan"), float("inf")
VARIABLES = Convention.VARIABLES
IOT = Convention.INPUTS_OUTPUTS_TRACE


class Number(enum.IntEnum):
    ONE = 1


class Word(enum.StrEnum):
    GOOD = "good"


class Trap:
    """Fails as soon as any of its own code runs."""

    def _spring(self, *_: object) -> Any:
        raise AssertionError("the author's code ran inside the funnel")

    __repr__ = __str__ = __bool__ = __len__ = __iter__ = __float__ = __int__ = _spring
    __eq__ = __hash__ = __getattr__ = __index__ = __lt__ = __format__ = _spring
    __class__ = property(_spring)  # type: ignore[assignment]


def spring(*_: object) -> Any:
    raise AssertionError("the author's code ran inside the funnel")


OVERRIDDEN = (
    "__repr__ __str__ __bool__ __len__ __iter__ __float__ __int__ __eq__ __ne__ __lt__ __le__ __ge__ "
    "__getitem__ __contains__ __format__ __index__ __trunc__ __getattribute__ items keys values get "
    "copy isascii encode strip as_integer_ratio __reduce__ __sub__ __rsub__ bit_length __instancecheck__"
)


def hostile(base: type, *args: Any) -> Any:
    """Make an instance of a subclass in which every method springs a trap."""
    methods: dict[str, Any] = dict.fromkeys(OVERRIDDEN.split(), spring)
    # Defining `__eq__` would take it away, and dict keys need one.
    methods["__hash__"] = base.__hash__
    return type(f"Evil{base.__name__}", (base,), methods)(*args)


# By number, as pytest would look into the values themselves.
DISGUISED: list[tuple[object, object]] = [
    (hostile(dict, {"score": 0.8}), {"score": 0.8}),
    ({"a": hostile(str, "x")}, {"a": "x"}),
    ({"a": hostile(int, 3)}, {"a": 3}),
    ({"a": hostile(float, 0.5)}, {"a": 0.5}),
    ({"a": hostile(list, [1, 2])}, {"a": [1, 2]}),
    ({"a": hostile(tuple, (1, 2))}, {"a": [1, 2]}),
    ({"a": hostile(dict, {"b": 1})}, {"a": {"b": 1}}),
    ({hostile(str, "k"): 1}, {"k": 1}),
    (hostile(float, 0.5), 0.5),
    (hostile(str, "word"), "word"),
    (hostile(EvalResult, 0.5, "x"), EvalResult(0.5, "x")),
]


@pytest.mark.parametrize("number", range(len(DISGUISED)))
def test_a_subclass_is_read_without_running_its_code(number: int):
    value, plain = DISGUISED[number]

    assert read(value, IOT) == read(plain, IOT)


class Meta(type):
    """A metaclass that lies about its classes."""

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        return spring()

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        return spring()

    def __eq__(cls, other: object) -> bool:
        return spring()

    def __hash__(cls) -> int:
        return spring()

    def __instancecheck__(cls, instance: object) -> bool:
        return spring()


class Lying(metaclass=Meta):
    pass


class Nameless:
    __module__: Any = 5


# Made where there is no `__name__` to take its module from.
HOMELESS: object = eval('type("Homeless", (), {})()', {})  # noqa: S307


def tampered(**fields: object) -> EvalResult:
    result = EvalResult(0.5, "x")
    for name, value in fields.items():
        setattr(result, name, value)
    return result


NASTY: list[object] = [
    Trap(),
    Lying(),
    Lying,
    Nameless(),
    HOMELESS,
    object(),
    object.__new__(EvalResult),
    tampered(_score=object()),
    tampered(_score=NAN),
    tampered(_score="0.5"),
    tampered(_passed="yes"),
    tampered(explanation=Trap()),
    tampered(skip_reason=5),
    tampered(skip_reason=""),
    tampered(skip_reason=Trap()),
    lambda: None,
    len,
    sys,
    Ellipsis,
    NotImplemented,
    memoryview(b"x"),
    bytearray(b"x"),
    range(3),
    iter([]),
    asyncio,
    types.SimpleNamespace(score=1),
    types.MappingProxyType({"score": 1}),
    ValueError("x"),
    dt.date(2026, 1, 1),
    dt.timedelta(1),
    frozenset({1}),
    10**5_000,
    -(10**400),
    NAN,
    INFINITY,
    nested_list(100_000),
    "\ud800",
    "x" * 300_000,
    "1" * 300_000,
]


@pytest.mark.parametrize("convention", Convention)
@pytest.mark.parametrize("number", range(len(NASTY)))
def test_no_nasty_value_makes_it_raise(number: int, convention: Convention):
    value = NASTY[number]
    wrapped: list[object] = [
        value,
        [value],
        {"score": value, "explanation": "x"},
        {"score": 1, "explanation": value},
        {"skip": value},
        {"a": {"b": [value]}},
    ]

    for returned in wrapped:
        assert_sound(interpret(returned, Reading(convention, UNIT, 0.5)))
        assert_sound(make_interpreter(Reading(convention))(returned))


def test_an_evil_key_makes_no_decision():
    class Evil(str):
        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return hash("score")

    outcome = read({Evil("other"): 1, "explanation": "x"}, VARIABLES)

    assert isinstance(outcome, Failed)
    assert 'without "score"' in outcome.message


def test_a_lowered_recursion_limit_is_no_way_out():
    value: Any = {"a": nested_list(60)}
    limit = sys.getrecursionlimit()
    depth = len(inspect.stack(0))

    try:
        sys.setrecursionlimit(depth + 60)
        outcome = interpret(value, Reading(IOT))
    finally:
        sys.setrecursionlimit(limit)

    assert isinstance(outcome, Failed)
    assert "nested too deep" in outcome.message


def ordered(items: dict[Any, Any]) -> OrderedDict[Any, Any]:
    return OrderedDict(items)


LEAVES: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.text(st.characters(categories=["Cs", "L"]), max_size=5)
    | st.sampled_from(["score", "explanation", "success", "passed", "skip"])
    | st.sampled_from([decimal.Decimal(1), {1}, b"x", object(), Number.ONE, Word.GOOD])
)
KEYS: st.SearchStrategy[Any] = (
    st.sampled_from(["score", "explanation", "success", "passed", "skip", "a.b", "a\\", ""])
    | st.text(max_size=5)
    | st.integers()
    | st.floats()
    | st.booleans()
    | st.none()
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(KEYS, inner, max_size=5)
        | st.dictionaries(KEYS, inner, max_size=3).map(ordered)
    ),
    max_leaves=20,
)
READINGS = st.builds(
    Reading,
    st.sampled_from(Convention),
    st.sampled_from([None, UNIT, (0.0, 100.0), (-1e308, 1e308)]),
    st.sampled_from([None, 0.0, 0.5, 50.0]),
)


@given(VALUES, READINGS)
def test_any_value_gives_a_sound_outcome_on_both_paths(value: object, reading: Reading):
    outcome = interpret(value, reading)

    assert_sound(outcome)
    assert make_interpreter(reading)(value) == outcome


@given(st.floats(allow_nan=False, allow_infinity=False), READINGS, st.text(max_size=20))
def test_a_score_is_never_clamped_and_flagged_only_off_its_range(
    score: float, reading: Reading, explanation: str
):
    outcome = make_interpreter(reading)({"score": score, "explanation": explanation})

    if isinstance(outcome, Scored):
        low, high = reading.score_range or (score, score)
        assert outcome.score == score
        assert outcome.out_of_range is not (low <= score <= high)
