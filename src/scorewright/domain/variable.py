"""Sort an evaluator's parameters into variables, mapped from data, and config params, set by a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from scorewright.domain.annotation import literal_values, read_type
from scorewright.domain.convention import Convention
from scorewright.domain.detection import ITEM_PARAMETERS, is_config
from scorewright.domain.errors import EvaluatorError, ParamError
from scorewright.domain.json_value import JsonValue
from scorewright.domain.param import ConfigParam, ParamType
from scorewright.domain.signature import Diagnostic, Kind, ParamCall, Parameter, Signature
from scorewright.domain.suggestion import did_you_mean, name_list, quote

#: Names of the required parameter that receives the whole testcase in `trace_object`.
TESTCASE_NAMES = ("task", "testcase")

_TYPES: dict[str, ParamType] = {
    "str": "string",
    "int": "integer",
    "float": "float",
    "bool": "boolean",
    "list": "array",
    "List": "array",
    "Sequence": "array",
    "tuple": "array",
    "Tuple": "array",
}
_ANY_TYPE = ("Any", "object")
#: By kind, why a parameter can only be left at its default.
_KEEPS_DEFAULT: dict[Kind, str] = {
    "positional_only": "a parameter before the / that has a default always keeps it; move it behind the /",
    "destructured": "a parameter without a name always keeps its default, as no field can be mapped to it; "
    "name it, and take it apart in the first line of evaluate",
}


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter that is filled from the item."""

    name: str
    required: bool
    #: The code's own default where it is a literal, else None.
    default: JsonValue = None
    annotation: str | None = None


class Roles(msgspec.Struct, frozen=True, kw_only=True):
    """What each parameter is for."""

    variables: tuple[Variable, ...]
    params: tuple[ConfigParam, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def assign_roles(
    signature: Signature, convention: Convention, declared: Mapping[str, ConfigParam]
) -> Roles:
    """Say which parameters are variables and which are config params.

    Args:
        signature: The parsed signature; it fits the convention.
        convention: How `evaluate` is called.
        declared: The config params that a definition declares, by key.

    Raises:
        EvaluatorError: The author's: a declared config param is no parameter that can be set.
    """
    _check_declared(signature, convention, declared)
    variables: list[Variable] = []
    params: list[ConfigParam] = []
    diagnostics: list[Diagnostic] = []
    item_count = len(ITEM_PARAMETERS[convention])
    for index, parameter in enumerate(signature.parameters):
        if parameter.param is not None and index < max(1, item_count):
            diagnostics.append(
                _at(parameter, "error", "bad_param", _from_item_text(parameter.name))
            )
        elif index >= item_count and keeps_default(parameter):
            message = _KEEPS_DEFAULT[parameter.kind]
            diagnostics.append(_at(parameter, "warning", "keeps_default", message))
        elif _takes_config(index, parameter, convention, declared):
            try:
                param, warning = _config_param(parameter, declared.get(parameter.name))
            except ParamError as error:
                diagnostics.append(_at(parameter, "error", "bad_param", str(error)))
                continue
            params.extend([param] if param is not None else [])
            diagnostics.extend([warning] if warning is not None else [])
        elif index > 0 or convention is not Convention.LEGACY_CORRECT_ANSWER:
            variables.append(_variable(parameter))
    return Roles(variables=tuple(variables), params=tuple(params), diagnostics=tuple(diagnostics))


def keeps_default(parameter: Parameter) -> bool:
    """Whether a parameter can only be left at its default, since it can be passed by position alone."""
    return parameter.kind in _KEEPS_DEFAULT and not parameter.required


def is_testcase(index: int, parameter: Parameter, convention: Convention) -> bool:
    """Whether a parameter receives the whole testcase."""
    after_first = convention is Convention.TRACE_OBJECT and index > 0
    return after_first and parameter.required and parameter.name in TESTCASE_NAMES


def _variable(parameter: Parameter) -> Variable:
    return Variable(
        name=parameter.name,
        required=parameter.required,
        default=None if parameter.default is msgspec.UNSET else parameter.default,
        annotation=parameter.annotation,
    )


def _check_declared(
    signature: Signature, convention: Convention, declared: Mapping[str, ConfigParam]
) -> None:
    names = [p.name for p in signature.parameters]
    reserved = names[: max(1, len(ITEM_PARAMETERS[convention]))]
    for key in declared:
        if key not in names:
            near = did_you_mean(key, names)
            raise EvaluatorError(
                f"params: evaluate has no parameter {quote(key)}{near}; it has {name_list(names)}"
            )
        if key in reserved:
            raise EvaluatorError(f"params: {_from_item_text(key)}; declare another one")


def _from_item_text(name: str) -> str:
    return f"parameter {quote(name)} is filled from the item and cannot be a config param"


def _takes_config(
    index: int, parameter: Parameter, convention: Convention, declared: Mapping[str, ConfigParam]
) -> bool:
    if index < len(ITEM_PARAMETERS[convention]):
        return False
    if is_config(parameter, declared):
        return True
    return convention is Convention.TRACE_OBJECT and not is_testcase(index, parameter, convention)


def _config_param(
    parameter: Parameter, declared: ConfigParam | None
) -> tuple[ConfigParam | None, Diagnostic | None]:
    """Return the config param (None when nobody can set it) and what its author should know."""
    if declared is not None:
        own = parameter.default if declared.default is msgspec.UNSET else declared.default
        required = declared.required or parameter.required
        return msgspec.structs.replace(declared, default=own, required=required), None
    call = parameter.param or ParamCall(default=parameter.default, required=parameter.required)
    kind, values = _type_of(parameter.annotation, call)
    if kind is None:
        return None, _not_settable(parameter)
    optional = call.required is False and parameter.param is not None
    default = None if optional and call.default is msgspec.UNSET else call.default
    required = call.default is msgspec.UNSET if call.required is None else call.required
    param = ConfigParam(
        key=parameter.name,
        type="string" if kind == "unknown" else kind,
        description=call.description,
        default=default,
        required=required,
        min=call.min,
        max=call.max,
        values=values,
    )
    return param, _type_unknown(parameter) if kind == "unknown" else None


def _type_of(
    annotation: str | None, call: ParamCall
) -> tuple[ParamType | Literal["unknown"] | None, tuple[str | int | float, ...]]:
    """Return type and allowed values by annotation, or else by the default; None for a type there is not."""
    if call.enum:
        return "enum", call.enum
    named = read_type(annotation)
    if named is None or named.name in _ANY_TYPE:
        return _type_of_default(call.default), ()
    if named.name == "Literal":
        values = [v for v in literal_values(named.inner) if isinstance(v, str | int | float)]
        return "enum", tuple(v for v in values if not isinstance(v, bool))
    return _TYPES.get(named.name), ()


def _type_of_default(
    default: JsonValue | msgspec.UnsetType,
) -> ParamType | Literal["unknown"] | None:
    match default:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "float"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return None
        case _:
            return "unknown"


def _not_settable(parameter: Parameter) -> Diagnostic:
    message = (
        f"parameter {quote(parameter.name)} has a type that no config param has; "
        "use str, int, float, bool, list or Literal"
    )
    if parameter.required:
        return _at(parameter, "error", "bad_param", message)
    message += ", or leave it at its default, as it is now"
    return _at(parameter, "warning", "keeps_default", message)


def _type_unknown(parameter: Parameter) -> Diagnostic:
    message = (
        f"the type of config param {quote(parameter.name)} cannot be told, so its values are text; "
        "annotate it with str, int, float, bool, list or Literal"
    )
    return _at(parameter, "warning", "param_type_unknown", message)


def _at(parameter: Parameter, severity: str, code: str, message: str) -> Diagnostic:
    return Diagnostic(
        severity="error" if severity == "error" else "warning",
        code=code,
        message=message,
        line=parameter.line,
        column=parameter.column,
    )
