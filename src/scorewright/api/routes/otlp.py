"""OTLP over HTTP: where applications send spans and log records. Source: the OTLP specification, "OTLP/HTTP"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Final

import anyio
import msgspec
from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request, Response
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from scorewright.api.access import InCaller, needs
from scorewright.api.context import Context, InContext
from scorewright.api.problem import problem
from scorewright.domain.errors import (
    CallerError,
    NotFoundError,
    OurError,
    StorageError,
    TooLargeError,
)
from scorewright.domain.suggestion import quote
from scorewright.services.access import Caller
from scorewright.services.ingest import (
    Accepted,
    Encoding,
    project_of,
    take_records,
    take_spans,
    unpacked,
)

_JSON: Final = "application/json"
_PROTOBUF: Final = "application/x-protobuf"
_ENCODINGS: Final[dict[str, Encoding]] = {_JSON: "json", _PROTOBUF: "protobuf"}
_MAX_MESSAGE_CHARS: Final = 2_000
_RETRY_AFTER: Final = {"Retry-After": "5"}

Project = Annotated[
    str | None,
    Header(alias="x-scorewright-project", description="the project's name; `default` without"),
]
_Take = Callable[..., Accepted]
_Answer = Callable[[Accepted, Encoding], bytes]


def _document(what: str, example: dict[str, Any]) -> dict[str, Any]:
    """Describe the body, which is read by hand."""
    packing = {
        "name": "Content-Encoding",
        "in": "header",
        "description": "how the body is packed; as it is without",
        "schema": {"type": "string", "enum": ["gzip", "identity"]},
    }
    content: dict[str, Any] = {_PROTOBUF: {"schema": {"type": "string", "format": "binary"}}}
    content[_JSON] = {"schema": {"type": "object"}, "example": example}
    text = f"Export{what}ServiceRequest of OTLP, in protobuf or in its JSON"
    return {"parameters": [packing], "requestBody": {"description": text, "content": content}}


def _answered(what: str, rejected: str) -> dict[int | str, dict[str, Any]]:
    """Describe the answer, which has the type of the request."""
    counted = {
        "type": "string",
        "pattern": "^[0-9]+$",
        "description": "how many could not be used, and are not stored",
    }
    message = {"type": "string", "description": "why, or what was odd where that is 0"}
    partial = {
        "type": "object",
        "description": "there where not all of it could be taken as it is",
        "properties": {rejected: counted, "errorMessage": message},
    }
    content: dict[str, Any] = {_PROTOBUF: {"schema": {"type": "string", "format": "binary"}}}
    content[_JSON] = {"schema": {"type": "object", "properties": {"partialSuccess": partial}}}
    text = f"Export{what}ServiceResponse: all of it is stored, but for what `partialSuccess` says"
    return {200: {"description": text, "content": content}}


_SERVICE: Final[dict[str, Any]] = {
    "attributes": [{"key": "service.name", "value": {"stringValue": "shop-bot"}}]
}
_TRACE_EXAMPLE: Final[dict[str, Any]] = {
    "resourceSpans": [
        {
            "resource": _SERVICE,
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "5b8efff798038103d269b633813fc60c",
                            "spanId": "eee19b7ec3c1b174",
                            "name": "answer",
                            "startTimeUnixNano": "1780000000000000000",
                            "endTimeUnixNano": "1780000002500000000",
                            "attributes": [
                                {"key": "input.value", "value": {"stringValue": "Where is it?"}},
                                {"key": "output.value", "value": {"stringValue": "On its way."}},
                            ],
                        }
                    ]
                }
            ],
        }
    ]
}
_LOG_EXAMPLE: Final[dict[str, Any]] = {
    "resourceLogs": [
        {
            "resource": _SERVICE,
            "scopeLogs": [
                {
                    "logRecords": [
                        {
                            "timeUnixNano": "1780000000000000000",
                            "severityNumber": 9,
                            "severityText": "INFO",
                            "body": {"stringValue": "order 17 was sent"},
                        }
                    ]
                }
            ],
        }
    ]
}


class _Gate:
    """Lets so many requests be worked on at once, and so many more wait in memory."""

    def __init__(self, context: Context) -> None:
        limits = context.ingest_limits
        self._room = limits.at_once + limits.waiting
        self._held = 0
        self.limiter = anyio.CapacityLimiter(limits.at_once)

    def __enter__(self) -> anyio.CapacityLimiter:
        if self._held >= self._room:
            raise StorageError("too many requests are waiting to be stored; send it again")
        self._held += 1
        return self.limiter

    def __exit__(self, *_error: object) -> None:
        self._held -= 1


@dataclass(frozen=True, slots=True)
class _To:
    """Where what is sent belongs."""

    context: Context
    caller: Caller
    #: The project that the request names.
    named: str | None

    def project_id(self) -> str:
        """Return the project's id; a key of one project sends to that one.

        Raises:
            NotFoundError: The caller's: there is no such project, or it is none of theirs.
        """
        own = self.caller.project_id
        if own is not None and self.named is None:
            return own
        found = project_of(self.context.database, self.named)
        if own is not None and found != own:
            raise NotFoundError(f"there is no project {quote(self.named or '')}")
        return found


router = APIRouter(tags=["otlp"])


@router.post(
    "/v1/traces",
    openapi_extra=_document("Trace", _TRACE_EXAMPLE),
    response_class=Response,
    responses=_answered("Trace", "rejectedSpans"),
)
@needs("ingest")
async def export_traces(
    request: Request, context: InContext, caller: InCaller, project: Project = None
) -> Response:
    """Take spans; they are durable when this answers 200.

    Errors of the body are answered to protobuf with a google.rpc.Status, to JSON with a problem.
    """
    return await _export(request, _To(context, caller, project), take_spans, _answer_traces)


@router.post(
    "/v1/logs",
    openapi_extra=_document("Logs", _LOG_EXAMPLE),
    response_class=Response,
    responses=_answered("Logs", "rejectedLogRecords"),
)
@needs("ingest")
async def export_logs(
    request: Request, context: InContext, caller: InCaller, project: Project = None
) -> Response:
    """Take log records; they are durable when this answers 200.

    Errors of the body are answered as by `export_traces`.
    """
    return await _export(request, _To(context, caller, project), take_records, _answer_logs)


async def _export(request: Request, to: _To, take: _Take, answer: _Answer) -> Response:
    context = to.context
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    encoding = _ENCODINGS.get(kind)
    packing = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding is None or packing not in ("gzip", "identity"):
        text = f"send {_PROTOBUF} or {_JSON}, as it is or packed by gzip"
        return problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, text)
    try:
        with _gate_of(request, context) as limiter:
            body = await _read(request, context.ingest_limits.max_packed_bytes)
            if packing == "gzip":
                most = context.ingest_limits.max_bytes
                body = await run_sync(unpacked, body, most, limiter=limiter)
            work = partial(_take, to, body, encoding, take)
            accepted = await run_sync(work, limiter=limiter)
    except (CallerError, OurError) as error:
        return _refusal(error, encoding)
    return Response(answer(accepted, encoding), media_type=kind)


def _gate_of(request: Request, context: Context) -> _Gate:
    state = request.app.state
    if not hasattr(state, "ingest_gate"):
        state.ingest_gate = _Gate(context)
    return state.ingest_gate


async def _read(request: Request, max_bytes: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes:
            raise TooLargeError(f"the body is larger than {max_bytes:,} bytes; send less at a time")
        parts.append(part)
    return b"".join(parts)


def _take(to: _To, body: bytes, encoding: Encoding, take: _Take) -> Accepted:
    context = to.context
    return take(context.database, to.project_id(), body, encoding, context.known_names)


def _refusal(error: CallerError | OurError, encoding: Encoding) -> Response:
    """Answer in the type of the request: in protobuf a `google.rpc.Status`."""
    if isinstance(error, OurError):
        status, headers = HTTPStatus.SERVICE_UNAVAILABLE, _RETRY_AFTER
    else:
        status, headers = _status_of(error), {}
    if encoding == "json":
        return problem(status, str(error), headers=headers)
    text = str(error)[:_MAX_MESSAGE_CHARS].encode()
    return Response(b"\x12" + _varint(len(text)) + text, status, headers, media_type=_PROTOBUF)


def _status_of(error: CallerError) -> HTTPStatus:
    if isinstance(error, TooLargeError):
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    # Exporters give up at both of these, and come back after most others.
    return HTTPStatus.NOT_FOUND if isinstance(error, NotFoundError) else HTTPStatus.BAD_REQUEST


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _answer_traces(accepted: Accepted, encoding: Encoding) -> bytes:
    if encoding == "json":
        return _in_json(accepted, "rejectedSpans")
    answer = ExportTraceServiceResponse()
    if accepted.rejected or accepted.message:
        answer.partial_success.rejected_spans = accepted.rejected
        answer.partial_success.error_message = accepted.message[:_MAX_MESSAGE_CHARS]
    return answer.SerializeToString()


def _answer_logs(accepted: Accepted, encoding: Encoding) -> bytes:
    if encoding == "json":
        return _in_json(accepted, "rejectedLogRecords")
    answer = ExportLogsServiceResponse()
    if accepted.rejected or accepted.message:
        answer.partial_success.rejected_log_records = accepted.rejected
        answer.partial_success.error_message = accepted.message[:_MAX_MESSAGE_CHARS]
    return answer.SerializeToString()


def _in_json(accepted: Accepted, name: str) -> bytes:
    if not accepted.rejected and not accepted.message:
        return b"{}"
    # Integers of 64 bits are text in protobuf's JSON.
    part = {name: str(accepted.rejected), "errorMessage": accepted.message[:_MAX_MESSAGE_CHARS]}
    return msgspec.json.encode({"partialSuccess": part})
