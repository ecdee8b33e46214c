"""What a stranger reads first in openapi.json: all that holds for more than one operation."""

from __future__ import annotations

from typing import Final

INTRODUCTION: Final = """\
Scorewright runs evaluators of LLM applications in a sandbox, over stored data, and keeps their results.

## Addresses and keys
Paths are relative to the server, such as `http://127.0.0.1:8321`. Send an API key with every request: `Authorization: Bearer KEY`. The server prints a first key, \
which may do everything, as `token` of its login link; `create_api_key` makes others. A key has scopes: `read` for GET, `ingest` to send traces and logs, \
`write` for these and to change what a project has, `admin` for all, with keys, the audit and new projects. Browsers have a session in a cookie instead (`log_in`).

Everything belongs to a *project*, named in the path by its name or id. Each server has one named `default`. A key is for one project, or for all.
Evaluators, datasets and tasks are addressed by name (in any letter case) or id.

## From data to results
1. Data: `upload_dataset` or `create_dataset`; or send traces with `export_traces`, to which any OpenTelemetry SDK or collector can be pointed.
2. Look: `sample_source` shows items, `list_source_fields` the fields that variables can be mapped to.
3. An evaluator: start from `list_evaluator_templates`, or from what an AI assistant makes of `get_copilot_prompt`; `parse_evaluator` lists its variables and params, \
`check_evaluator` its mistakes, `preview_evaluators` tries it on a few items without saving it, `create_evaluator` saves it.
4. `create_task` says which evaluators judge which source, `start_run` makes a run of it, `watch_run` or `get_run` tells its progress.
5. `summarise_run`, `list_run_results`, `list_run_items`, `list_run_distributions`, `export_run_results`; `repeat_run` does all of it, or what failed, again.

## Requests
- **Lists** come in pages: send `next_cursor` of one as `cursor` of the next, with the same other parameters, until it is null. Names of list parameters are repeated: `tag=a&tag=b`.
- **Edits**: what can be changed is answered with an `ETag`. Send it back as `If-Match`, or `*` for whatever is there. Without it the answer is 428; 412 when it was changed meanwhile: read it again.
- **Sent twice**: a POST that has the parameter `Idempotency-Key` is done once for each key, whoever lost the answer: the same again within 24 hours is answered as before, another request with the key is refused.
- **Errors** are `application/problem+json` (RFC 9457): `detail` says what is wrong and what to do, `errors` has a JSON pointer into the body, or the name of a parameter, for each wrong part. \
429 and 503 say in `Retry-After` how many seconds to wait. Each answer has an `X-Request-Id`, which the server's log has too.
- **Limits** that operators have not changed: a JSON body 32 MiB, an upload 1 GiB (4 GiB unpacked, 10,000,000 rows), a request with spans 16 MiB as it is sent and 64 MiB unpacked, \
a source 1 MiB. Beyond them the answer is 413.
- **Times** are ISO 8601 with a zone; of a window, `from` is the first moment and `to` the first one no more.
- Deleting an evaluator, a dataset or a task can be taken back; its name stays taken, and results stay.

## Evaluators
An evaluator is code in `python`, `javascript` or `typescript` that defines a function `evaluate`, and uses the standard library only. Its *convention* says how it is called; it is detected from the parameters:

| Convention | Parameters | Returns |
|---|---|---|
| `variables` | any names: each is a *variable* | an object with `score` (any number) and `explanation`; other keys become metrics |
| `inputs_outputs_trace` | exactly `inputs, outputs, trace` | a number from 0 to 1, a bool (the verdict), or an object of metrics, where `score`, `success` and `explanation` are the score, the verdict and the explanation |
| `trace_object` | a first one annotated `Trace`, `AgentTrace` or `LLMSpan` (or named `trace`, `agent_trace`, `llm_span`); the others are config params | `EvalResult(score=0.5, explanation="why")` |
| `legacy_score` | `inputs, outputs, trace`; never detected | one number |
| `legacy_correct_answer` | exactly `app_params, inputs, output, correct_answer` | one number |

All may skip an item that they do not apply to: `EvalResult.skip("why")` or `{"skip": "why"}`. Code that raises, hangs or returns anything else makes the item `failed`, never a score. \
Objects inside objects are metrics with dotted names: `{"tone": {"polite": 0.9}}` is `tone.polite`; a dot of a key is written `\\.`. JavaScript may end in `module.exports = evaluate`.
A score of at least the *threshold* passes. A *score range* is `[lowest, highest]`; the normalised score is the score mapped from it to 0–1. Without a declared one, `variables` has none, the others have `[0, 1]`.

A parameter without a default is a required variable. *Config params* are set by a person for a whole run: those declared in `params`, those whose default is `Param(…)`, and all but the first of `trace_object`.

## Mappings
A mapping says for a variable where its value comes from. What is not mapped is found by name: the field of the same name; for `input`, `output`, `inputs` and `outputs` the item's question and answer. A mapping's value is the first of these that fits:
1. the name of a field, as `list_source_fields` lists it, dots included: `trace.tool_context`, or a column;
2. a constant: any JSON value that is no text, or a text that is JSON, such as `"0.5"`, `"null"` or (with its own quotes) `"\\"Paris\\""`;
3. a path that begins with a field: a name, then any of `.name`, `[index]` (negative: from the end) and `["any key"]`, as in `trace.output.items[0]["unit price"]`.

A required variable without a field is refused before anything runs; a field that one item lacks makes that item failed (`mapping_error`); an optional variable then keeps the code's default.

## Filters
A filter is an expression over the same fields: `score < 0.5`, `meta.lang = "de" and not output contains "sorry"`, `trace.metrics.total_duration_ms > 2s`, `status in ("failed", null)`, `created >= 2026-01-01`.
```text
expression   = conjunction { "or" conjunction }
conjunction  = negation { "and" negation }
negation     = "not" negation | "(" expression ")" | condition
condition    = field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) constant
             | field [ "not" ] "in" "(" constant { "," constant } ")"
             | field [ "not" ] "contains" constant
             | field [ "not" ] "matches" text
             | field [ "not" ] "exists"
```
Constants are texts in double or single quotes, numbers, `true`, `false`, `null`, durations (`250ms`, `1.5s`, `3m`) and times (`2026-01-31T10:00:00Z`, `2026-01-31`). A field is a column or a path; one with blanks or signs in it stands in brackets: `["unit price"]`. \
`contains` looks for a part of a text or an element of a list; `matches` compares with a pattern, `*` for any characters and `?` for one. A condition holds or does not: what cannot be read as the constant's type equals nothing, \
and `not` of it holds. `x = null` holds for null and for absent fields, `x exists` for all that are there.
"""
