"""What the tests of remote sandboxes share: runners whose provider is the stub, and who waits without waiting."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from threading import Event

import msgspec

from daytona_stub import Answer, DaytonaStub, Trouble
from scorewright.domain.convention import Convention
from scorewright.domain.result import Failed, ItemOutcome, Outcome
from scorewright.domain.source_language import Language
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Runner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.remote.daytona import Daytona, read_settings
from scorewright.runners.remote.supervisor import RemoteRunner, Translate
from workbench import TIMEOUT_S, item, limits, load

ECHO = "def evaluate(x):\n    return {'score': x, 'explanation': 'here'}\n"


def as_it_is(given: Load) -> tuple[str, list[int] | None]:
    return given.source, None


@contextmanager
def remote(
    stub: DaytonaStub,
    *,
    pauses: list[float] | None = None,
    notices: list[str] | None = None,
    translate: Translate = as_it_is,
) -> Generator[RemoteRunner]:
    """A runner that does not wait between attempts, but notes how long it would."""
    seen = [] if pauses is None else pauses

    def note_pause(seconds: float, _until: Event) -> None:
        seen.append(seconds)

    runner = RemoteRunner(
        Daytona(read_settings(stub.environment)),
        translate=translate,
        notice=([] if notices is None else notices).append,
        pause=note_pause,
    )
    try:
        yield runner
    finally:
        runner.close()


def judge(
    runner: Runner,
    source: str,
    numbers: Iterable[int] = (1,),
    *,
    language: Language = "python",
    convention: Convention = Convention.VARIABLES,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = 128,
) -> list[ItemOutcome]:
    """Judge the numbers by the engine's one path; durations, which differ, are taken out."""
    described = msgspec.structs.replace(
        load(source, timeout_s=timeout_s), language=language, convention=convention
    )
    return judge_items(
        runner, described, map(item, numbers), timeout_s=timeout_s, memory_mb=memory_mb
    )


def judge_items(
    runner: Runner,
    described: Load,
    items: Iterable[Item],
    *,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = 128,
) -> list[ItemOutcome]:
    groups = execute(
        items,
        [Job(described, runner)],
        limits=limits(timeout_s=timeout_s, memory_mb=memory_mb),
        workers=4,
    )
    return [
        msgspec.structs.replace(each, duration_us=0)
        for group in groups
        for each in group.outcomes[0]
    ]


def outcomes(judged: Iterable[ItemOutcome]) -> list[Outcome]:
    return [each.outcome for each in judged]


def failures(judged: Iterable[Outcome]) -> list[Failed]:
    return [each for each in judged if isinstance(each, Failed)]


# ---- what the stub is told to do wrong -----------------------------------------------------------------


def only(what: str, answers: Iterator[Answer | None]) -> Trouble:
    """Give other answers to requests whose method and path end like this, as long as there are any."""

    def trouble(method: str, path: str, answer: Answer) -> Answer | None:
        if f"{method} {path}".endswith(what):
            return next(answers, answer)
        return answer

    return trouble


def times(count: int, answer: Answer | None) -> Iterator[Answer | None]:
    return iter([answer] * count)


def forged(head: bytes, *lines: bytes) -> Callable[[str], str]:
    """Return what puts another answer between the right marks."""
    text = base64.b64encode(b"\n".join([head, *lines])).decode()

    def replace(output: str) -> str:
        return re.sub(r"<\n.*\n>", f"<\n{text}\n>", output, flags=re.DOTALL)

    return replace


def not_base64(output: str) -> str:
    return output.replace("<\n", "<\nü")


def output_changed(change: Callable[[str], str]) -> Trouble:
    def trouble(_method: str, path: str, answer: Answer) -> Answer:
        if not path.endswith("/code-run"):
            return answer
        said = json.loads(answer.body)
        return Answer(200, json.dumps({**said, "result": change(said["result"])}).encode())

    return trouble
