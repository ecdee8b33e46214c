"""What the tests of remote sandboxes share: runners whose provider is the stub, and who waits without waiting."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from threading import Event

import msgspec

from daytona_stub import DaytonaStub
from scorewright.domain.convention import Convention
from scorewright.domain.result import ItemOutcome, Outcome
from scorewright.domain.source_language import Language
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Runner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.remote.daytona import Daytona, read_settings
from scorewright.runners.remote.supervisor import RemoteRunner, Translate
from workbench import TIMEOUT_S, item, limits, load


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
