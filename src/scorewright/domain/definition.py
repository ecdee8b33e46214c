"""An evaluator definition: what a YAML file says about an evaluator beside its source."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, TypeVar, get_args

import msgspec

from scorewright.domain.convention import Convention, Level
from scorewright.domain.errors import EvaluatorError, ParamError
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.param import PARAM_TYPES, ConfigParam
from scorewright.domain.source_language import LANGUAGES, Language
from scorewright.domain.suggestion import did_you_mean, name_list, quote

MAX_DISPLAY_NAME_CHARS = 128
MAX_DESCRIPTION_CHARS = 512
EvaluatorType: TypeAlias = Literal["code", "llm_judge", "agent_judge", "builtin"]
_TYPES: Final[tuple[EvaluatorType, ...]] = get_args(EvaluatorType)
#: Longest prompt of a judge.
MAX_PROMPT_CHARS: Final = 100_000
#: What only a judge has; each but the prompt is the default of a param.
_JUDGE_KEYS: Final = (
    "prompt",
    "model",
    "temperature",
    "criteria",
    "max_tokens",
    "max_retries",
    "skip_empty_output",
)
_Choice = TypeVar("_Choice", Convention, Level)


class Definition(msgspec.Struct, frozen=True, kw_only=True):
    """What an author decides about an evaluator; an empty field is decided by its source."""

    type: EvaluatorType = "code"
    name: str | None = None
    display_name: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    convention: Convention | None = None
    level: Level | None = None
    params: tuple[ConfigParam, ...] = ()
    #: Lowest and highest score; checked where the evaluator is made, like the threshold.
    score_range: JsonValue = None
    threshold: JsonValue = None
    #: The source file, relative to the definition's own.
    source: str | None = None
    #: What the source is written in; else its file's ending says so.
    language: Language | None = None
    #: Variable to field or constant.
    mapping: dict[str, JsonValue] = {}
    #: `legacy_correct_answer` only: the column that holds the right answer.
    correct_answer_key: str = "correct_answer"
    #: Of a judge: what its author asks of a model, with placeholders.
    prompt: str | None = None
    #: Of a judge: the defaults of the params that every judge has, as given.
    judge_defaults: dict[str, JsonValue] = {}


_KEYS = (
    *(name for name in Definition.__struct_fields__ if name not in ("prompt", "judge_defaults")),
    *_JUDGE_KEYS,
)


def parse_definition(text: str) -> Definition:
    """Read a definition from YAML. A key whose value is null counts as absent.

    Raises:
        EvaluatorError: The author's: it is no YAML, a key is unknown, or a value does not fit.
    """
    from scorewright.domain.yaml_document import load_yaml

    return read_definition(load_yaml(text))


def read_definition(given: JsonObject) -> Definition:
    """Read a definition from a JSON object. A key whose value is null counts as absent.

    Raises:
        EvaluatorError: The author's: a key is unknown, or a value does not fit.
        ParamError: The author's: a config param contradicts itself.
    """
    document: JsonObject = {key: value for key, value in given.items() if value is not None}
    for key in document:
        if key not in _KEYS:
            near = did_you_mean(key, _KEYS)
            raise EvaluatorError(
                f"definition: unknown key {quote(key)}{near}; use {name_list(_KEYS)}"
            )
    kind = _type(document)
    return Definition(
        type=kind,
        name=_text(document, "name"),
        display_name=_text(document, "display_name", max_chars=MAX_DISPLAY_NAME_CHARS),
        description=_text(document, "description", max_chars=MAX_DESCRIPTION_CHARS) or "",
        tags=_tags(document.get("tags", [])),
        convention=_choice(document, "convention", Convention),
        level=_choice(document, "level", Level),
        params=_params(document.get("params", [])),
        score_range=document.get("score_range"),
        threshold=document.get("threshold"),
        source=_text(document, "source"),
        language=_language(document),
        mapping=_object(document.get("mapping", {}), "mapping"),
        correct_answer_key=_text(document, "correct_answer_key") or "correct_answer",
        prompt=_text(document, "prompt", max_chars=MAX_PROMPT_CHARS),
        judge_defaults={
            key: document[key] for key in _JUDGE_KEYS if key in document and key != "prompt"
        },
    )


def _type(document: JsonObject) -> EvaluatorType:
    given = document.get("type", "code")
    kind: EvaluatorType | None = next((known for known in _TYPES if known == given), None)
    if kind is None:
        near = did_you_mean(str(given), _TYPES)
        raise EvaluatorError(
            f"definition: no type {quote(str(given))}{near}; use {name_list(_TYPES)}"
        )
    if kind in ("agent_judge", "builtin"):
        raise EvaluatorError(
            f"definition: type {kind} is not supported by this version yet; use type code with a source, or llm_judge with a prompt"
        )
    others = ("source", "language", "convention") if kind == "llm_judge" else _JUDGE_KEYS
    for key in others:
        if key in document:
            other = "a judge has a prompt" if kind == "llm_judge" else "only type llm_judge has it"
            raise EvaluatorError(f"definition: {key} does not go with type {kind}: {other}")
    return kind


def _language(document: JsonObject) -> Language | None:
    value = document.get("language")
    for language in LANGUAGES:
        if value == language:
            return language
    if value is None:
        return None
    near = did_you_mean(str(value), LANGUAGES)
    raise EvaluatorError(
        f"definition: no language {quote(str(value))}{near}; use {name_list(LANGUAGES)}"
    )


def _text(document: JsonObject, key: str, *, max_chars: int | None = None) -> str | None:
    value = document.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise EvaluatorError(f"definition: {key} must be a text; put it in quotes")
    if max_chars is not None and len(value) > max_chars:
        raise EvaluatorError(
            f"definition: {key} has {len(value)} characters; shorten it to {max_chars}"
        )
    return value


def _choice(document: JsonObject, key: str, kind: type[_Choice]) -> _Choice | None:
    value = document.get(key)
    if value is None:
        return None
    known = [member.value for member in kind]
    if value not in known:
        near = did_you_mean(str(value), known)
        raise EvaluatorError(
            f"definition: no {key} {quote(str(value))}{near}; use {name_list(known)}"
        )
    return kind(value)


def _tags(value: JsonValue) -> tuple[str, ...]:
    tags = value if isinstance(value, list) else [None]
    texts = [tag for tag in tags if isinstance(tag, str) and tag.strip()]
    if len(texts) < len(tags):
        raise EvaluatorError("definition: tags must be a list of texts, as in [format, json]")
    return tuple(dict.fromkeys(texts))


def _params(value: JsonValue) -> tuple[ConfigParam, ...]:
    if not isinstance(value, list):
        raise EvaluatorError("definition: params must be a list, each with a key and a type")
    params: list[ConfigParam] = []
    for i, each in enumerate(value):
        try:
            param = _param(_object(each, f"params[{i}]"), f"params[{i}]")
        except (EvaluatorError, ParamError) as error:
            raise error.at(f"/params/{i}") from None
        if any(other.key == param.key for other in params):
            raise EvaluatorError(
                f"definition: param {quote(param.key)} is declared twice; remove one"
            ).at(f"/params/{i}")
        params.append(param)
    return tuple(params)


def _param(value: JsonObject, where: str) -> ConfigParam:
    for key in value:
        if key not in ConfigParam.__struct_fields__:
            near = did_you_mean(key, ConfigParam.__struct_fields__)
            fields = name_list(ConfigParam.__struct_fields__)
            raise EvaluatorError(
                f"definition: {where}: unknown key {quote(key)}{near}; use {fields}"
            )
    if isinstance(value.get("type"), str) and value["type"] not in PARAM_TYPES:
        near = did_you_mean(str(value["type"]), PARAM_TYPES)
        raise EvaluatorError(
            f"definition: {where}: no type {quote(str(value['type']))}{near}; use {name_list(PARAM_TYPES)}"
        )
    try:
        return msgspec.convert(value, ConfigParam)
    except msgspec.ValidationError as error:
        raise EvaluatorError(f"definition: {where}: {error}") from None


def _object(value: JsonValue, where: str) -> JsonObject:
    if not isinstance(value, dict):
        raise EvaluatorError(f"definition: {where} must be an object of keys and values")
    return value
