"""Costs: reported ones first, then the price table; each call once, and nothing guessed."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
from genai_prices import Usage as PricedUsage
from genai_prices import calc_price
from genai_prices.data import providers
from hypothesis import given
from hypothesis import strategies as st
from otlp_requests import decoded, span

from scorewright.telemetry.assembly import assemble, costs_in
from scorewright.telemetry.prices import price_of
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import SpanFacts, Usage
from scorewright.telemetry.summary import TraceSummary, summarise

AT_NOON = 1_780_000_000_000_000_000
PRICED = [(one.id, model.id) for one in providers for model in one.models]


def summary(*spans: dict[str, Any]) -> TraceSummary:
    (trace,) = assemble(decoded(*spans))
    told = summarise(trace)
    assert told.cost_usd == costs_in(trace).total
    return told


def llm(tokens_in: int = 1000, tokens_out: int = 100, **more: object) -> dict[str, object]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.usage.input_tokens": tokens_in,
        "gen_ai.usage.output_tokens": tokens_out,
    } | {name.replace("__", "."): value for name, value in more.items()}


REPORTED: dict[str, object] = {"gen_ai.usage.cost": 0.25}
UNPRICED: dict[str, object] = {"gen_ai.request.model": "nobody-sells-this"}
#: At 2.50 dollars a million tokens in and 10 a million out.
PRICE = 0.0035


def test_a_call_that_reports_no_cost_is_priced_and_the_trace_says_so():
    told = summary(span(1), span(2, 1, attributes=llm()), span(3, 1, attributes=llm()))

    assert told.cost_usd == pytest.approx(2 * PRICE)
    assert any(
        notice.startswith("cost of 2 model calls from the price table of genai-prices ")
        for notice in told.notices
    )


def test_a_reported_cost_is_taken_as_it_is():
    told = summary(span(1, attributes={**llm(), **REPORTED}))

    assert told.cost_usd == 0.25
    assert told.notices == []


def test_reported_and_calculated_costs_are_added():
    told = summary(
        span(1), span(2, 1, attributes={**llm(), **REPORTED}), span(3, 1, attributes=llm())
    )

    assert told.cost_usd == pytest.approx(0.25 + PRICE)
    assert [notice[:20] for notice in told.notices] == ["cost of 1 model call"]


def test_a_reported_cost_holds_for_all_that_stands_below_it():
    told = summary(
        span(1, attributes=REPORTED), span(2, 1, attributes=llm()), span(3, 2, attributes=llm())
    )

    assert told.cost_usd == 0.25


def test_a_wrapper_s_tokens_are_not_priced_beside_the_costs_that_its_calls_report():
    told = summary(span(1, attributes=llm()), span(2, 1, attributes=REPORTED))

    assert told.cost_usd == 0.25


def test_beside_a_call_that_reports_its_cost_its_wrapper_s_cost_holds_for_nothing():
    told = summary(
        span(1, attributes=REPORTED),
        span(2, 1, attributes={**llm(), "gen_ai.usage.cost": 0.1}),
        span(3, 1, attributes=llm()),
    )

    assert told.cost_usd == pytest.approx(0.1 + PRICE)


def test_tokens_that_a_wrapper_repeats_are_priced_once():
    told = summary(span(1, attributes=llm(2000, 200)), span(2, 1, attributes=llm()))

    assert told.cost_usd == pytest.approx(PRICE)


def test_one_call_without_a_price_makes_the_cost_of_all_unknown_and_is_named():
    told = summary(span(1, attributes=llm()), span(2, attributes={**llm(), **UNPRICED}))

    assert told.cost_usd is None
    assert any("'nobody-sells-this'" in notice for notice in told.notices)


def test_costs_that_add_up_to_no_number_are_unknown():
    huge: dict[str, object] = {"gen_ai.usage.cost": 1e308}

    assert (
        summary(span(1), span(2, 1, attributes=huge), span(3, 1, attributes=huge)).cost_usd is None
    )


def test_no_price_at_all_is_no_cost_and_needs_no_notice():
    told = summary(span(1, attributes={**llm(), **UNPRICED}))

    assert (told.cost_usd, told.notices) == (None, [])


@pytest.mark.parametrize(
    ("changed", "usage"),
    [
        ({"model": None}, Usage(1, 1, 2)),
        ({}, None),
        ({}, Usage(1, None, None)),
        ({}, Usage(None, 1, None)),
        ({}, Usage(None, None, 2)),
        ({"cached_tokens": 2}, Usage(1, 1, 2)),
        ({"vendor": "ollama"}, Usage(1, 1, 2)),
        ({"vendor": "anthropic"}, Usage(1, 1, 2)),
        ({"model": "text-embedding-3-small"}, Usage(1, 1, 2)),
    ],
)
def test_what_is_not_known_is_not_guessed(changed: dict[str, Any], usage: Usage | None):
    facts = SpanFacts(kind="llm", vendor="openai", model="gpt-4o", usage=usage)
    for name, value in changed.items():
        setattr(facts, name, value)

    assert price_of(started(AT_NOON), facts) is None
    assert price_of(started(None), SpanFacts(model="gpt-4o", usage=Usage(1, 1, 2))) is None


def started(start_ns: int | None) -> RawSpan:
    return RawSpan("1" * 32, "1" * 16, None, "", start_ns, None)


def test_cached_tokens_are_priced_as_such():
    plain = price_of(started(AT_NOON), SpanFacts(model="gpt-4o", usage=Usage(1000, 0, 1000)))
    cached = price_of(
        started(AT_NOON),
        SpanFacts(model="gpt-4o", usage=Usage(1000, 0, 1000), cached_tokens=1000),
    )

    assert plain is not None
    assert cached is not None
    assert 0 < cached < plain


def test_an_embedding_has_no_output_to_price():
    facts = SpanFacts(kind="embedding", vendor="openai", model="text-embedding-3-small")

    for facts.usage in (Usage(500, None, None), Usage(None, None, 500), Usage(500, 0, 500)):
        assert price_of(started(AT_NOON), facts) == pytest.approx(0.00001)


@pytest.mark.parametrize("vendor", ["strands-agents", "langchain", None])
def test_a_framework_in_the_vendor_s_place_does_not_hide_the_seller(vendor: str | None):
    facts = SpanFacts(vendor=vendor, model="gpt-4o", usage=Usage(1000, 100, 1100))

    assert price_of(started(AT_NOON), facts) == pytest.approx(PRICE)


def test_the_prices_are_those_of_the_day_the_call_started():
    facts = SpanFacts(vendor="openai", model="o3", usage=Usage(1_000_000, 0, 1_000_000))
    before = datetime(2025, 6, 1, tzinfo=UTC).timestamp()
    after = datetime(2025, 7, 1, tzinfo=UTC).timestamp()

    was = price_of(started(int(before * 1e9)), facts)
    became = price_of(started(int(after * 1e9)), facts)

    assert was is not None
    assert became is not None
    assert was > became


@given(st.sampled_from(PRICED), st.integers(0, 400_000), st.integers(0, 20_000), st.floats(0, 1))
def test_a_price_is_what_the_library_itself_would_calculate(
    sold: tuple[str, str], tokens_in: int, tokens_out: int, share_cached: float
):
    vendor, model = sold
    cached = int(tokens_in * share_cached)
    usage = Usage(tokens_in, tokens_out, tokens_in + tokens_out)

    ours = price_of(
        started(AT_NOON),
        SpanFacts(vendor=vendor, model=model, usage=usage, cached_tokens=cached),
    )

    if ours is not None:
        given_to_library = PricedUsage(
            input_tokens=tokens_in, cache_read_tokens=cached, output_tokens=tokens_out
        )
        theirs = calc_price(
            given_to_library,
            model,
            provider_id=vendor,
            genai_request_timestamp=datetime.fromtimestamp(AT_NOON / 1e9, tz=UTC),
        )
        assert ours == float(theirs.total_price)


def test_the_table_is_loaded_only_where_there_is_something_to_price():
    code = (
        "import sys\n"
        "from scorewright.telemetry.summary import summarise\n"
        "from scorewright.telemetry.assembly import assemble\n"
        "from scorewright.telemetry.json_request import decode_json\n"
        "from scorewright.telemetry.findings import Findings\n"
        'span = b\'{"traceId":"%032x","spanId":"%016x","attributes":\'\n'
        'span += b\'[{"key":"gen_ai.usage.cost","value":{"doubleValue":1}}]}\'\n'
        'request = b\'{"resourceSpans":[{"scopeSpans":[{"spans":[\' + span % (1, 1) + b\']}]}]}\'\n'
        "(trace,) = assemble(decode_json(request, Findings()))\n"
        "print(summarise(trace).cost_usd, 'genai_prices' in sys.modules)\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["1.0", "False"]
