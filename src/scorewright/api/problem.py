"""Errors as `application/problem+json`, with a pointer to each part of the request that is wrong. Source: RFC 9457."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final, cast

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from scorewright.domain.errors import (
    CallerError,
    ConflictError,
    NotFoundError,
    OurError,
    StaleError,
    TooLargeError,
)
from scorewright.storage.database import UNAVAILABLE

MEDIA_TYPE: Final = "application/problem+json"
#: Of one message that goes back.
_MAX_DETAIL_CHARS: Final = 2_000
_MAX_PARTS: Final = 50
_STATUSES: Final[tuple[tuple[type[Exception], HTTPStatus], ...]] = (
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (StaleError, HTTPStatus.PRECONDITION_FAILED),
    (ConflictError, HTTPStatus.CONFLICT),
    (TooLargeError, HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    (CallerError, HTTPStatus.UNPROCESSABLE_ENTITY),
)
_log = structlog.get_logger(__name__)


class WrongPart(BaseModel):
    """A part of a request that is wrong."""

    pointer: str = Field(description="JSON pointer into the body, or the name of a parameter")
    detail: str


class Problem(BaseModel):
    """What a request that failed is answered with."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[WrongPart] = []


def problem(
    status: HTTPStatus,
    detail: str,
    *,
    errors: Sequence[WrongPart] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Make the answer to a request that failed."""
    body = Problem(
        title=status.phrase,
        status=status,
        detail=detail[:_MAX_DETAIL_CHARS],
        errors=list(errors[:_MAX_PARTS]),
    )
    return JSONResponse(body.model_dump(), status, headers=headers, media_type=MEDIA_TYPE)


def add_handlers(app: FastAPI) -> None:
    """Let every error of every route become a problem."""
    app.add_exception_handler(CallerError, _caller)
    app.add_exception_handler(OurError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for kind in UNAVAILABLE:
        app.add_exception_handler(kind, _database)
    app.add_exception_handler(Exception, _unforeseen)


def _caller(_request: Request, error: Exception) -> JSONResponse:
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    pointer = cast("CallerError", error).pointer
    errors = [] if pointer is None else [WrongPart(pointer=pointer, detail=str(error))]
    return problem(status, str(error), errors=errors)


def _ours(request: Request, error: Exception) -> JSONResponse:
    _log.error("unavailable", path=request.url.path, error=str(error))
    return problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), headers={"Retry-After": "5"})


def _database(_request: Request, error: Exception) -> JSONResponse:
    return database_problem(error)


def database_problem(error: Exception) -> JSONResponse:
    """Make the answer to a request whose database is away, locked for long, or has no space left."""
    cause = str(getattr(error, "orig", None) or error)
    _log.error("database cannot be used", error=cause[:_MAX_DETAIL_CHARS])
    return problem(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "the database cannot be used now; try again later",
        headers={"Retry-After": "5"},
    )


def _invalid(_request: Request, error: Exception) -> JSONResponse:
    invalid = cast("RequestValidationError", error)
    parts = [
        _not_json(one)
        if _is_of_no_json(one)
        else WrongPart(pointer=_pointer(_whole_location(one), invalid.body), detail=one["msg"])
        for one in invalid.errors()
    ]
    detail = "; ".join(f"{part.pointer or 'body'}: {part.detail}" for part in parts[:3])
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=parts)


def _is_of_no_json(error: Mapping[str, Any]) -> bool:
    """Tell whether the whole body is no JSON: then what stands for a place in it counts its characters."""
    return error["type"] == "json_invalid" and error["loc"][0] == "body" and len(error["loc"]) == 2


def _not_json(error: Mapping[str, Any]) -> WrongPart:
    """Say where a body stops being JSON: there is no pointer into what has no structure."""
    told: Mapping[str, str] = error.get("ctx") or {}
    cause = told.get("error", error["msg"])
    return WrongPart(pointer="", detail=f"not JSON from character {error['loc'][-1]} on: {cause}")


def _whole_location(error: Mapping[str, Any]) -> Sequence[Any]:
    """Return where an error is; what tells the forms of a value apart is named when that is what is wrong."""
    if error["type"] not in ("union_tag_invalid", "union_tag_not_found"):
        return error["loc"]
    told: Mapping[str, str] = error.get("ctx") or {}  # left out where we checked a text ourselves
    return [*error["loc"], told.get("discriminator", "kind").strip("'")]


def _pointer(location: Sequence[Any], body: Any) -> str:
    """Write where something is: a JSON pointer in the body, or a parameter's name."""
    kind, *rest = location
    if kind != "body":
        return ".".join(map(str, rest)) or str(kind)
    steps = _steps_in(body, rest)
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def _steps_in(body: Any, location: Sequence[Any]) -> Iterator[Any]:
    """Leave out the steps that stand for a choice between types, and are not in the body."""
    place: Any = body
    told_apart: Any = None
    for at, step in enumerate(location, 1):
        if isinstance(place, dict):
            members = cast("dict[Any, Any]", place)
            if at < len(location) and step == members.get("kind") and members is not told_apart:
                told_apart = (
                    members  # the form of this value, though a member may have the same name
                )
                continue
            if step in members or at == len(location):  # the last one may be what is missing
                yield step
                place = members.get(step)
        elif isinstance(place, list):
            entries = cast("list[Any]", place)
            if isinstance(step, int) and step < len(entries):
                yield step
                place = entries[step]
        elif body is None or isinstance(body, str | bytes):  # nothing is known of it
            yield step


def _http(_request: Request, error: Exception) -> JSONResponse:
    raised = cast("HTTPException", error)
    return problem(HTTPStatus(raised.status_code), raised.detail, headers=raised.headers)


def _unforeseen(request: Request, error: Exception) -> JSONResponse:
    _log.exception("unforeseen", path=request.url.path, exc_info=error)
    return problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "something of ours went wrong; the server's log says what",
    )
