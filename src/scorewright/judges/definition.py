"""A judge out of its definition: the prompt is its source, and what may be set on every judge are params."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition
from scorewright.domain.errors import EvaluatorError, ParamError
from scorewright.domain.evaluator import Evaluator, SourceError, with_digest
from scorewright.domain.evaluator_name import check_name, slug
from scorewright.domain.param import ConfigParam
from scorewright.domain.score_range import settle_range, settle_threshold
from scorewright.domain.signature import Diagnostic, Parameter, Signature
from scorewright.domain.variable import Variable
from scorewright.judges.fields import LEVEL_OBJECTS, TASK, check_paths, roots_of
from scorewright.judges.template import Reading, Template, parse_template
from scorewright.runners.harness.protocol import Load

#: What every judge has; an author's own param of the same key takes its place. Source: amp seed, "LLM-Judge Evaluator".
_PARAMS: Final = (
    ConfigParam(
        key="model",
        type="string",
        description="Which model judges: connection/model",
        required=True,
    ),
    ConfigParam(
        key="temperature",
        type="float",
        description="0 for the likeliest words",
        default=0.0,
        min=0,
        max=2,
    ),
    ConfigParam(
        key="criteria", type="string", description="What to judge by, beside the prompt", default=""
    ),
    ConfigParam(
        key="max_tokens",
        type="integer",
        description="Longest reply",
        default=1024,
        min=16,
        max=100_000,
    ),
    ConfigParam(
        key="max_retries",
        type="integer",
        description="How often it is asked again after a reply that is no verdict",
        default=2,
        min=0,
        max=10,
    ),
    ConfigParam(
        key="skip_empty_output",
        type="boolean",
        description="Whether what has no output is skipped",
        default=True,
    ),
)


def build_judge(definition: Definition, *, origin: str) -> Evaluator:
    """Make a judge.

    Args:
        definition: Of type `llm_judge`.
        origin: Where it comes from, for messages.

    Raises:
        SourceError: The author's: something in the prompt cannot be filled; each with its line.
        EvaluatorError, ParamError: The author's: something else does not fit.
    """
    name = definition.name or slug(definition.display_name or "")
    check_name(name)
    prompt = (definition.prompt or "").replace("\r\n", "\n").replace("\r", "\n")
    if not prompt.strip():
        raise EvaluatorError("definition: a judge needs a prompt; say what to judge by").at(
            "/prompt"
        )
    level = definition.level or Level.TRACE
    if level not in LEVEL_OBJECTS:
        raise EvaluatorError(
            "definition: a judge sees a trace, an agent or an llm call; on a dataset, use level trace: "
            "{trace.input} and {trace.output} are its columns, and {task.name} is any of them"
        ).at("/level")
    params = _params(definition)
    reading = read(prompt, level, params)
    if any(one.severity == "error" for one in reading.diagnostics):
        raise SourceError(origin, reading.diagnostics)
    score_range = settle_range(definition.score_range, Convention.TRACE_OBJECT)
    variables = _variables(reading.template, level)
    return with_digest(
        Evaluator(
            name=name,
            origin=origin,
            source=prompt,
            signature=_signature(variables, params),
            convention=Convention.TRACE_OBJECT,
            level=level,
            variables=variables,
            params=params,
            score_range=score_range,
            threshold=settle_threshold(definition.threshold, score_range),
            digest="",
            display_name=definition.display_name,
            description=definition.description,
            tags=definition.tags,
            type=definition.type,
            mapping=definition.mapping,
            warnings=reading.diagnostics,
        )
    )


def read(prompt: str, level: Level, params: tuple[ConfigParam, ...]) -> Reading:
    """Read a prompt and check where its placeholders lead."""
    reading = parse_template(prompt, roots_of(level, params))
    found = [*reading.diagnostics, *check_paths(reading.template, level), *_advice(prompt)]
    found.sort(key=lambda one: (one.line, one.column))
    return Reading(reading.template, tuple(found))


def read_prompt(load: Load) -> Template:
    """Read the prompt of a judge that was checked, as workers are told of it."""
    return parse_template(load.source, [one.name for one in load.plan]).template


def _params(definition: Definition) -> tuple[ConfigParam, ...]:
    own = {param.key: param for param in definition.params}
    reserved = (TASK, *(name for name, _ in LEVEL_OBJECTS.values()))
    for at, param in enumerate(definition.params):
        if param.key in reserved:
            raise ParamError(
                f'param "{param.key}": placeholders of that name are filled from the item; choose another one'
            ).at(f"/params/{at}")
    common = [_with_default(param, definition) for param in _PARAMS if param.key not in own]
    return (*common, *definition.params)


def _with_default(param: ConfigParam, definition: Definition) -> ConfigParam:
    if param.key not in definition.judge_defaults:
        return param
    try:
        return msgspec.structs.replace(param, default=definition.judge_defaults[param.key])
    except ParamError as error:
        raise error.at(f"/{param.key}") from None


def _variables(template: Template, level: Level) -> tuple[Variable, ...]:
    root, kind = LEVEL_OBJECTS[level]
    variable = Variable(name=root, required=True, annotation=kind)
    if any(path.root == TASK for path, _ in template.paths):
        return variable, Variable(name=TASK, required=True)
    return (variable,)


def _signature(variables: tuple[Variable, ...], params: tuple[ConfigParam, ...]) -> Signature:
    """Return how code would be written that sees the same: items are then bound in one way for both."""
    from_item = [
        Parameter(
            name=one.name,
            kind="positional_or_keyword",
            required=True,
            annotation=one.annotation,
        )
        for one in variables
    ]
    set_by_hand = [Parameter(name=one.key, kind="keyword_only", required=False) for one in params]
    return Signature(
        parameters=(*from_item, *set_by_hand),
        reads_clock=False,
        may_keep_state=False,
    )


def _advice(prompt: str) -> list[Diagnostic]:
    """Say what a prompt better leaves out."""
    lowered = prompt.lower()
    told = next(
        (text for text in ('{"score"', "json object with", "respond in json") if text in lowered),
        None,
    )
    if told is None:
        return []
    return [
        Diagnostic(
            severity="warning",
            code="output_format",
            message="prompt: leave out how to reply; it is added automatically",
            line=prompt.count("\n", 0, lowered.index(told)) + 1,
        )
    ]
