"""One question to one model, whoever sells it: the words of pydantic-ai are spoken here and nowhere else.

Importing it takes a second and more, so that this happens in the thread that asks, while the run is being planned.
"""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, cast

import msgspec

from scorewright.domain.json_value import JsonObject
from scorewright.domain.suggestion import quote
from scorewright.judges.connection import Connection, key_variable

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

    #: A model, and what closes its connections.
    _Made: TypeAlias = tuple[Model[Any], Callable[[], Awaitable[None]] | None]

Role: TypeAlias = Literal["instructions", "user", "assistant"]
_TOO_OFTEN: Final = 429
#: Parameters that some models refuse: left out from the first refusal on.
_OPTIONAL: Final = ("temperature", "response_format", "json_schema")


class Turn(msgspec.Struct, frozen=True):
    """One message to a model."""

    role: Role
    text: str


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked, and how."""

    turns: Sequence[Turn]
    temperature: float | None
    max_tokens: int
    schema: JsonObject


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What came back."""

    text: str
    #: The model that answered, by its own account.
    model: str | None
    tokens_in: int | None
    tokens_out: int | None
    #: Of those that went in, read from the vendor's cache.
    cached_tokens: int = 0
    #: Whether it ended at `max_tokens`; whether the vendor held it back.
    is_cut: bool = False
    is_withheld: bool = False


class AskError(Exception):
    """A model gave no answer.

    Args:
        said: What happened, and what to do.
        is_passing: Whether it may well answer in a while.
        is_for_all: Whether every other question will meet with the same.
        retry_after_s: What the vendor asks to wait.
    """

    def __init__(
        self,
        said: str,
        *,
        is_passing: bool = False,
        is_for_all: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        self.is_passing = is_passing
        self.is_for_all = is_for_all
        self.retry_after_s = retry_after_s
        super().__init__(said)


class Asker(Protocol):
    """Asks one model."""

    async def ask(self, question: Question) -> Answer:
        """Ask, once.

        Raises:
            AskError: There is no answer.
        """
        ...

    async def close(self) -> None:
        """Let go of open connections."""
        ...


class ModelAsker:
    """Asks a model by pydantic-ai.

    Args:
        connection: Where it is.
        model: Its name there.

    Raises:
        AskError: What its vendor takes is not installed.
    """

    def __init__(self, connection: Connection, model: str) -> None:
        self._connection = connection
        self._name = model
        self._model, self._close = _make_model(connection, model)
        self._left_out: set[str] = set()

    async def ask(self, question: Question) -> Answer:
        """As in `Asker`."""
        from pydantic_ai.exceptions import AgentRunError, ModelAPIError, UserError

        left_out = frozenset(self._left_out)
        try:
            response = await self._model.request(
                _messages(question.turns), self._settings(question), self._parameters(question)
            )
        except ModelAPIError as error:
            if (refused := _refused(error, left_out)) is not None:
                self._left_out.add(refused)
                return await self.ask(question)
            raise self._as_ask_error(error) from None
        except (AgentRunError, UserError) as error:
            raise AskError(f"{self._place}: {_said(error)}") from None
        return _answer(response)

    async def close(self) -> None:
        """As in `Asker`."""
        if self._close is not None:
            await self._close()

    @property
    def _place(self) -> str:
        return f"{self._connection.name}/{self._name}"

    def _settings(self, question: Question) -> ModelSettings:
        settings: ModelSettings = {
            "max_tokens": question.max_tokens,
            "timeout": self._connection.timeout_s,
        }
        if question.temperature is not None and "temperature" not in self._left_out:
            settings["temperature"] = question.temperature
        return settings

    def _parameters(self, question: Question) -> ModelRequestParameters:
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition

        takes_schema = self._model.profile.get("supports_json_schema_output", False)
        if not takes_schema or self._left_out & {"response_format", "json_schema"}:
            return ModelRequestParameters()
        wanted = OutputObjectDefinition(
            json_schema=dict(question.schema), name="verdict", strict=True
        )
        return ModelRequestParameters(output_mode="native", output_object=wanted)

    def _as_ask_error(self, error: Exception) -> AskError:
        from pydantic_ai import exceptions as known

        place, said, name = self._place, _said(error), self._connection.name
        wait_s = getattr(error, "retry_after", None)
        match error:
            case known.ModelAuthenticationError():
                text = f"{place}: the key was refused; check {key_variable(name)} ({said})"
                return AskError(text, is_for_all=True)
            case known.ModelNotFoundError():
                return AskError(
                    f"{place}: there is no such model; check its name ({said})", is_for_all=True
                )
            case known.ModelContextWindowExceededError():
                text = f"{place}: the prompt is longer than the model takes; have it hold less, or use a model that takes more ({said})"
                return AskError(text)
            case known.ModelQuotaExceededError():
                text = f"{place}: the account has nothing left; look at it, then run this again ({said})"
                return AskError(text, is_for_all=True)
            case known.ModelConnectionError():
                return AskError(f"{place}: cannot be reached ({said})", is_passing=True)
            case known.ModelHTTPError(status_code=status) if (
                status == _TOO_OFTEN or status >= 500 or status == 408
            ):
                return AskError(f"{place}: {said}", is_passing=True, retry_after_s=wait_s)
            case _:
                return AskError(f"{place}: {said}")


def _refused(error: Exception, left_out: frozenset[str]) -> str | None:
    """Return the parameter that a model does not take, where it was sent and can be left out."""
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    said = str(getattr(error, "body", "")).lower()
    return next((name for name in _OPTIONAL if name in said and name not in left_out), None)


def _make_model(connection: Connection, name: str) -> _Made:
    """Make the library's model, whose vendor's package tries nothing again by itself: waiting is up to us."""
    # It warns of settings that a model does not take: these are ours, and left out by it.
    warnings.filterwarnings("ignore", category=UserWarning, module=r"pydantic_ai\b")
    try:
        match connection.kind:
            case "openai" | "azure":
                return _openai_model(connection, name)
            case "anthropic":
                sdk: Any = import_module("anthropic")  # an extra, which type checkers may not have
                from pydantic_ai.models.anthropic import AnthropicModel
                from pydantic_ai.providers.anthropic import AnthropicProvider

                anthropic: Any = sdk.AsyncAnthropic(
                    api_key=connection.key, base_url=connection.url or None, max_retries=0
                )
                provider = AnthropicProvider(anthropic_client=anthropic)
                return AnthropicModel(name, provider=provider), anthropic.close
            case "google":
                from pydantic_ai.models.google import GoogleModel
                from pydantic_ai.providers.google import GoogleProvider

                google = GoogleProvider(api_key=connection.key, base_url=connection.url or None)
                return GoogleModel(name, provider=google), None
            case "bedrock":
                from pydantic_ai.models.bedrock import BedrockConverseModel

                return BedrockConverseModel(name), None
    except ImportError as error:
        extra = connection.kind
        raise AskError(
            f"{connection.name}/{name}: {extra} needs a package that is not installed; install scorewright[{extra}] ({error})",
            is_for_all=True,
        ) from None


def _openai_model(connection: Connection, name: str) -> _Made:
    from openai import AsyncAzureOpenAI, AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.azure import AzureProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    key = connection.key or "none"  # a server of one's own may ask for none
    if connection.kind == "azure":
        version = connection.api_version or "2024-10-21"
        azure = AsyncAzureOpenAI(
            azure_endpoint=connection.url, api_key=key, api_version=version, max_retries=0
        )
        return OpenAIChatModel(name, provider=AzureProvider(openai_client=azure)), azure.close
    client = AsyncOpenAI(api_key=key, base_url=connection.url or None, max_retries=0)
    return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client)), client.close


def _messages(turns: Sequence[Turn]) -> list[ModelMessage]:
    from pydantic_ai.messages import (
        ModelRequest,
        ModelResponse,
        SystemPromptPart,
        TextPart,
        UserPromptPart,
    )

    messages: list[ModelMessage] = []
    for turn in turns:
        match turn.role:
            case "instructions":
                messages.append(ModelRequest(parts=[SystemPromptPart(turn.text)]))
            case "user":
                messages.append(ModelRequest(parts=[UserPromptPart(turn.text)]))
            case "assistant":
                messages.append(ModelResponse(parts=[TextPart(turn.text)]))
    return messages


def _answer(response: ModelResponse) -> Answer:
    usage = response.usage
    is_known = bool(
        usage.input_tokens or usage.output_tokens
    )  # it has zeros where nothing was said
    return Answer(
        text=response.text or "",
        model=response.model_name,
        tokens_in=usage.input_tokens if is_known else None,
        tokens_out=usage.output_tokens if is_known else None,
        cached_tokens=usage.cache_read_tokens,
        is_cut=response.finish_reason == "length",
        is_withheld=response.finish_reason == "content_filter",
    )


def _said(error: Exception) -> str:
    """Return what a vendor said, bounded; its texts do not hold keys, bodies of requests neither."""
    body: Any = getattr(error, "body", None)
    status = getattr(error, "status_code", None)
    message: object = body or error
    if isinstance(body, dict):
        message = cast("dict[str, object]", body).get("message") or message
    text = quote(" ".join(str(message).split()))
    return f"{status}: {text}" if status else text
