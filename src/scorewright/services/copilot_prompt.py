"""What to paste into an AI assistant to have an evaluator written: our words, and tables that the code itself goes by."""

from __future__ import annotations

import re
from typing import Final

from scorewright.domain.convention import Convention, Level
from scorewright.domain.detection import ITEM_PARAMETERS
from scorewright.domain.errors import UsageError
from scorewright.domain.refused_modules import REFUSED_MODULES
from scorewright.domain.source_language import LANGUAGE_TITLES, Language
from scorewright.domain.source_limits import MAX_SOURCE_BYTES
from scorewright.domain.variable import TESTCASE_NAMES
from scorewright.services.authoring_outline import first_class, outline
from scorewright.services.evaluator_templates import template

_RECORD_FIELDS: Final = """\
An item is a row of a dataset, or a recorded execution of the application. `inputs` is an object: what the application was \
given, or the whole row. `outputs` is its answer: text, or any JSON value."""
_TRACE_DICT: Final = """\
`trace` is what was recorded of the execution, or null (None) where nothing was: \
{"trace_id": …, "spans": {span_id: span}}. A span has `name`, `start_time`, `end_time`, `status_code` ("OK", "ERROR" or \
"UNSET"), `attributes` and `children` (spans like it, a list). The first of `spans` is the root. In \
`attributes["ag"]["data"]` are its `inputs` and `outputs`; in `attributes["ag"]["metrics"]["unit"]` are \
`duration.total` (seconds), `tokens.total`, `tokens.prompt`, `tokens.completion` and `costs.total` (dollars) of the span and \
all below it. What is unknown is left out, so read with a default."""
_SEEN: Final[dict[Convention, str]] = {
    Convention.VARIABLES: """\
Choose parameter names that say what each holds. A parameter without a default is required: whoever runs the evaluator has to \
map a field to it. One with a default keeps it where nothing is mapped. `output`, `input`, `expected`, `context` and `trace` \
are mapped by name. Values are JSON values: text, numbers, true and false, null, lists, objects.""",
    Convention.INPUTS_OUTPUTS_TRACE: f"{_RECORD_FIELDS} {_TRACE_DICT}",
    Convention.LEGACY_SCORE: f"{_RECORD_FIELDS} {_TRACE_DICT}",
    Convention.LEGACY_CORRECT_ANSWER: f"""\
{_RECORD_FIELDS} `app_params` is always an empty object. `output` is the answer; `correct_answer` is the column of the row that \
holds the right one.""",
    Convention.TRACE_OBJECT: f"""\
The first parameter is the object below. Every further parameter with a default is a setting that a person can change for a \
run; annotate it with str, int, float, bool, list or Literal. A required parameter named {" or ".join(TESTCASE_NAMES)} \
gets the row of the dataset. What is unknown is None, never 0; lists are empty where nothing is known.""",
}
_RETURNED: Final[dict[Convention, str]] = {
    Convention.VARIABLES: """\
An object with `score` (a number) and `explanation` (a text); both are required. Any other key is kept as a metric.""",
    Convention.INPUTS_OUTPUTS_TRACE: """\
One of: a number from 0 to 1, which is the score; true or false, which is the verdict; an object, whose keys are metrics, but \
for `score` (number), `success` (true or false) and `explanation` (text). Objects inside it become dotted names.""",
    Convention.LEGACY_SCORE: "One number from 0 to 1, and nothing else.",
    Convention.LEGACY_CORRECT_ANSWER: "One number from 0 to 1, and nothing else.",
    Convention.TRACE_OBJECT: """\
`EvalResult(score=…, explanation=…, passed=…)`: the score is a number from 0 (worst) to 1 (best), the other two may be left \
out; without `passed` the threshold decides.""",
}
_EXTENSIONS: Final[dict[Language, str]] = {
    "python": "python",
    "javascript": "js",
    "typescript": "ts",
}


def copilot_prompt(convention: Convention, language: Language, level: Level | None = None) -> str:
    """Write the text.

    Args:
        convention: How the evaluator is to be called.
        language: What it is to be written in.
        level: What one call sees; a trace for `trace_object`, a record for the others, unless said otherwise.

    Raises:
        UsageError: The caller's: the language has no such convention, or the convention no such level.
    """
    seen = _level(convention, level)
    example = template(convention, language).source
    parts = [
        (
            f"Write an evaluator in {LANGUAGE_TITLES[language]}: a function that judges one item of what an application "
            "built on language models did. Ask me what it is to judge if I have not said so, and which fields it can read."
        ),
        f"## How it is called\n{_signature(convention, language, seen)}\n{_SEEN[convention]}",
    ]
    if convention is Convention.TRACE_OBJECT:
        parts.append(f"## What it sees\n```python\n{outline(seen)}\n```")
        example = _for_level(example, seen)
    parts += [
        f"## What it returns\n{_returned(convention, language)}",
        f"## Rules\n{_rules(language)}",
        f"## An example\n```{_EXTENSIONS[language]}\n{example.rstrip()}\n```",
        (
            "## Your answer\nOne code block with the whole file, nothing left out. Say below it, in two sentences, what is "
            "judged and which fields have to be mapped."
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _level(convention: Convention, wanted: Level | None) -> Level:
    is_object = convention is Convention.TRACE_OBJECT
    level = wanted or (Level.TRACE if is_object else Level.RECORD)
    if is_object == (level is Level.RECORD):
        fitting = "trace, agent and llm" if is_object else "record alone"
        raise UsageError(f"level: convention {convention} has {fitting}, not {level}").at("level")
    return level


def _signature(convention: Convention, language: Language, level: Level) -> str:
    names = ", ".join(ITEM_PARAMETERS[convention]) or "…"
    if convention is Convention.TRACE_OBJECT:
        names = f"{_parameter(level)}: {first_class(level)}, …"
    where = "at the top level of the file"
    if language == "python":
        return f"`def evaluate({names})` {where}; `async def` is fine. Helpers may stand beside it."
    return (
        f"`function evaluate({names})` {where}, exported by `module.exports = evaluate` or `export`; "
        "`async` is fine. Helpers may stand beside it."
    )


def _returned(convention: Convention, language: Language) -> str:
    skip = '`EvalResult.skip("why")`' if language == "python" else '`{ skip: "why" }`'
    return (
        f"{_RETURNED[convention]}\nWhere it does not apply to the item, return {skip}: never a score of 0 for "
        "that. Never NaN, infinity, null, an empty object, a bare list, a date or a set. Return on every path; "
        "let errors be raised, and do not turn them into a score."
    )


def _rules(language: Language) -> str:
    rules = [
        (
            "The same item always gives the same result: no network, no files, no processes, no model calls. "
            "Random numbers and the clock are fixed."
        ),
        "Nothing is carried from one item to the next.",
        f"One file of at most {MAX_SOURCE_BYTES >> 20} MiB.",
    ]
    if language == "python":
        refused = ", ".join(sorted(name for name in REFUSED_MODULES if name[0] != "_"))
        rules += [
            f"Only Python's standard library, without {refused}.",
            "`EvalResult`, `Param`, `Trace`, `AgentTrace` and `LLMSpan` are there without an import.",
            (
                'A parameter whose default is `Param(3, "what it is", min=1)` is a setting that a person can change for a '
                "run; its arguments are literals."
            ),
            "No *args and **kwargs, and no yield in `evaluate`.",
        ]
    else:
        rules += [
            "No modules: no import and no require. No fetch, process, Buffer or timers that wait.",
            "Every parameter of `evaluate` has a name: no { a, b } and no ...rest.",
        ]
    return "\n".join(f"- {rule}" for rule in rules)


def _parameter(level: Level) -> str:
    return {Level.AGENT: "agent_trace", Level.LLM: "llm_span"}.get(level, "trace")


def _for_level(example: str, level: Level) -> str:
    """Write the example for another level: what it reads is there in each of them."""
    if level is Level.TRACE:
        return example
    what = "agent" if level is Level.AGENT else "model call"
    text = example.replace("one trace;", f"one {what};").replace("Trace,", f"{first_class(level)},")
    return re.sub(r"\btrace\b", _parameter(level), text)
