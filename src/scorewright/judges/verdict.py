"""From one item to a judge's result: fill the prompt, ask, read the reply, ask again with what was wrong with it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

import msgspec

from scorewright.domain.binding import compile_binder
from scorewright.domain.item_fields import FieldAbsentError
from scorewright.domain.result import (
    Failed,
    FailureCode,
    JudgedOutcome,
    JudgeUse,
    Outcome,
    Scored,
    Skipped,
)
from scorewright.judges.asking import Answer, Asker, AskError, Question, Turn
from scorewright.judges.budget import Budget
from scorewright.judges.limits import ATTEMPTS, Gate, delay_s
from scorewright.judges.prompt import Request, make_request, reply_schema
from scorewright.judges.render import AbsentError, is_empty
from scorewright.judges.reply import NoVerdictError, Verdict, read_reply
from scorewright.judges.template import Template
from scorewright.runners.harness.protocol import Load
from scorewright.telemetry.prices import CallTokens, price_of_call

#: No model takes more, and a page with it could not be shown.
MAX_PROMPT_CHARS: Final = 4_000_000
_Number = TypeVar("_Number", int, float)
_MAX_SAID_CHARS: Final = 600
_CORRECTION: Final = "Your reply was not taken: {said}. Judge the same material again."


class JudgeModel(msgspec.Struct, frozen=True):
    """What one judge asks, and what holds for all who ask it."""

    #: Connection and name, as it was asked for.
    name: str
    #: Its own name.
    own_name: str
    #: Who sells it, for its price; None where only its name tells.
    vendor: str | None
    asker: Asker
    gate: Gate
    #: Why nothing more is asked of it.
    closed: list[str]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The params that every judge has, as they are set for a run."""

    temperature: float | None = 0.0
    max_tokens: int = 1024
    max_retries: int = 2
    skip_empty_output: bool = True


class Judge:
    """One judge in one run; used by one event loop alone.

    Args:
        load: As workers of code get it: the prompt is its source.
        template: That prompt, read.
        model: What it asks.
        budget: Of the whole run.
        sleep: Waits between tries.
    """

    def __init__(
        self,
        load: Load,
        template: Template,
        model: JudgeModel,
        budget: Budget,
        *,
        sleep: Callable[[float], Any] = asyncio.sleep,
    ) -> None:
        self._template = template
        self._model = model
        self._budget = budget
        self._sleep = sleep
        self._range = load.score_range or (0.0, 1.0)
        self._threshold = load.threshold
        self._bind = compile_binder(load.plan)
        self._names = [one.name for one in load.plan if not one.keyword]
        set_values = {one.name: one.value for one in load.plan if one.how == "constant"}
        known = {n: v for n, v in set_values.items() if n in Settings.__struct_fields__}
        self._settings = msgspec.convert(known, Settings)

    async def judge(self, data: bytes) -> JudgedOutcome:
        """Judge one item, given as JSON."""
        use = _Use(self._model)
        outcome = await self._outcome(data, use)
        return JudgedOutcome(outcome, "", use.duration_us, use.told())

    def request(self, data: bytes) -> Request | Outcome:
        """Fill the prompt from an item, or say why nothing is asked about it."""
        try:
            # Nothing may wait between these: objects look up the rest of the item that was bound last.
            arguments, values = self._bind(data)
            values.update(zip(self._names, arguments, strict=True))
            if self._settings.skip_empty_output and is_empty(getattr(arguments[0], "output", None)):
                return Skipped(
                    "there is no output to judge (set skip_empty_output to false to judge it)"
                )
            request = make_request(self._template, values, score_range=self._range)
        except (FieldAbsentError, AbsentError) as error:
            return Failed(FailureCode.MAPPING_ERROR, str(error))
        if request.chars > MAX_PROMPT_CHARS:
            said = f"the prompt has {request.chars:,} characters; at most {MAX_PROMPT_CHARS:,} can be sent: have it hold less"
            return Failed(FailureCode.JUDGE_ERROR, said)
        return request

    async def _outcome(self, data: bytes, use: _Use) -> Outcome:
        request = self.request(data)
        if not isinstance(request, Request):
            return request
        use.request = request
        turns = [Turn("instructions", request.instructions), Turn("user", request.prompt)]
        refusal: NoVerdictError | None = None
        for _ in range(self._settings.max_retries + 1):
            answer = await self._ask(turns, use)
            if isinstance(answer, Failed):
                return answer
            try:
                return self._scored(_read(answer, self._range))
            except NoVerdictError as error:
                refusal = error
            turns += (
                Turn("assistant", answer.text or "(nothing)"),
                Turn("user", _CORRECTION.format(said=refusal)),
            )
        assert refusal is not None  # noqa: S101 - it was asked at least once
        replies = "1 reply" if use.requests == 1 else f"{use.requests} replies"
        said = f"{self._model.name}: no verdict in {replies}: {refusal}"
        if refusal.explanation:
            said += f"; it explained: {refusal.explanation[:_MAX_SAID_CHARS]}"
        return Failed(FailureCode.JUDGE_ERROR, said)

    def _scored(self, verdict: Verdict) -> Scored:
        passed = None if self._threshold is None else verdict.score >= self._threshold
        return Scored(verdict.score, passed, explanation=verdict.explanation)

    async def _ask(self, turns: list[Turn], use: _Use) -> Answer | Failed:
        """Ask until there is an answer, or it is known that there will be none."""
        settings = self._settings
        question = Question(
            turns=tuple(turns),
            temperature=settings.temperature,
            max_tokens=settings.max_tokens,
            schema=reply_schema(self._range),
        )
        tokens = sum(len(turn.text) for turn in turns) // 3 + settings.max_tokens
        most_usd = self._price(tokens - settings.max_tokens, settings.max_tokens) or 0.0
        for tried in range(1, ATTEMPTS + 1):
            async with self._model.gate.turn(tokens):
                if self._model.closed:
                    return Failed(FailureCode.JUDGE_ERROR, self._model.closed[0])
                if not self._budget.reserve(most_usd):
                    return self._over_budget()
                try:
                    return await self._asked(question, most_usd, use)
                except AskError as error:
                    said, failure = str(error), error
            if failure.is_for_all:
                self._model.closed.append(said)
            if not failure.is_passing or tried == ATTEMPTS:
                tries = f" (tried {tried} times)" if tried > 1 else ""
                return Failed(FailureCode.JUDGE_ERROR, said + tries)
            wait_s = delay_s(tried, failure.retry_after_s)
            if failure.retry_after_s is not None:
                self._model.gate.be_quiet(wait_s)
            await self._sleep(wait_s)
        raise AssertionError("the last try returns")

    async def _asked(self, question: Question, reserved_usd: float, use: _Use) -> Answer:
        began_s = time.perf_counter()
        cost_usd: float | None = None
        try:
            answer = await self._model.asker.ask(question)
            cost_usd = self._price(answer.tokens_in, answer.tokens_out, answer.cached_tokens)
            use.add(answer, cost_usd)
            return answer
        finally:
            use.latency_s += time.perf_counter() - began_s
            self._budget.settle(reserved_usd, cost_usd or 0.0)

    def _price(self, read: int | None, written: int | None, cached: int = 0) -> float | None:
        if read is None or written is None:
            return None
        model, tokens = self._model, CallTokens(read, written, cached)
        return price_of_call(model.vendor, model.own_name, tokens, datetime.now(UTC))

    def _over_budget(self) -> Failed:
        said = f"the run may spend ${self._budget.max_usd:g} on models and has spent ${self._budget.spent_usd:.4f}: not asked; raise --max-cost-usd, and --resume"
        return Failed(FailureCode.CANCELLED, said)


def _read(answer: Answer, score_range: tuple[float, float]) -> Verdict:
    if answer.is_withheld:
        raise NoVerdictError("the vendor's content filter held the reply back")
    try:
        return read_reply(answer.text, score_range)
    except NoVerdictError as error:
        if answer.is_cut:
            raise NoVerdictError(
                "the reply was cut off at max_tokens; raise it, or be brief"
            ) from error
        raise


class _Use:
    """What one result takes, as it adds up."""

    def __init__(self, model: JudgeModel) -> None:
        self._model = model
        self.request: Request | None = None
        self.requests = 0
        self.latency_s = 0.0
        self._answered_by: str | None = None
        self._tokens_in: int | None = 0
        self._tokens_out: int | None = 0
        self._cost_usd: float | None = 0.0

    @property
    def duration_us(self) -> int:
        """What the item took."""
        return round(self.latency_s * 1e6)

    def add(self, answer: Answer, cost_usd: float | None) -> None:
        """Add an answer: what is unknown of one is unknown of all."""
        self.requests += 1
        self._answered_by = answer.model
        self._tokens_in = _sum(self._tokens_in, answer.tokens_in)
        self._tokens_out = _sum(self._tokens_out, answer.tokens_out)
        self._cost_usd = _sum(self._cost_usd, cost_usd)

    def told(self) -> JudgeUse | None:
        """Return what is stored; None where nothing was asked."""
        if self.request is None:
            return None
        has_answer = self.requests > 0
        return JudgeUse(
            model=self._model.name,
            answered_by=self._answered_by,
            tokens_in=self._tokens_in if has_answer else None,
            tokens_out=self._tokens_out if has_answer else None,
            cost_usd=self._cost_usd if has_answer else None,
            latency_ms=round(self.latency_s * 1000, 3),
            requests=self.requests,
            instructions=self.request.instructions,
            prompt=self.request.prompt,
        )


def _sum(total: _Number | None, more: _Number | None) -> _Number | None:
    return None if total is None or more is None else total + more
