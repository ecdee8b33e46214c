"""Questions, answers, arguments and results, taken out of what frameworks wrap them in.

Each function looks at a value's shape, never at who wrote it, and returns a value that is no envelope it
knows unchanged. A text that is a JSON object or list is read as such first.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.container import container, unquoted
from scorewright.telemetry.messages import (
    Message,
    Role,
    conversation,
    last_text,
    read_messages,
    word_of,
)

#: Envelopes within envelopes that are opened.
_MAX_LAYERS: Final = 6
#: Of a Python dict written as text; what is longer is no tool's arguments.
_MAX_LITERAL_CHARS: Final = 10_000

_CALL_KEYS: Final = {"args", "kwargs"}
_LANGCHAIN_KEYS: Final = {"tags", "metadata", "kwargs", "name", "run_type"}
_SINGLE_QUESTIONS: Final = {
    "input",
    "inputs",
    "question",
    "query",
    "prompt",
    "user_input",
    "args",
    "message",
    "user_msg",
    "query_str",
    "str_or_query_bundle",
}
_SINGLE_ANSWERS: Final = {
    "output", "outputs", "answer", "result", "content", "text", "response", "output_text", "raw", "message",
}  # fmt: skip


def question(value: JsonValue) -> JsonValue:
    """Take the user's question out of an application's recorded input."""
    return _open(value, _inner_question, "user")


def answer(value: JsonValue) -> JsonValue:
    """Take the final answer out of an application's recorded output; None when it holds no text."""
    return _open(value, _inner_answer, "assistant")


def arguments(value: JsonValue) -> JsonObject | None:
    """Read a tool's arguments as an object; anything else becomes its member `input`."""
    value = parsed(value)
    if isinstance(value, dict):
        inner = _inner_arguments(value)
        value = parsed(inner)
    if isinstance(value, str):
        value = python_object(value) or value
    if value is None or isinstance(value, dict):
        return value
    return {"input": value}


def result(value: JsonValue) -> JsonValue:
    """Read what a tool returned: JSON objects, lists and quoted texts as such, numbers as written."""
    value = unquoted(parsed(value))
    if isinstance(value, dict):
        value = unquoted(parsed(_inner_result(value)))
    if isinstance(value, list):
        return _joined_text_blocks(value)
    return value


def parsed(value: JsonValue) -> JsonValue:
    """Read a text that is a JSON object or list; everything else stays as it is."""
    if isinstance(value, str):
        found = container(value)
        return value if found is None else found
    return value


def _open(
    value: JsonValue, inner: Callable[[JsonObject], tuple[bool, JsonValue]], role: Role
) -> JsonValue:
    value = parsed(value)
    for _ in range(_MAX_LAYERS):
        if isinstance(value, list):
            messages = conversation(value)
            return value if messages is None else last_text(messages, role)
        if not isinstance(value, dict):
            return value
        found, within = inner(value)
        if not found:
            return value
        value = parsed(within)
    return value


def _inner_question(value: JsonObject) -> tuple[bool, JsonValue]:
    if isinstance(value.get("messages"), list):
        return True, value["messages"]
    if "kwargs" in value and not set(value) - {"inputs"} - _LANGCHAIN_KEYS and "inputs" in value:
        return True, value["inputs"]
    if "args" in value and not set(value) - _CALL_KEYS:
        return _inner_call(value)
    if "prompt" in value and not set(value) - {"prompt", "system"}:
        return True, value["prompt"]
    if "contents" in value:
        return True, value["contents"]
    if (message := _single_message(value)) is not None:
        return True, message.text
    return _single(value, _SINGLE_QUESTIONS)


def _inner_call(value: JsonObject) -> tuple[bool, JsonValue]:
    """Open a recorded Python call that has one argument."""
    args, kwargs = value.get("args"), value.get("kwargs")
    if isinstance(args, list) and len(args) == 1 and not kwargs:
        return True, args[0]
    if not args and isinstance(kwargs, dict) and kwargs:
        return True, kwargs
    return False, value


def _inner_answer(value: JsonObject) -> tuple[bool, JsonValue]:
    for name in ("messages", "choices", "candidates", "generations"):
        inner = value.get(name)
        if isinstance(inner, list) and inner:
            return True, inner if name == "messages" else _chosen(inner[0])
    if "outputs" in value and not set(value) - {"outputs"} - _LANGCHAIN_KEYS:
        return True, value["outputs"]
    if "output" in value and not set(value) - {"output"} - _LANGCHAIN_KEYS:
        return True, value["output"]
    if value.get("object") == "response" and isinstance(value.get("output"), list):
        items = read_messages(value["output"])
        return True, last_text(items, "assistant")
    if "raw" in value and "tasks_output" in value:
        return True, value["raw"]
    if (message := _single_message(value)) is not None:
        return True, message.text
    return _single(value, _SINGLE_ANSWERS)


def _chosen(item: JsonValue) -> JsonValue:
    """Take the message or text out of the first of several alternatives."""
    if isinstance(item, list):
        item = item[0] if item else None
    if isinstance(item, dict):
        for name in ("message", "text", "content"):
            if item.get(name) is not None:
                return item[name]
    return item


def _single_message(value: JsonObject) -> Message | None:
    if "role" not in value and word_of(value, "type") not in {"constructor", "ai", "human"}:
        return None
    messages = read_messages(value)
    return messages[0] if messages else None


def _single(value: JsonObject, names: set[str]) -> tuple[bool, JsonValue]:
    if len(value) == 1:
        ((name, inner),) = value.items()
        if name in names:
            return True, inner
    return False, value


def _inner_arguments(value: JsonObject) -> JsonValue:
    if "input_str" in value:  # LangChain's tools, as OpenLLMetry records them
        inputs = value.get("inputs")
        return inputs if isinstance(inputs, dict) and inputs else value["input_str"]
    if value and not set(value) - _CALL_KEYS:
        found, inner = _inner_call(value)
        return inner if found else value
    if "inputs" in value and "kwargs" in value and not set(value) - {"inputs"} - _LANGCHAIN_KEYS:
        return value["inputs"]
    return value


def _inner_result(value: JsonObject) -> JsonValue:
    if value.get("type") == "function_result" and "result" in value:
        return value["result"]
    for name in ("output", "outputs"):
        if name in value and "kwargs" in value and not set(value) - {name} - _LANGCHAIN_KEYS:
            return _tool_message_text(value[name])
    return _tool_message_text(value)


def _tool_message_text(value: JsonValue) -> JsonValue:
    if isinstance(value, dict) and word_of(value, "type") in {"constructor", "tool"}:
        for message in read_messages(value):
            if message.results:
                return message.results[0].result
    return value


def _joined_text_blocks(value: list[JsonValue]) -> JsonValue:
    """Make one text of a list that holds nothing but text blocks."""
    texts: list[str] = []
    for item in value:
        text = item.get("text") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(text, str) or set(item) - {"type", "text"}:
            return value
        texts.append(text)
    return "\n".join(texts) if texts else value


def python_object(text: str) -> JsonValue:
    """Read a Python dict written as text, as LangChain hands on a tool's arguments."""
    if not text.startswith("{'") or not text.endswith("}") or len(text) > _MAX_LITERAL_CHARS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the text is nobody's program
            value = ast.literal_eval(text)
        return msgspec.json.decode(msgspec.json.encode(value)) if type(value) is dict else None
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
