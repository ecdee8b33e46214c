"""Decide, once per run, where each argument of `evaluate` comes from. Source: contracts §2."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NoReturn

import msgspec
from msgspec.structs import replace

from scorewright.domain.binding import Argument, Plan
from scorewright.domain.convention import Convention
from scorewright.domain.detection import ITEM_PARAMETERS
from scorewright.domain.errors import MappingError, ParamError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.item_shape import ItemShape, Role
from scorewright.domain.json_value import JsonValue
from scorewright.domain.param import settle_values
from scorewright.domain.signature import Parameter
from scorewright.domain.suggestion import did_you_mean, name_list, nearest_name, quote
from scorewright.domain.variable import is_testcase, keeps_default

_MAX_OPTIONS = 5


def plan_arguments(
    evaluator: Evaluator,
    *,
    shape: ItemShape,
    mapping: Mapping[str, JsonValue] | None = None,
    params: Mapping[str, JsonValue] | None = None,
) -> Plan:
    """Say where every argument comes from, for all items of a run.

    Args:
        evaluator: What is to be called.
        shape: What the items offer.
        mapping: Variable to field or constant; goes before the definition's own and before the names.
        params: Config param to value, typed or as text.

    Returns:
        The arguments, positional ones first, both in the signature's order.

    Raises:
        MappingError: The caller's: a required variable finds no field, or the mapping names what is not there.
        ParamError: The caller's: a config param's value does not fit, or a required one is missing.
    """
    run = _Run(
        evaluator=evaluator,
        shape=shape,
        mapping={**evaluator.mapping, **(mapping or {})},
        values=settle_values(evaluator.params, params or {}),
    )
    _refuse_unknown(run)
    found = [(p, _argument(run, i, p)) for i, p in enumerate(evaluator.signature.parameters)]
    unmapped = [p.name for p, argument in found if argument is None and p.required]
    if unmapped:
        _refuse_unmapped(run, unmapped)
    arguments = [argument for _, argument in found if argument is not None]
    return tuple(sorted(arguments, key=lambda argument: argument.keyword))


class _Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a plan is made from."""

    evaluator: Evaluator
    shape: ItemShape
    mapping: Mapping[str, JsonValue]
    #: Values of the config params.
    values: Mapping[str, JsonValue]


def _argument(run: _Run, index: int, parameter: Parameter) -> Argument | None:
    """Return where one parameter's value comes from; None leaves it at the code's own default."""
    convention = run.evaluator.convention
    item_parameters = ITEM_PARAMETERS[convention]
    from_item = index < len(item_parameters)
    # Parameters without a default come first and are always given: by position is quicker to bind.
    by_position = parameter.kind != "keyword_only" and (from_item or parameter.required)
    argument = Argument(
        name=parameter.name,
        how="field",
        required=by_position or parameter.required,
        keyword=not by_position,
        position=index,
    )
    if not from_item and keeps_default(parameter):
        return None
    if any(param.key == parameter.name for param in run.evaluator.params):
        return _param_argument(run, parameter, argument)
    if parameter.name in run.mapping and not _is_own_column(run, index, parameter.name):
        return _mapped_argument(run, argument)
    if is_testcase(index, parameter, convention):
        return _filled(run, "testcase", argument)
    if convention is Convention.TRACE_OBJECT and not from_item:
        return None
    return _default_argument(run, item_parameters[index] if from_item else parameter.name, argument)


def _param_argument(run: _Run, parameter: Parameter, argument: Argument) -> Argument | None:
    """Pass a config param, unless its value is the default that the code has anyway."""
    if parameter.name not in run.values:
        return None
    value = run.values[parameter.name]
    if value == parameter.default:
        return None
    return replace(argument, how="constant", value=value)


def _is_own_column(run: _Run, index: int, name: str) -> bool:
    """Whether `inputs` or `trace` is mapped to the column it would be read from anyway: read it the same way."""
    roles = ITEM_PARAMETERS[run.evaluator.convention]
    role = roles[index] if index < len(roles) else None
    return role in ("inputs", "trace") and run.mapping[name] == role


def _mapped_argument(run: _Run, argument: Argument) -> Argument:
    value = run.mapping[argument.name]
    if not isinstance(value, str):
        return replace(argument, how="constant", value=value)
    shape = run.shape
    if shape.fields is not None and value in shape.fields:
        return replace(argument, paths=(shape.fields[value],))
    if value in shape.wholes:
        filling = shape.wholes[value]
        return replace(argument, how=filling.how, paths=filling.paths)
    try:
        return replace(argument, how="constant", value=msgspec.json.decode(value))
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        path = shape.read_path(value)
    except MappingError as error:
        raise MappingError(f"mapping: variable {quote(argument.name)}: {error}") from None
    if (reason := shape.reason_against(path)) is not None:
        _refuse_field(run, argument.name, reason, shape.top_of(path), value)
    return replace(argument, paths=(path,))


def _default_argument(run: _Run, role: str, argument: Argument) -> Argument | None:
    """Find a variable's field by its name. Source: contracts §2, "Default mapping by name"."""
    match role:
        case "trace" if run.evaluator.convention is Convention.TRACE_OBJECT:
            return replace(argument, how=run.shape.objects[run.evaluator.level])
        case "inputs" | "trace":
            return _filled(run, role, argument)
        case "app_params":
            if run.evaluator.convention is Convention.LEGACY_CORRECT_ANSWER:
                return replace(argument, how="constant", value={})
        case "correct_answer":
            if run.evaluator.convention is Convention.LEGACY_CORRECT_ANSWER:
                role = run.evaluator.correct_answer_key
        case _:
            pass
    paths = run.shape.paths_of(role)
    return replace(argument, paths=paths) if paths else None


def _filled(run: _Run, role: Role, argument: Argument) -> Argument | None:
    """Fill a role; None where the items have nothing to fill it with."""
    filling = run.shape.roles.get(role)
    return None if filling is None else replace(argument, how=filling.how, paths=filling.paths)


def _refuse_unknown(run: _Run) -> None:
    names = [variable.name for variable in run.evaluator.variables]
    params = [param.key for param in run.evaluator.params]
    if run.evaluator.convention is Convention.TRACE_OBJECT:
        names = names[1:]
    for name in run.mapping:
        if name in names:
            continue
        if name in params:
            raise MappingError(
                f"mapping: {quote(name)} is a config param, not a variable; "
                f"set it with --param {name}=VALUE"
            )
        near = did_you_mean(name, names)
        raise MappingError(
            f"mapping: {run.evaluator.name} has no variable {quote(name)} to map{near}; "
            f"there are: {name_list(names)}"
        )


def _refuse_unmapped(run: _Run, unmapped: Sequence[str]) -> NoReturn:
    shape = run.shape
    options = [
        f"--map {name}={nearest_name(name, shape.names) or shape.word.upper()}" for name in unmapped
    ]
    several = len(unmapped) > 1
    raise MappingError(
        f"mapping: variable{'s' if several else ''} {name_list(unmapped)} "
        f"{'are' if several else 'is'} required but unmapped in {run.evaluator.name} "
        f"({shape.word}s: {name_list(shape.names)}); map a field ({' '.join(options[:_MAX_OPTIONS])}) "
        f"or give it a default"
    )


def _refuse_field(run: _Run, name: str, reason: str, asked: str, value: str) -> NoReturn:
    shape = run.shape
    raise MappingError(
        f"mapping: variable {quote(name)}: {reason}"
        f"{did_you_mean(asked, shape.names)} ({shape.word}s: {name_list(shape.names)}); name one of them, "
        f"or for the text itself write it in double quotes (--map '{name}={quote(value)}')"
    )


class Assignment(msgspec.Struct, frozen=True):
    """One `--map` or `--param` option."""

    option: Literal["--map", "--param"]
    #: The evaluator it is for; None: every one that has such a variable or param.
    evaluator: str | None
    #: The variable or param.
    name: str
    #: The field, constant or value; text from the command line is as written.
    value: JsonValue


def parse_map_option(text: str, evaluators: Collection[str]) -> Assignment:
    """Read `[EVALUATOR.]VARIABLE=FIELD`.

    Raises:
        MappingError: The caller's: it has another form, or names no evaluator of this run.
    """
    return _parse_option("--map", text, evaluators)


def parse_param_option(text: str, evaluators: Collection[str]) -> Assignment:
    """Read `[EVALUATOR.]KEY=VALUE`.

    Raises:
        ParamError: The caller's: it has another form, or names no evaluator of this run.
    """
    return _parse_option("--param", text, evaluators)


def share_assignments(
    assignments: Iterable[Assignment], evaluators: Sequence[Evaluator]
) -> dict[str, dict[str, JsonValue]]:
    """Return, by evaluator name, what is assigned to each variable, or to each config param.

    One without an evaluator's name goes to all that have such a variable or param; one with a name
    goes before it.

    Args:
        assignments: Options of one kind.
        evaluators: All evaluators of the run.

    Raises:
        MappingError, ParamError: The caller's: no evaluator has it, or it is given twice.
    """
    general: dict[str, dict[str, JsonValue]] = {e.name: {} for e in evaluators}
    special: dict[str, dict[str, JsonValue]] = {e.name: {} for e in evaluators}
    for assignment in assignments:
        if assignment.evaluator is not None:
            _put(special[assignment.evaluator], assignment)
            continue
        owners = [e for e in evaluators if assignment.name in _names(e, assignment.option)]
        if not owners:
            known = [name for e in evaluators for name in _names(e, assignment.option)]
            what = "variable" if assignment.option == "--map" else "config param"
            raise _error(assignment.option)(
                f"{assignment.option}: no evaluator has a {what} {quote(assignment.name)}"
                f"{_other_option(assignment, evaluators)}{did_you_mean(assignment.name, known)}; "
                f"there are: {name_list(dict.fromkeys(known))}"
            )
        for evaluator in owners:
            _put(general[evaluator.name], assignment)
    return {name: {**general[name], **special[name]} for name in general}


def _other_option(assignment: Assignment, evaluators: Sequence[Evaluator]) -> str:
    """Say so where the name is a config param that was mapped, or a variable that was set."""
    other = "--param" if assignment.option == "--map" else "--map"
    if any(assignment.name in _names(e, other) for e in evaluators):
        return f" (set it with {other} {assignment.name}=…)"
    return ""


def _put(place: dict[str, JsonValue], assignment: Assignment) -> None:
    if assignment.name in place:
        raise _error(assignment.option)(
            f"{assignment.option}: {quote(assignment.name)} is given twice; remove one"
        )
    place[assignment.name] = assignment.value


def _names(evaluator: Evaluator, option: str) -> list[str]:
    if option == "--param":
        return [param.key for param in evaluator.params]
    return [variable.name for variable in evaluator.variables]


def _error(option: str) -> type[MappingError | ParamError]:
    return MappingError if option == "--map" else ParamError


def _parse_option(
    option: Literal["--map", "--param"], text: str, evaluators: Collection[str]
) -> Assignment:
    target, equals, value = text.partition("=")
    evaluator, dot, name = target.strip().rpartition(".")
    if not equals or not name.isidentifier():
        form = "VARIABLE=FIELD" if option == "--map" else "KEY=VALUE"
        raise _error(option)(f"{option}: {quote(text)} is no [EVALUATOR.]{form}; write it so")
    if dot and evaluator not in evaluators:
        near = did_you_mean(evaluator, evaluators)
        raise _error(option)(
            f"{option}: there is no evaluator {quote(evaluator)}{near}; "
            f"there are: {name_list(evaluators)}"
        )
    return Assignment(option, evaluator if dot else None, name, value)
