"""From an item of a trace source to the arguments of a call: by its light part where that is enough."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.authoring import AgentTrace, LLMSpan, UserInput
from scorewright.authoring.value import as_text
from scorewright.domain.binding import Argument, How, Path, compile_binder, compile_binding
from scorewright.domain.item_fields import FieldAbsentError, make_binder
from scorewright.domain.json_value import JsonValue
from trace_items import a_span, an_item, encode_item

TEXTS = st.text(st.characters(codec="utf-8"), max_size=30)
METRICS: dict[str, Any] = {"duration_ms": None, "error": None}
ITEM = an_item(
    [a_span("a", kind="agent", agent="boss"), a_span("b", 0, "tool", tool="search")],
    trace={"input": "why?", "output": {"answer": 1}, "tool_context": []},
    session={"id": "s1"},
    agent={"agent_id": "a", "agent_name": "boss", "metrics": METRICS},
    llm={"span_id": "l", "metrics": METRICS},
    trajectory={"messages": [], "steps": [{"type": "user", "content": "why?"}]},
)


def broken(item: dict[str, Any]) -> bytes:
    return encode_item(item).partition(b',"spans":')[0] + b',"spans":[this is no JSON'


BROKEN = broken(ITEM)


class StandardJson:
    """JSON as a remote sandbox reads it."""

    def encode(self, value: JsonValue, /) -> str:
        return json.dumps(value)

    def decode(self, text: str | bytes, /) -> Any:
        return json.loads(text)


def argument(how: How, *paths: Path, keyword: bool = False, required: bool = True) -> Argument:
    return Argument(name="x", how=how, paths=paths, keyword=keyword, required=required)


def bound(how: How, *paths: Path, raw: bytes | None = None) -> Any:
    """The one argument of a plan."""
    ((value,), _) = compile_binder((argument(how, *paths),))(raw or encode_item(ITEM))
    return value


def test_the_head_is_as_the_format_says():
    raw = encode_item(ITEM)

    light = json.loads(raw[: json.loads(raw)["head"]] + b"}}")

    assert list(light) == ["head", "traceId", "session", "agent", "llm", "trace"]
    assert light["trace"]["metrics"] == ITEM["trace"]["metrics"]
    assert "attributes" not in light["trace"]


@pytest.mark.parametrize(
    ("how", "paths", "kind"),
    [
        ("agent_item", (), AgentTrace),
        ("llm_item", (), LLMSpan),
        ("field", (("trace", "output", "answer"),), int),
        ("field", (("session", "id"),), str),
        ("field", (("agent", "agent_name"), ("llm", "name")), str),
        ("application_input", (("trace", "input"),), dict),
    ],
)
def test_what_the_light_part_tells_is_read_without_the_rest(
    how: How, paths: tuple[Path, ...], kind: type
):
    assert isinstance(bound(how, *paths, raw=BROKEN), kind)


def test_a_trace_is_made_of_the_light_part_unless_it_is_an_agent_s():
    whole = {name: value for name, value in ITEM.items() if name not in ("agent", "trajectory")}

    assert bound("trace_item", raw=broken(whole)).output == as_text(ITEM["trace"]["output"])
    assert bound("trace_item", raw=encode_item(ITEM)).output == as_text(ITEM["agent"].get("output"))


@pytest.mark.parametrize(
    "path", [("trace", "attributes"), ("spans", 0), ("trace",), ("trace", "tool_context")]
)
def test_what_the_light_part_does_not_tell_is_read_from_the_whole(path: Path):
    value: Any = ITEM
    for step in path:
        value = value[step]

    assert bound("field", path) == value
    assert bound("field", ("trace", "nothing"), path) == value


def test_a_field_that_is_in_no_part_is_absent():
    with pytest.raises(FieldAbsentError, match=r"field trace\.output\.nothing"):
        bound("field", ("trace", "output", "nothing"))


@pytest.mark.parametrize("how", ["trace_item", "agent_item"])
def test_objects_that_are_kept_still_know_their_own_item(how: How):
    """The memory that an item lies in holds another one once the batch is answered."""
    binding = compile_binding((argument(how), argument(how)))
    assert binding.let_go is not None
    memory = bytearray(encode_item(ITEM))
    ((kept, _), _) = binding.bind(memoryview(memory))
    del _

    binding.let_go()
    memory[:] = b" " * len(memory)

    assert kept == bound(how)


def test_what_holds_no_item_has_nothing_to_let_go():
    assert compile_binding((argument("field", ("trace", "output")),)).let_go is None
    assert compile_binding((argument("field", ("output",)),)).let_go is None
    assert compile_binding((argument("trace_dict"),)).let_go is None


def test_an_agent_trace_reads_its_steps_from_the_item():
    agent = bound("agent_item")

    assert agent.steps == [UserInput("why?")]


def test_an_object_beside_an_argument_that_needs_the_whole_item_is_the_same():
    plan = (argument("trace_item"), argument("testcase"), argument("trace_dict"))

    ((trace, row, spans), _) = compile_binder(plan)(encode_item(ITEM))

    assert trace == bound("trace_item")
    assert row["spans"] == ITEM["spans"]
    assert list(spans["spans"]) == ["a"]


@pytest.mark.parametrize(
    ("given", "inputs"),
    [
        ({"a": 1}, {"a": 1}),
        ("text", {"input": "text"}),
        ([1], {"input": [1]}),
        (0, {"input": 0}),
        (None, {}),
    ],
)
def test_the_application_s_input_is_always_an_object(given: object, inputs: object):
    raw = encode_item(an_item(trace={"input": given}))

    assert bound("application_input", ("trace", "input"), raw=raw) == inputs
    assert bound("application_input", ("trace", "nothing"), raw=raw) == {}


def test_a_log_has_no_trace_and_binds_its_fields():
    raw = b'{"traceId":"1","log":{"body":"x"}}'

    assert bound("trace_dict", raw=raw) is None
    assert bound("field", ("log", "body"), raw=raw) == "x"
    assert bound("field", ("traceId",), raw=raw) == "1"


@pytest.mark.parametrize(
    "row",
    [
        b'{"head":         5,"session":{"id":7}}',
        b'{"head":      9999,"session":{"id":7}}',
        b'{"head":"no_numbr","session":{"id":7}}',
        b'{"head":1,"session":{"id":7}}',
        b'{"session":{"id":7}}',
    ],
)
def test_a_dataset_row_that_begins_like_an_item_is_read_as_a_row(row: bytes):
    assert bound("field", ("session", "id"), raw=row) == 7


@given(given=TEXTS | st.none(), said=TEXTS, extra=TEXTS)
def test_light_and_whole_reading_give_the_same(given: str | None, said: str, extra: str):
    raw = encode_item(an_item([a_span("a", name=extra)], trace={"input": given, "output": said}))
    light = (argument("trace_item"), argument("field", ("trace", "output")))

    ((trace, output), _) = compile_binder(light)(memoryview(raw))
    ((whole, again, _), _) = compile_binder((*light, argument("testcase")))(raw)

    assert (trace, output) == (whole, again)
    assert trace.spans[0].name == extra


@pytest.mark.parametrize("how", ["trace_item", "agent_item", "llm_item", "trace_dict"])
def test_a_remote_sandbox_binds_the_same_with_the_standard_library(how: How):
    plan: list[Any] = [
        SimpleNamespace(name="x", how=how, paths=[], value=None, required=True, keyword=False)
    ]

    ((value,), _) = make_binder(plan, json.loads, StandardJson())(encode_item(ITEM))

    assert value == bound(how)
