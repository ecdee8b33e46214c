"""Facts beside messages and tokens: read alike whatever a convention calls them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pytest
from otlp_requests import request, span

from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.conventions import Namespaces, read_facts
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.frameworks import framework_of
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.span_facts import SpanFacts, ToolDefinition

CHAT: dict[str, object] = {"gen_ai.operation.name": "chat"}
OPENINFERENCE: dict[str, object] = {"openinference.span.kind": "LLM"}
LANGFUSE: dict[str, object] = {"langfuse.observation.type": "generation"}
MLFLOW: dict[str, object] = {"mlflow.spanType": '"CHAT_MODEL"'}
VERCEL: dict[str, object] = {"ai.operationId": "ai.streamText.doStream"}
LANGSMITH: dict[str, object] = {"langsmith.span.kind": "llm"}
LOONGSUITE: dict[str, object] = {"gen_ai.span.kind": "LLM"}
AGENT: dict[str, object] = {"gen_ai.operation.name": "invoke_agent"}
SCHEMA: Final[JsonObject] = {"type": "object", "properties": {"city": {"type": "string"}}}


def facts(attributes: Mapping[str, object], *, scope: str = "", **members: Any) -> SpanFacts:
    (read,) = decode_json(
        request(span(1, attributes=attributes, **members), scope=scope), Findings()
    )
    return read_facts(read)


@pytest.mark.parametrize(
    "attributes",
    [
        {**CHAT, "gen_ai.request.temperature": 0.5},
        {**CHAT, "gen_ai.request.temperature": "0.5"},
        {**OPENINFERENCE, "llm.invocation_parameters": '{"temperature": 0.5, "stop": []}'},
        {**LANGFUSE, "langfuse.observation.model.parameters": '{"temperature": 0.5}'},
        {**MLFLOW, "mlflow.spanInputs": '{"model": "m", "temperature": 0.5}'},
        {**VERCEL, "ai.settings.temperature": 0.5},
        {**LANGSMITH, "langsmith.metadata.ls_temperature": 0.5},
        {"ag.type.node": "chat", "ag.data.parameters": '{"temperature": 0.5}'},
        {"ag.type.node": "chat", "ag.data.parameters.temperature": 0.5},
    ],
)
def test_a_temperature_is_read(attributes: dict[str, object]):
    assert facts(attributes).temperature == 0.5


def test_a_temperature_of_0_is_one():
    assert facts({**CHAT, "gen_ai.request.temperature": 0}).temperature == 0


@pytest.mark.parametrize(
    "attributes",
    [
        {**CHAT, "gen_ai.usage.cache_read.input_tokens": 20},
        {**CHAT, "gen_ai.usage.cache_read_input_tokens": 20},
        {
            **CHAT,
            "gen_ai.usage.cache_read.input_tokens": 20,
            "gen_ai.usage.cache_read_input_tokens": 20,
        },
        {**CHAT, "gen_ai.usage.prompt_tokens_details.cached_tokens": 20},
        {**CHAT, "gen_ai.usage.details.cache_read_tokens": 20},
        {**OPENINFERENCE, "llm.token_count.prompt_details.cache_read": 20},
        {**LANGFUSE, "langfuse.observation.usage_details": '{"input_cached_tokens": 20}'},
        {**MLFLOW, "mlflow.chat.tokenUsage": '{"cache_read_input_tokens": 20}'},
        {**VERCEL, "ai.usage.cachedInputTokens": 20},
        {**LANGSMITH, "gen_ai.usage.input_token_details": '{"cache_read": 20}'},
    ],
)
def test_cached_tokens_count_once_under_whatever_name(attributes: dict[str, object]):
    assert facts(attributes).cached_tokens == 20


def test_langfuse_s_cached_tokens_become_a_part_of_the_input_they_stand_beside():
    beside = facts(
        {
            **LANGFUSE,
            "langfuse.observation.usage_details": (
                '{"input": 80, "input_cached_tokens": 20, "output": 5, "total": 105}'
            ),
        }
    ).usage
    within = facts(
        {
            **LANGFUSE,
            "langfuse.observation.usage_details": (
                '{"input": 100, "input_cached_tokens": 20, "output": 5, "total": 105}'
            ),
        }
    ).usage

    assert beside is not None
    assert beside == within
    assert (beside.input, beside.output, beside.total) == (100, 5, 105)


FUNCTION: dict[str, object] = {
    "name": "warmth",
    "description": "How warm it is.",
    "parameters": SCHEMA,
}


@pytest.mark.parametrize(
    "attributes",
    [
        {**CHAT, "gen_ai.tool.definitions": [{"type": "function", **FUNCTION}]},
        {**CHAT, "gen_ai.tool.definitions": [{"type": "function", "function": FUNCTION}]},
        {
            **CHAT,
            "gen_ai.tool.definitions": [
                {
                    "toolSpec": {
                        "name": "warmth",
                        "description": "How warm it is.",
                        "inputSchema": {"json": SCHEMA},
                    }
                }
            ],
        },
        {**CHAT, "gen_ai.tool.definitions": [{"functionDeclarations": [FUNCTION]}]},
        {**OPENINFERENCE, "llm.tools.0.tool.json_schema": {"function": FUNCTION}},
        {**MLFLOW, "mlflow.chat.tools": [{"type": "function", "function": FUNCTION}]},
        {
            **VERCEL,
            "ai.prompt.tools": [
                json.dumps(
                    {
                        "type": "function",
                        "name": "warmth",
                        "description": "How warm it is.",
                        "inputSchema": SCHEMA,
                    }
                )
            ],
        },
        {
            "llm.request.type": "chat",
            "llm.request.functions.0.name": "warmth",
            "llm.request.functions.0.description": "How warm it is.",
            "llm.request.functions.0.parameters": SCHEMA,
        },
        {
            **CHAT,
            "model_request_parameters": {
                "function_tools": [
                    {
                        "name": "warmth",
                        "description": "How warm it is.",
                        "parameters_json_schema": SCHEMA,
                    }
                ],
                "output_tools": [],
            },
        },
    ],
)
def test_offered_tools_are_read_from_any_definition(attributes: dict[str, object]):
    tools = facts(attributes).available_tools

    assert tools is not None
    assert tools() == (ToolDefinition("warmth", "How warm it is.", SCHEMA),)


def test_tools_of_an_agent_may_be_names_alone():
    for attributes in (
        {**AGENT, "gen_ai.agent.tools": ["warmth", "rain"]},
        {"openinference.span.kind": "AGENT", "agent.tools": ["warmth", "rain"]},
    ):
        tools = facts(attributes).available_tools
        assert tools is not None
        assert [tool.name for tool in tools()] == ["warmth", "rain"]


@pytest.mark.parametrize("raw", ["[]", "", "{}", "[null, 1, [], {}]", '{"name": 1}'])
def test_what_defines_no_tool_is_none(raw: str):
    tools = facts({**CHAT, "gen_ai.tool.definitions": raw}).available_tools

    assert tools is not None
    assert tools() == ()


@pytest.mark.parametrize(
    ("attributes", "events"),
    [
        ({**AGENT, "gen_ai.system_instructions": "Be brief."}, []),
        ({**AGENT, "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}]}, []),
        ({**AGENT, "gen_ai.agent.instructions": "Be brief."}, []),
        (AGENT, [("gen_ai.system.message", {"content": '[{"text": "Be brief."}]'})]),
        (
            AGENT,
            [
                (
                    "gen_ai.client.inference.operation.details",
                    {"gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]'},
                )
            ],
        ),
        ({"openinference.span.kind": "AGENT", "agent.backstory": "Be brief."}, []),
    ],
)
def test_an_agent_s_instructions_are_its_system_prompt(
    attributes: dict[str, object], events: list[tuple[str, dict[str, str]]]
):
    written = [
        {
            "name": name,
            "attributes": [
                {"key": key, "value": {"stringValue": said}} for key, said in said_of.items()
            ],
        }
        for name, said_of in events
    ]

    assert facts(attributes, events=written).system_prompt == "Be brief."


def test_crewai_s_agent_is_told_its_role_its_story_and_its_goal():
    told = facts(
        {
            "traceloop.span.kind": "agent",
            "crewai.agent.role": "Writer",
            "crewai.agent.goal": "Write.",
            "crewai.agent.backstory": "Writes well.",
        }
    )

    assert told.system_prompt == "Writer\nWrites well.\nWrite."


def test_a_model_s_instructions_are_the_first_of_its_messages():
    attributes = {
        **CHAT,
        "gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}],
        "gen_ai.input.messages": [{"role": "user", "content": "How warm?"}],
    }
    repeated = {
        **attributes,
        "gen_ai.input.messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "How warm?"},
        ],
    }

    for given in (attributes, repeated):
        read = facts(given).input_messages
        assert read is not None
        assert [(message.role, message.text) for message in read()] == [
            ("system", "Be brief."),
            ("user", "How warm?"),
        ]


@pytest.mark.parametrize(
    ("attributes", "scope"),
    [
        ({**CHAT, "gen_ai.server.time_to_first_token": 0.25}, "openlit.otel.tracing"),
        ({**CHAT, "gen_ai.server.time_to_first_token": 250}, "strands.telemetry.tracer"),
        ({**CHAT, "gen_ai.response.time_to_first_chunk": 0.25}, ""),
        ({**LOONGSUITE, "gen_ai.response.time_to_first_token": 250_000_000}, ""),
        ({**VERCEL, "ai.response.msToFirstChunk": 250.0}, "ai"),
        (
            {
                **LANGFUSE,
                "langfuse.observation.completion_start_time": '"1970-01-01T00:00:00.251Z"',
            },
            "langfuse-sdk",
        ),
    ],
)
def test_the_time_to_the_first_token_is_in_milliseconds_whatever_the_unit(
    attributes: dict[str, object], scope: str
):
    assert facts(attributes, scope=scope).time_to_first_token_ms == 250


@pytest.mark.parametrize("came", ["", "soon", "1970-01-01T00:00:00", "1970-01-01T00:00:00Z", "[1]"])
def test_a_first_token_at_no_time_or_before_the_start_took_no_known_time(came: str):
    attributes = {**LANGFUSE, "langfuse.observation.completion_start_time": came}

    assert facts(attributes).time_to_first_token_ms is None


@pytest.mark.parametrize(
    "attributes",
    [
        {"langfuse.environment": "production"},
        {**CHAT, "gen_ai.environment": "production"},
        {**CHAT, "deployment.environment": "production"},
        {"deployment.environment.name": "production", "deployment.environment": "old"},
        {"ag.type.node": "chat", "ag.refs.environment.slug": "production"},
    ],
)
def test_an_environment_is_read_where_a_span_names_it(attributes: dict[str, object]):
    assert facts(attributes).environment == "production"


@pytest.mark.parametrize(
    ("scope", "attributes", "framework"),
    [
        ("openinference.instrumentation.llama_index", {}, "llama-index"),
        ("opentelemetry.instrumentation.langchain", {}, "langchain"),
        ("@traceloop/instrumentation-langchain", {}, "langchain"),
        ("openinference.instrumentation.openai_agents", {}, "openai-agents"),
        ("pydantic-ai", {}, "pydantic-ai"),
        ("crewai.telemetry", {}, "crewai"),
        ("strands.telemetry.tracer", {}, "strands"),
        ("mine", {"gen_ai.system": "strands-agents"}, "strands"),
        ("mine", {"gen_ai.span.kind": "AGENT", "gen_ai.framework": "mine"}, "mine"),
        ("mine", {"ai.operationId": "ai.generateText"}, "vercel-ai"),
        ("openinference.instrumentation.openai", {"gen_ai.system": "openai"}, None),
        ("langchainish", {}, None),
        ("", {}, None),
    ],
)
def test_a_framework_is_named_only_where_it_is_certain(
    scope: str, attributes: dict[str, object], framework: str | None
):
    assert facts({**attributes}, scope=scope).framework == framework


def test_the_number_of_passages_asked_for_may_be_written_as_a_double():
    search = {"gen_ai.operation.name": "retrieval", "gen_ai.request.top_k": 3.0}

    read = facts(search).top_k

    assert read == 3
    assert type(read) is int
    assert facts({**CHAT, "gen_ai.request.top_k": 3.0}).top_k is None  # there it is about sampling


def test_frameworks_of_names_without_end_do_not_pile_up():
    for number in range(3_000):
        framework_of(f"scope {number}", None)

    assert framework_of.cache_info().currsize <= 1024


def test_names_without_end_do_not_pile_up():
    spaces = Namespaces(frozenset({"gen_ai"}))

    found = {spaces[f"gen_ai.{number}"] for number in range(10_000)}
    long = spaces["gen_ai." + "x" * 10_000]

    assert found == {"gen_ai"}
    assert long == "gen_ai"
    assert spaces["other.gen_ai"] == ""
    assert len(spaces) <= Namespaces.MAX_NAMES
    assert max(map(len, spaces)) <= Namespaces.MAX_CHARS
