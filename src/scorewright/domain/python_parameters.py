"""Read a Python function's parameters, with their defaults, annotations and places."""

from __future__ import annotations

import ast
from typing import TypeAlias

import msgspec

from scorewright.domain.json_literal import json_literal
from scorewright.domain.json_value import JsonValue
from scorewright.domain.signature import Diagnostic, Kind, ParamCall, Parameter
from scorewright.domain.source_limits import MAX_PARAMETERS
from scorewright.domain.source_text import SourceText
from scorewright.domain.suggestion import did_you_mean, quote

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Literal: TypeAlias = "JsonValue | msgspec.UnsetType"


class _Constraints(msgspec.Struct):
    """What `Param` takes beside its default."""

    description: str | None = None
    required: bool | None = None
    min: int | float | None = None
    max: int | float | None = None
    enum: tuple[str | int | float, ...] | None = None


def read_parameters(
    function: _Function, text: SourceText
) -> tuple[tuple[Parameter, ...], list[Diagnostic]]:
    """Return the parameters in order, and why some of them cannot be filled."""
    arguments = function.args
    problems = [
        _problem(arg, text, "variable_arguments", _variable_arguments_text(stars, arg.arg))
        for stars, arg in (("*", arguments.vararg), ("**", arguments.kwarg))
        if arg is not None
    ]
    placed = _placed(arguments)
    if len(placed) > MAX_PARAMETERS:
        message = f"evaluate has {len(placed)} parameters; at most {MAX_PARAMETERS} are taken"
        return (), [*problems, _problem(placed[MAX_PARAMETERS][1], text, "too_complex", message)]
    parameters: list[Parameter] = []
    for kind, arg, default in placed:
        param, complaint = _param_call(default)
        if complaint:
            problems.append(
                _problem(arg, text, "bad_param", f"parameter {quote(arg.arg)}: {complaint}")
            )
        parameters.append(
            Parameter(
                name=arg.arg,
                kind=kind,
                required=default is None,
                default=msgspec.UNSET if default is None else read_literal(default),
                default_text=None if default is None else text.segment(default),
                annotation=None if arg.annotation is None else text.segment(arg.annotation),
                param=param,
                line=arg.lineno,
                column=text.column(arg),
            )
        )
    return tuple(parameters), problems


def _problem(arg: ast.arg, text: SourceText, code: str, message: str) -> Diagnostic:
    return Diagnostic(
        severity="error",
        code=code,
        message=message,
        line=arg.lineno,
        column=text.column(arg),
    )


def _variable_arguments_text(stars: str, name: str) -> str:
    return f"evaluate takes {stars}{name}, which no field can be mapped to; name each parameter instead"


def _placed(arguments: ast.arguments) -> list[tuple[Kind, ast.arg, ast.expr | None]]:
    """Return each parameter with its kind and default, in order."""
    positional = [("positional_only", a) for a in arguments.posonlyargs]
    positional += [("positional_or_keyword", a) for a in arguments.args]
    missing = len(positional) - len(arguments.defaults)
    defaults: list[ast.expr | None] = [*([None] * missing), *arguments.defaults]
    placed: list[tuple[Kind, ast.arg, ast.expr | None]] = [
        ("positional_only" if kind == "positional_only" else "positional_or_keyword", arg, default)
        for (kind, arg), default in zip(positional, defaults, strict=True)
    ]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return placed + [("keyword_only", arg, default) for arg, default in named]


def read_literal(node: ast.expr) -> _Literal:
    """Return the JSON value a literal stands for, or UNSET when the node is none."""
    try:
        return json_literal(ast.literal_eval(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return msgspec.UNSET


def _param_call(default: ast.expr | None) -> tuple[ParamCall | None, str]:
    """Read `Param(...)` where it stands as a default; the text says what is wrong with it."""
    if not isinstance(default, ast.Call) or not _is_param(default.func):
        return None, ""
    given: dict[str, _Literal] = {}
    words = ("default", "description")
    for word, node in zip(words, default.args, strict=False):
        given[word] = read_literal(node)
    given.update({keyword.arg or "**": read_literal(keyword.value) for keyword in default.keywords})
    complaint = _param_complaint(given)
    if complaint or len(default.args) > len(words):
        return ParamCall(), complaint or "Param takes its constraints by keyword"
    value = given.pop("default", msgspec.UNSET)
    try:
        said = msgspec.convert(given, _Constraints)
    except msgspec.ValidationError as error:
        return ParamCall(), f"Param: {error}"
    call = ParamCall(
        default=value,
        description=said.description or "",
        required=said.required,
        min=said.min,
        max=said.max,
        enum=said.enum or (),
    )
    return call, "" if said.enum != () else "Param: enum is empty, so no value fits"


def _param_complaint(given: dict[str, _Literal]) -> str:
    known = ("default", *_Constraints.__struct_fields__)
    for word, value in given.items():
        if word not in known:
            return f"Param takes no {quote(word)}{did_you_mean(word, known)}"
        if value is msgspec.UNSET:
            return f"Param: {word} must be a literal, as it is read without running the code"
    return ""


def _is_param(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else None
    return name == "Param" or (isinstance(function, ast.Name) and function.id == "Param")
