import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.authoring import from_item
from scorewright.authoring.trace import Trace
from scorewright.domain.convention import Level
from scorewright.judges.fields import FIELDS, LEVEL_OBJECTS, check_paths, placeholders_of, roots_of
from scorewright.judges.render import AbsentError, render
from scorewright.judges.template import (
    At,
    Attribute,
    Call,
    Literal,
    Path,
    Placeholder,
    Template,
    parse_template,
    print_template,
)

ROOTS = ("trace", "task", "domain")
# The text of a handed case: only one of these braces is a placeholder.
BRACES = 'Judge {trace.output}. Return {"grade": "C"}. Set notation {1; 2}, LaTeX \\frac{a}{b}, CSS a{color:red}, double {{kept?}}, lonely { and }.'


def filled(text: str, **values: Any) -> str:
    reading = parse_template(text, ROOTS)
    assert [d for d in reading.diagnostics if d.severity == "error"] == []
    return render(reading.template, values, lambda value, _: value)


def errors(text: str, level: Level = Level.TRACE, params: tuple[Any, ...] = ()) -> list[str]:
    reading = parse_template(text, [*roots_of(level, params), "domain"])
    found = [*reading.diagnostics, *check_paths(reading.template, level)]
    return [d.message for d in found if d.severity == "error"]


def warnings(text: str) -> list[str]:
    return [d.code for d in parse_template(text, ROOTS).diagnostics if d.severity == "warning"]


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(lambda n: n != "or")
STEPS = st.one_of(
    NAMES.map(Attribute),
    NAMES.map(Call),
    st.integers(-99, 99).map(At),
    st.text(max_size=8).map(At),
)
PATHS = st.builds(Path, st.sampled_from(ROOTS), st.lists(STEPS, max_size=4).map(tuple))
LITERALS = st.one_of(
    st.text(max_size=8),
    st.integers(-(10**9), 10**9),
    st.sampled_from([0.5, -1.25, 3.0]),
).map(Literal)
PLACEHOLDERS = st.tuples(PATHS, st.lists(st.one_of(PATHS, LITERALS), max_size=2)).map(
    lambda pair: Placeholder((pair[0], *pair[1]))
)


def placeless(template: Template) -> Template:
    return Template(
        tuple(p if isinstance(p, str) else Placeholder(p.choices) for p in template.parts)
    )


@given(
    st.lists(st.one_of(PLACEHOLDERS, st.sampled_from(["a {", "}", "\n", "x: {1} "])), max_size=6)
)
def test_what_is_printed_reads_as_the_same_template(parts: list[str | Placeholder]):
    apart: list[str | Placeholder] = []
    for (
        part
    ) in parts:  # texts that touch are one text; a brace before a placeholder would double it
        apart += [part, "·"] if isinstance(part, str) else [part, " "]
    printed = print_template(Template(tuple(apart)))
    reading = parse_template(printed, ROOTS)
    assert print_template(reading.template) == printed
    wanted = [p for p in apart if isinstance(p, Placeholder)]
    found = [p for p in placeless(reading.template).parts if isinstance(p, Placeholder)]
    assert found == wanted


@given(st.text(alphabet="{}[]().\"' \ntrace.output or 0a\\", max_size=60))
def test_any_text_is_read_and_printing_it_changes_no_more_than_blanks(text: str):
    reading = parse_template(text, ROOTS)
    printed = print_template(reading.template)
    again = parse_template(printed, ROOTS)
    assert placeless(again.template) == placeless(reading.template)


@given(
    st.text(max_size=80).filter(
        lambda t: "trace" not in t and "task" not in t and "domain" not in t
    )
)
def test_text_without_a_known_name_stays_as_it_was_typed(text: str):
    assert print_template(parse_template(text, ROOTS).template) == text


def test_braces_that_start_no_placeholder_stay_byte_for_byte():
    assert filled(BRACES, trace=Trace(output="fine")) == BRACES.replace("{trace.output}", "fine")


def test_json_around_a_placeholder_stays():
    text = '{"question": {trace.input}, "nested": {"a": {trace.output}}}'
    assert filled(text, trace=Trace(input="q", output="o")) == '{"question": q, "nested": {"a": o}}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{trace.outptu}", 'there is no "outptu" on trace (did you mean "output"?)'),
        ("{tarce.output}", 'there is no "tarce" (did you mean "trace"?)'),
        ("{domian}", 'there is no "domian" (did you mean "domain"?)'),
        ("{trace.metrics.total_duration}", 'did you mean "total_duration_ms"?'),
        ("{trace.get_tool_steps}", "is a method; write trace.get_tool_steps()"),
        ("{trace.spans.name}", "trace.spans is a list; take one of it, as in trace.spans[0]"),
        ("{trace.input.upper()}", "upper() cannot be called on a value"),
        ("{task.x.pop()}", "pop() cannot be called on a value"),
        ("a\nb {trace.output", "unclosed {"),
        ("{trace.output\n}", "unclosed {"),
        ("{domain", "unclosed {"),
        ("{trace.output + 1}", "cannot stand in a placeholder"),
        ("{trace.__class__}", 'there is no "__class__" on trace'),
        ("{trace.__init__.__globals__}", 'there is no "__init__" on trace'),
        ("{trace.get_tool_steps(1)}", "cannot stand in a placeholder"),
        ("{agent_trace.output}", 'there is no "agent_trace"'),
        ("{trace[0]}", 'there is no "0" on trace'),
    ],
)
def test_a_placeholder_that_leads_nowhere_is_an_error_that_says_what_there_is(text: str, said: str):
    assert said in "\n".join(errors(text))


def test_errors_have_a_place():
    reading = parse_template("one\ntwo {trace.output", ROOTS)
    assert [(d.line, d.column) for d in reading.diagnostics] == [(2, 5)]


def test_doubled_braces_around_a_known_name_are_text_and_a_warning():
    assert warnings("{{trace.output}} and {{a}}") == ["doubled_braces"]
    assert filled("{{trace.output}}", trace=Trace()) == "{{trace.output}}"


def test_a_bare_name_that_is_near_to_nothing_is_text_and_a_warning():
    assert warnings("x_{i}") == ["not_filled"]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{trace.session_id}", "(none)"),
        ('{trace.session_id or "no session"}', "no session"),
        ("{trace.session_id or 'it\\'s \"new\"'}", 'it\'s "new"'),
        ("{trace.output or trace.input}", "q"),
        ("{trace.metrics.error_count or 5}", "0"),
        ("{trace.metrics.token_usage.input_tokens}", "(none)"),
        ("{task.expected}", '{"a": [1, "é"]}'),
        ('{task["expected"].a[-1]}', "é"),
        ("{task.expected.a[0]}", "1"),
        ('{task.missing or "nothing"}', "nothing"),
        ("{domain}", "travel"),
        ("{trace.get_tool_steps()}", "[]"),
    ],
)
def test_values_are_written_as_text_or_json(text: str, wanted: str):
    trace = Trace(input="q", output=" ")
    trace.metrics.error_count = 0
    task = {"expected": {"a": [1, "é"]}}
    assert filled(text, trace=trace, task=task, domain="travel") == wanted


@pytest.mark.parametrize(
    "text", ["{task.missing}", "{task.list[3]}", "{trace.spans[0].name}", "{task.text[0]}"]
)
def test_what_an_item_does_not_have_is_named(text: str):
    with pytest.raises(AbsentError, match=r"this item has no .*; map another field"):
        filled(text, trace=Trace(), task={"list": [1], "text": "abc"})


def test_a_value_is_never_read_as_a_template():
    assert (
        filled("{trace.output}", trace=Trace(output="{trace.input}", input="x")) == "{trace.input}"
    )


@pytest.mark.parametrize("level", LEVEL_OBJECTS)
def test_every_placeholder_that_is_offered_is_one(level: Level):
    text = " ".join("{" + one + "}" for one in placeholders_of(level, ()))
    assert errors(text, level) == []


def test_every_field_that_is_documented_is_there():
    from scorewright.authoring import agent_trace, messages, metrics, spans, steps, trace

    for kind, fields in FIELDS.items():
        cls = next(
            getattr(module, kind)
            for module in (trace, agent_trace, spans, steps, messages, metrics)
            if hasattr(module, kind)
        )
        slots = {
            n.removeprefix("_") for base in cls.__mro__ for n in getattr(base, "__slots__", ())
        }
        for name in fields:
            assert name in slots or hasattr(cls, name.removesuffix("()")), f"{kind}.{name}"


def test_tool_steps_are_json_without_their_output_twice():
    from trace_items import a_span, an_item

    tool = a_span("b", 0, "tool", name="search", arguments={"q": "x"}, result="found")
    item = an_item([a_span("a"), tool])
    trace = from_item.trace_from_item(item, lambda: item)
    shown = json.loads(filled("{trace.get_tool_steps()}", trace=trace))
    assert [(one["tool_name"], one["tool_input"], one["tool_output"]) for one in shown] == [
        ("search", {"q": "x"}, "found")
    ]
    assert "content" not in shown[0]
