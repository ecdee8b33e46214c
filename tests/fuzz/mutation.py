"""Inputs made of good ones: damaged as bytes, or changed as JSON so that the damage lies deeper in."""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

FIXTURES: Final = Path(__file__).parents[1] / "fixtures" / "traces"
CASES: Final = Path(__file__).parents[2].parent / "shared" / "cases"
#: Inputs are kept below this, as a hang is measured in seconds for them.
MAX_BYTES: Final = 64 * 1024

#: What protobuf's own reader of JSON raises for what it cannot read, some of it by mistake.
_NO_MESSAGE: Final = (
    json_format.ParseError,
    ValueError,
    TypeError,
    AttributeError,
    RecursionError,
    OverflowError,
    SystemError,
)
FILTERS: Final = (
    'score < 0.5 and not output contains "sorry"',
    'tags contains "x" or at > 2026-01-02T03:04:05Z',
    "duration >= 1h30m and exists trace.output",
    'output matches "a*?" and score in (1, 2.5, null, true)',
    '(("a.b".c[0] != -1e3))',
    "not (not (exists a)) or a = 'b' and c <= 10d",
)
_ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**30, 1e308, -0.0, 1e300, 0.1,
    "", " ", "null", "NaN", "-Infinity", "1e999", "[", "{", "[]", "{}", '"', "\\", "\ud800", "\udfff", "\x00",
    "0" * 16, "A" * 4000, '{"a": ' * 150 + "1" + "}" * 150, "[" * 120 + "]" * 120, "{'a': {1, 2}}", "{'a': 1e999}",
    '{"messages": [["user", 1]]}', '{"role": "user", "content": [[]]}', '{"a": 1e400}', '{"documents": {}}',
    [], {}, [[]], [None], [[[[]]]], {"": None}, {"values": 1}, {"kvlistValue": {"values": [{"key": "a"}]}},
    {"arrayValue": {"values": [{"doubleValue": "NaN"}, {"intValue": "x"}]}}, {"doubleValue": 1e300}, {"doubleValue": 1e308}, {"intValue": "9" * 19},
    {"bytesValue": "AA=="}, {"bytesValue": "!"}, {"stringValue": "\ud83d"}, {"boolValue": "true"},
)  # fmt: skip
_CHUNKS: Final = (b"\x00", b"\xff", b"\x80" * 10, b"\x0a", b"\x0a\x00", b"\xf8\xff", b'"', b"\\u", b"\\", b"{", b"[", b"]" * 9, b"}", b",", b":", b"-", b"e9", b"9" * 40, b"(" * 200, b"not ", b" and ", b"'", b"\xed\xa0\x80")  # fmt: skip


def seeds() -> dict[str, list[bytes]]:
    """Gather good inputs for each target: our own, and the handed cases where they are beside the repository."""
    requests = [path.read_bytes() for path in sorted(FIXTURES.glob("*.json"))]
    requests.extend(path.read_bytes() for path in sorted(CASES.glob("case_*.otlp.json")))
    requests = [request for request in requests if len(request) < MAX_BYTES]
    return {
        "json": requests,
        "protobuf": [packed for request in requests if (packed := as_protobuf(request))],
        "filter": [text.encode() for text in FILTERS],
    }


def as_protobuf(request: bytes) -> bytes:
    """Write a request as protobuf; nothing when it says what protobuf cannot."""
    try:
        document = _with_base64_ids(json.loads(request))
        return json_format.ParseDict(document, ExportTraceServiceRequest()).SerializeToString()
    except _NO_MESSAGE:
        return b""


def _with_base64_ids(node: Any) -> Any:
    if isinstance(node, list):
        return [_with_base64_ids(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    return {
        name: base64.b64encode(bytes.fromhex(value)).decode()
        if name in {"traceId", "spanId", "parentSpanId"} and isinstance(value, str)
        else _with_base64_ids(value)
        for name, value in cast("dict[str, Any]", node).items()
    }


class Mutator:
    """Makes inputs from seeds; the same seed number makes the same inputs."""

    def __init__(self, number: int) -> None:
        self._chance = random.Random(number)  # noqa: S311 - chance, no secret
        self._seeds = seeds()
        self._documents = [json.loads(request) for request in self._seeds["json"]]
        self._texts = sorted({t for one in self._documents for t in _texts(one)})

    def make(self, target: str) -> bytes:
        """Make one input for a target."""
        if target != "filter" and self._chance.random() < 0.7:
            changed = self.changed_document()
            data = as_protobuf(changed) if target == "protobuf" else changed
            if data and self._chance.random() < 0.9:
                return data[:MAX_BYTES]
        data = self._chance.choice(self._seeds[target])
        for _ in range(self._chance.randint(1, 6)):
            data = self._damaged(data, target)
        return data[:MAX_BYTES]

    def changed_document(self) -> bytes:
        """Change some nodes of a request; what comes out is JSON still, or nearly."""
        document = copy.deepcopy(self._chance.choice(self._documents))
        for _ in range(self._chance.randint(1, 8)):
            places = list(_places(document))
            if not places:
                break
            holder, key = self._chance.choice(places)
            self._chance.choice(self._changes())(holder, key)
        return json.dumps(document).encode()

    def _changes(self) -> list[Callable[[Any, Any], None]]:
        return [
            self._put_odd,
            self._put_text,
            self._put_text,
            self._put_other,
            self._drop,
            self._cut,
        ]

    def _put_odd(self, holder: Any, key: Any) -> None:
        holder[key] = copy.deepcopy(self._chance.choice(_ODD))

    def _put_text(self, holder: Any, key: Any) -> None:
        """Put a text from somewhere else, so that names and values meet that never did."""
        if isinstance(holder[key], str):
            holder[key] = self._chance.choice(self._texts)

    def _put_other(self, holder: Any, key: Any) -> None:
        other, name = self._chance.choice(list(_places(self._chance.choice(self._documents))))
        holder[key] = copy.deepcopy(other[name])

    def _drop(self, holder: Any, key: Any) -> None:
        del holder[key]

    def _cut(self, holder: Any, key: Any) -> None:
        """Damage a text within, which may be JSON itself."""
        if isinstance(holder[key], str) and holder[key]:
            raw = self._damaged(holder[key].encode("utf-8", "replace"), "json")
            holder[key] = raw.decode("utf-8", "replace")

    def _damaged(self, data: bytes, target: str) -> bytes:
        chance = self._chance
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((1, 1, 2, 8, 64)))
        match chance.randrange(6):
            case 0:
                return data[:start] + chance.choice(_CHUNKS) + data[start:]
            case 1:
                return data[:start] + data[end:]
            case 2:
                return data[:start] + data[start:end] * chance.randint(2, 30) + data[end:]
            case 3:
                return data[:start] + bytes([chance.randrange(256)]) + data[start + 1 :]
            case 4:
                other = chance.choice(self._seeds[target])
                return data[:start] + other[chance.randrange(len(other) + 1) :]
            case _:
                return data[:start]


def _places(root: Any) -> list[tuple[Any, Any]]:
    """List every place in a document as what holds it and its key or position."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [root]
    while waiting:
        holder = waiting.pop()
        entries = _entries(holder)
        found.extend((holder, key) for key, _ in entries)
        waiting.extend(value for _, value in entries)
    return found


def _entries(holder: object) -> list[tuple[Any, Any]]:
    if isinstance(holder, dict):
        return list(cast("dict[Any, Any]", holder).items())
    return list(enumerate(cast("list[Any]", holder))) if isinstance(holder, list) else []


def _texts(root: Any) -> set[str]:
    return {value for holder, key in _places(root) if isinstance(value := holder[key], str)}
