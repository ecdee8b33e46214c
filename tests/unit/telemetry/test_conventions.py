"""What each convention writes, read into the same facts; the handed cases cover the others."""

from __future__ import annotations

from typing import Any

import pytest
from otlp_requests import decoded, span

from scorewright.telemetry.assembly import assemble
from scorewright.telemetry.summary import TraceSummary, summarise


def summary(*spans: dict[str, Any]) -> TraceSummary:
    (trace,) = assemble(decoded(*spans))
    return summarise(trace)


def event(name: str, **attributes: str) -> dict[str, Any]:
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {"name": name, "attributes": pairs}


MLFLOW = [
    span(
        1,
        attributes={
            "mlflow.spanType": '"AGENT"',
            "mlflow.spanInputs": '{"question": "How warm is it?"}',
            "mlflow.spanOutputs": '"21 degrees"',
            "mlflow.trace.session": '"s1"',
        },
    ),
    span(
        2,
        1,
        attributes={
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.llm.model": '"m-1"',
            "mlflow.chat.tokenUsage": '{"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}',
        },
    ),
    span(
        3,
        1,
        attributes={
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanFunctionName": '"warmth"',
            "mlflow.spanInputs": '{"city": "Bonn"}',
            "mlflow.spanOutputs": '"21"',
        },
    ),
    span(
        4,
        1,
        attributes={
            "mlflow.spanType": '"RETRIEVER"',
            "mlflow.spanInputs": '{"query": "warmth"}',
            "mlflow.spanOutputs": '[{"page_content": "p", "id": "d1", "metadata": {}}]',
        },
    ),
]
LANGSMITH = [
    span(
        1,
        attributes={
            "langsmith.span.kind": "chain",
            "gen_ai.prompt": '{"messages": [{"role": "user", "content": "How warm is it?"}]}',
            "gen_ai.completion": '{"messages": [["user", "How warm is it?"], ["ai", "21 degrees"]]}',
            "langsmith.metadata.thread_id": "s1",
        },
    ),
    span(
        2,
        1,
        attributes={
            "langsmith.span.kind": "llm",
            "gen_ai.request.model": "m-1",
            "gen_ai.usage.input_tokens": 5,
            "gen_ai.usage.output_tokens": 2,
        },
    ),
    span(
        3,
        1,
        attributes={
            "langsmith.span.kind": "tool",
            "langsmith.trace.name": "warmth",
            "gen_ai.prompt": "{\"input_str\": \"{'city': 'Bonn'}\"}",
            "gen_ai.completion": '{"output": {"type": "tool", "content": "21"}, "kwargs": {}}',
        },
    ),
    span(
        4,
        1,
        attributes={
            "langsmith.span.kind": "retriever",
            "gen_ai.prompt": "warmth",
            "gen_ai.completion": '{"documents": [{"page_content": "p", "id": "d1"}]}',
        },
    ),
]
LANGFUSE = [
    span(
        1,
        attributes={
            "langfuse.observation.type": "agent",
            "langfuse.observation.input": '{"question": "How warm is it?"}',
            "langfuse.observation.output": "21 degrees",
            "langfuse.session.id": "s1",
        },
    ),
    span(
        2,
        1,
        attributes={
            "langfuse.observation.type": "generation",
            "langfuse.observation.model.name": "m-1",
            "langfuse.observation.usage_details": '{"input": 5, "output": 2, "total": 7}',
            "langfuse.observation.cost_details": '{"total": 0.25}',
        },
    ),
    span(
        3,
        1,
        name="warmth",
        attributes={
            "langfuse.observation.type": "tool",
            "langfuse.observation.input": '{"args": [], "kwargs": {"city": "Bonn"}}',
            "langfuse.observation.output": '"21"',
        },
    ),
    span(
        4,
        1,
        attributes={
            "langfuse.observation.type": "retriever",
            "langfuse.observation.input": "warmth",
            "langfuse.observation.output": '[{"content": "p", "id": "d1"}]',
        },
    ),
]


@pytest.mark.parametrize(
    "spans", [MLFLOW, LANGSMITH, LANGFUSE], ids=["mlflow", "langsmith", "langfuse"]
)
def test_a_whole_run_reads_alike_from_each_convention(spans: list[dict[str, Any]]):
    told = summary(*spans)

    assert (told.input, told.output, told.session_id) == ("How warm is it?", "21 degrees", "s1")
    assert (told.llm_calls, told.models) == (1, ["m-1"])
    assert told.tokens is not None
    assert (told.tokens.input, told.tokens.output, told.tokens.total) == (5, 2, 7)
    (call,) = told.tool_calls
    assert (call.name, call.arguments, call.result) == ("warmth", {"city": "Bonn"}, "21")
    assert told.retrieval.queries == ["warmth"]
    assert [(one.id, one.content) for one in told.retrieval.documents] == [("d1", "p")]


def test_strands_tools_speak_in_events():
    told = summary(
        span(
            1,
            attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "weather"},
            events=[
                event("gen_ai.user.message", content='[{"text": "How warm is it?"}]'),
                event("gen_ai.choice", message='[{"text": "21 degrees"}]'),
            ],
        ),
        span(
            2,
            1,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "warmth",
                "gen_ai.tool.status": "success",
            },
            events=[
                event("gen_ai.tool.message", role="tool", content='{"city": "Bonn"}', id="t1"),
                event("gen_ai.choice", message='[{"text": "21"}]', id="t1"),
            ],
        ),
        span(
            3,
            1,
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "rain",
                "gen_ai.tool.status": "error",
            },
            events=[event("gen_ai.tool.message", content="{}", id="t2")],
        ),
    )

    assert (told.input, told.output) == ("How warm is it?", "21 degrees")
    warmth, rain = told.tool_calls
    assert (warmth.arguments, warmth.result, warmth.error) == ({"city": "Bonn"}, "21", None)
    assert (rain.arguments, rain.result, rain.error) == ({}, None, "error")
    assert [agent["name"] for agent in told.agents] == ["weather"]


def test_openllmetry_s_numbered_tool_calls_are_read_from_messages():
    told = summary(
        span(
            1,
            attributes={
                "llm.request.type": "chat",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "How warm is it?",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.tool_calls.0.id": "t1",
                "gen_ai.completion.0.tool_calls.0.name": "warmth",
                "gen_ai.completion.0.tool_calls.0.arguments": '{"city": "Bonn"}',
            },
        )
    )

    (call,) = told.tool_calls
    assert (call.name, call.arguments, call.result) == ("warmth", {"city": "Bonn"}, None)
    assert (told.input, told.output) == ("How warm is it?", None)


def test_openllmetry_s_tools_are_opened_and_cut_json_is_no_value():
    told = summary(
        span(
            1,
            attributes={
                "traceloop.span.kind": "workflow",
                "traceloop.entity.input": '{"inputs": {"q": "cut',
            },
        ),
        span(
            2,
            1,
            attributes={
                "traceloop.span.kind": "tool",
                "traceloop.entity.name": "warmth",
                "traceloop.entity.input": '{"input_str": "x", "inputs": {"city": "Bonn"}, "tags": []}',
                "traceloop.entity.output": '{"output": "21", "kwargs": {"color": "green"}}',
            },
        ),
    )

    assert told.input is None
    (call,) = told.tool_calls
    assert (call.name, call.arguments, call.result) == ("warmth", {"city": "Bonn"}, "21")


def test_openlit_s_roles_are_no_part_of_the_text():
    told = summary(
        span(
            1,
            attributes={"gen_ai.operation.name": "chat"},
            events=[
                event(
                    "gen_ai.content.prompt",
                    **{
                        "gen_ai.prompt": "system: Be brief.\nuser: First\nassistant: Hm\nuser: a: b\nc"
                    },
                ),
            ],
        )
    )

    assert told.input == "a: b\nc"


def test_vercel_s_second_call_gives_the_answer():
    told = summary(
        span(
            1,
            attributes={
                "ai.operationId": "ai.streamText",
                "ai.prompt": '{"messages": [{"role": "user", "content": [{"type": "text", "text": "How warm?"}]}]}',
                "ai.response.text": "21",
            },
        ),
        span(
            2,
            1,
            attributes={
                "ai.operationId": "ai.streamText.doStream",
                "ai.model.id": "m",
                "ai.usage.inputTokens": 3,
                "ai.usage.outputTokens": 4,
            },
        ),
    )

    assert (told.input, told.output, told.llm_calls) == ("How warm?", "21", 1)


def test_a_framework_s_word_goes_before_the_general_convention_s():
    told = summary(
        span(
            1,
            attributes={
                "openinference.span.kind": "LLM",
                "llm.model_name": "framework",
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "general",
                "gen_ai.usage.input_tokens": 4,
            },
        )
    )

    assert told.models == ["framework"]
    assert told.tokens is not None
    assert told.tokens.input == 4
    assert told.tokens.output is None


@pytest.mark.parametrize(
    ("attributes", "calls", "agents"),
    [
        ({"gen_ai.operation.name": "chat"}, 1, 0),
        ({"gen_ai.operation.name": "embeddings"}, 0, 0),
        ({"gen_ai.operation.name": "invoke_agent"}, 0, 1),
        ({"gen_ai.operation.name": "create_agent", "gen_ai.request.model": "m"}, 0, 0),
        ({"gen_ai.usage.input_tokens": 1}, 1, 0),
        ({"gen_ai.agent.name": "a", "gen_ai.usage.input_tokens": 1}, 0, 1),
        ({"http.method": "POST"}, 0, 0),
        ({}, 0, 0),
    ],
)
def test_a_span_s_kind_follows_from_its_operation_or_else_from_what_it_says(
    attributes: dict[str, object], calls: int, agents: int
):
    told = summary(span(1, attributes=attributes))

    assert (told.llm_calls, len(told.agents)) == (calls, agents)


def test_azure_s_events_hold_their_bodies_as_json():
    told = summary(
        span(
            1,
            attributes={"gen_ai.operation.name": "chat"},
            events=[
                event(
                    "gen_ai.user.message",
                    **{"gen_ai.event.content": '{"role": "user", "content": "How warm?"}'},
                ),
                event(
                    "gen_ai.choice",
                    **{
                        "gen_ai.event.content": '{"message": {"role": "assistant", "content": "21"}}'
                    },
                ),
            ],
        )
    )

    assert (told.input, told.output) == ("How warm?", "21")


def test_logfire_s_lists_of_events_and_its_requests_are_read():
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "How warm?"},
        {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "21"}},
    ]
    asked = {"model": "m", "messages": [{"role": "user", "content": "How warm?"}]}
    answered = {"message": {"role": "assistant", "content": "21"}, "usage": None}
    model = {"gen_ai.request.model": "m"}

    of_events = summary(span(1, attributes={**model, "events": events}))
    of_requests = summary(
        span(1, attributes={**model, "request_data": asked, "response_data": answered})
    )

    assert (of_events.input, of_events.output) == ("How warm?", "21")
    assert (of_requests.input, of_requests.output) == ("How warm?", "21")


def test_traceloop_s_decorated_functions_are_opened():
    told = summary(
        span(
            1,
            attributes={
                "traceloop.span.kind": "workflow",
                "traceloop.entity.input": '{"args": [], "kwargs": {"question": "How warm?"}}',
                "traceloop.entity.output": '"21 \\"degrees\\""',
            },
        )
    )

    assert (told.input, told.output) == ("How warm?", '21 "degrees"')


def test_langchain_s_batches_and_constructors_are_opened():
    human = {
        "lc": 1,
        "type": "constructor",
        "id": ["x", "HumanMessage"],
        "kwargs": {"content": "q"},
    }
    told = summary(
        span(
            1,
            attributes={
                "openinference.span.kind": "CHAIN",
                "input.value": {"messages": [[human]]},
                "output.value": {
                    "messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "a"}]
                },
            },
        )
    )

    assert (told.input, told.output) == ("q", "a")
