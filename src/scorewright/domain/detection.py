"""Decide how an author's `evaluate` is called, from its signature alone. Source: contracts §2."""

from __future__ import annotations

from collections.abc import Collection

from scorewright.domain.annotation import read_type
from scorewright.domain.convention import Convention, Level
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.signature import Parameter, Signature
from scorewright.domain.source_language import LANGUAGE_TITLES
from scorewright.domain.suggestion import name_list

#: The parameters that are filled from the item by position, whatever the author calls them.
ITEM_PARAMETERS: dict[Convention, tuple[str, ...]] = {
    Convention.VARIABLES: (),
    Convention.INPUTS_OUTPUTS_TRACE: ("inputs", "outputs", "trace"),
    Convention.LEGACY_SCORE: ("inputs", "outputs", "trace"),
    Convention.LEGACY_CORRECT_ANSWER: ("app_params", "inputs", "output", "correct_answer"),
    Convention.TRACE_OBJECT: ("trace",),
}
#: Where a further parameter without a default would get no value.
_CLOSED = (
    Convention.INPUTS_OUTPUTS_TRACE,
    Convention.LEGACY_SCORE,
    Convention.LEGACY_CORRECT_ANSWER,
)
_LEVEL_TYPES = {"Trace": Level.TRACE, "AgentTrace": Level.AGENT, "LLMSpan": Level.LLM}
_LEVEL_NAMES = {"trace": Level.TRACE, "agent_trace": Level.AGENT, "llm_span": Level.LLM}


def detect(signature: Signature, *, declared: Collection[str] = ()) -> Convention:
    """Return the convention a signature is written for.

    Args:
        signature: The parsed signature.
        declared: Keys of the config params a definition declares; they take no part in the decision.
    """
    parameters = [p for p in signature.parameters if not is_config(p, declared)]
    names = tuple(p.name for p in parameters if p.kind != "keyword_only")
    if len(names) == len(parameters) and names == ITEM_PARAMETERS[Convention.LEGACY_CORRECT_ANSWER]:
        return Convention.LEGACY_CORRECT_ANSWER
    first = signature.parameters[:1]
    if not _is_script(signature) and first and _takes_trace_object(first[0], parameters):
        return Convention.TRACE_OBJECT
    wanted = ITEM_PARAMETERS[Convention.INPUTS_OUTPUTS_TRACE]
    if len(names) == len(parameters) and names == wanted:
        return Convention.INPUTS_OUTPUTS_TRACE
    # A config param would stand where one that is left out is passed.
    may_leave_out = _is_script(signature) and len(names) == len(signature.parameters) > 0
    if may_leave_out and names == wanted[: len(names)]:
        return Convention.INPUTS_OUTPUTS_TRACE
    return Convention.VARIABLES


def _is_script(signature: Signature) -> bool:
    """Whether trailing parameters may be left out, since a call that passes more is no mistake."""
    return signature.language != "python"


def choose_convention(
    signature: Signature, wanted: Convention | None, *, declared: Collection[str] = ()
) -> Convention:
    """Return the wanted convention where the signature fits it, the detected one where none is wanted.

    Raises:
        EvaluatorError: The caller's: the signature cannot be called that way.
    """
    if wanted is None:
        return detect(signature, declared=declared)
    needed = ITEM_PARAMETERS[wanted]
    _check_language(signature, wanted)
    first, rest = signature.parameters[: len(needed)], signature.parameters[len(needed) :]
    fits = len(first) == len(needed) or (_is_script(signature) and len(first) > 0)
    if wanted in _CLOSED:
        fits = fits and all(p.kind != "keyword_only" for p in first)
        fits = fits and all(is_config(p, declared) or not p.required for p in rest)
    if fits:
        return wanted
    rest_rule = " and a default for any further one" if wanted in _CLOSED else ""
    count = f"1 to {len(needed)}" if _is_script(signature) else str(len(needed))
    raise EvaluatorError(
        f"convention {wanted} calls evaluate({', '.join(needed)}) by position, so it needs "
        f"{count} positional parameter{'s'[: len(needed) != 1]}{rest_rule}; "
        f"it has {name_list(p.name for p in signature.parameters)}: "
        "change the signature, or choose another convention"
    )


def _check_language(signature: Signature, wanted: Convention) -> None:
    if _is_script(signature) and wanted is Convention.TRACE_OBJECT:
        raise EvaluatorError(
            f"convention trace_object is for Python only, and this is {LANGUAGE_TITLES[signature.language]}; "
            "name the parameters inputs, outputs and trace: the trace arrives as an object"
        )


def choose_level(signature: Signature, convention: Convention, wanted: Level | None) -> Level:
    """Return what one call sees: a trace, an agent or an LLM span for `trace_object`, else a record.

    Raises:
        EvaluatorError: The caller's: another level is wanted than the evaluator is written for.
    """
    if convention is not Convention.TRACE_OBJECT:
        if wanted not in (None, Level.RECORD):
            raise EvaluatorError(
                f"level {wanted} needs the convention trace_object; convention {convention} sees records"
            )
        return Level.RECORD
    first = signature.parameters[0]
    annotated = _level_by_annotation(first)
    if wanted is Level.RECORD or (wanted and annotated and wanted is not annotated):
        raise EvaluatorError(
            f'level {wanted} does not fit parameter "{first.name}"'
            f"{f' of type {first.annotation}' if annotated else ''}; "
            "convention trace_object sees a trace (Trace), an agent (AgentTrace) or an LLM span (LLMSpan)"
        )
    return wanted or annotated or _LEVEL_NAMES.get(first.name, Level.TRACE)


def is_config(parameter: Parameter, declared: Collection[str]) -> bool:
    """Whether a parameter is a config param in every convention: declared, or a `Param(...)`."""
    return parameter.param is not None or parameter.name in declared


def _takes_trace_object(first: Parameter, mapped: list[Parameter]) -> bool:
    if first.annotation is not None:
        return _level_by_annotation(first) is not None
    return first.name in _LEVEL_NAMES and [p for p in mapped if p.required] == [first]


def _level_by_annotation(parameter: Parameter) -> Level | None:
    named = read_type(parameter.annotation)
    return _LEVEL_TYPES.get(named.name) if named is not None and not named.inner else None
