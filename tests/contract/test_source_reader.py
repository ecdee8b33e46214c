"""Author sources are read in jailed processes: what comes of it is what this process would find, and nothing else happens."""

from __future__ import annotations

import os
import resource
import signal
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import Final

import msgspec
import pytest
import structlog

from scorewright.domain.convention import Convention
from scorewright.domain.definition import Definition
from scorewright.domain.errors import OurError, SandboxUnavailableError
from scorewright.domain.evaluator import (
    Evaluator,
    Reading,
    ReadSource,
    SourceError,
    UnreadableSourceError,
    build_evaluator,
    read_source,
)
from scorewright.domain.param import ConfigParam
from scorewright.domain.signature import Diagnostic
from scorewright.domain.source_language import LANGUAGE_OF_SUFFIX, Language
from scorewright.runners.base import Limits
from scorewright.runners.jail.launch import LaunchedZygote
from scorewright.runners.jail.layers import MANDATORY, PURPOSES, is_on
from scorewright.runners.probes import SUITES
from scorewright.runners.process import WorkerProcess
from scorewright.runners.reader import messages
from scorewright.runners.reader.attempts import ATTEMPTS
from scorewright.runners.reader.jailed import JailedReader, ReaderJail
from scorewright.runners.reader.plain import PlainReader
from scorewright.runners.reader.zygote import ATTEMPTS as ATTEMPTS_PROGRAM
from scorewright.services.source_reader import SourceReader

ROOT: Final = Path(__file__).parents[2]
#: Real ones: of this repository, and of the cases beside it where they are.
FILES: Final = sorted(
    path
    for folder in (
        ROOT / "examples",
        ROOT / "src/scorewright/services/templates",
        ROOT.parent / "shared",
    )
    for path in folder.rglob("*")
    if path.suffix in LANGUAGE_OF_SUFFIX and path.stat().st_size < 1 << 16
)
MIB: Final = 1 << 20
GOOD: Final = "def evaluate(output, expected='yes'):\n    return output == expected\n"
#: Each is told to be none of ours, or read, in bounded time and memory; a mebibyte of what parsers like least.
HOSTILE: Final[dict[str, tuple[str, Language]]] = {
    "brackets": ("(" * MIB, "python"),
    "signs": ("def evaluate(a):\n    return " + "-" * (MIB - 100) + "1", "python"),
    "one long sum": ("def evaluate(a):\n    return 1" + "+1" * (MIB // 2 - 100), "python"),
    "deep indentation": ("".join(" " * n + "if a:\n" for n in range(1400)), "python"),
    "a huge number": ("def evaluate(a):\n    return 0x" + "f" * (MIB - 100), "python"),
    "a huge f-string": (
        'def evaluate(a):\n    return f"' + "{a}" * 40_000 + '"',
        "python",
    ),
    "a deep annotation": (
        'def evaluate(a: "' + "Optional[" * (MIB // 10) + '"=1):\n    return 1',
        "python",
    ),
    "many functions": ("def evaluate(a): pass\n" + "def f(a,b=1): return a\n" * 45_000, "python"),
    "many warnings": ("def evaluate(a): pass\n" + 'x="\\d"\n' * 40_000, "python"),
    "NUL": ("def evaluate(a): pass\0", "python"),
    "half of a character": ("def evaluate(a): pass #\ud800", "python"),
    "script brackets": ("(" * MIB, "javascript"),
    "script templates": ("`${" * (MIB // 3), "javascript"),
    "script comparisons": ("a<" * (MIB // 2), "javascript"),
    "script conditions": ("function evaluate(a) { return " + "a?" * (MIB // 2 - 60), "typescript"),
    "script arrows": ("(a," * (MIB // 3), "typescript"),
    "script NUL": ("function evaluate(a) {}\0", "javascript"),
}


@pytest.fixture(scope="module")
def reader() -> Generator[JailedReader]:
    found = JailedReader()
    yield found
    found.close()


def found_by(
    read: ReadSource, source: str, definition: Definition
) -> Reading | tuple[Diagnostic, ...]:
    try:
        return read(source, definition)
    except UnreadableSourceError as error:
        return error.diagnostics


def built_by(read: ReadSource, source: str, definition: Definition) -> Evaluator | str:
    try:
        return build_evaluator(source, definition, origin="x", read=read)
    except SourceError as error:
        return str(error)


def test_there_are_real_sources_to_compare():
    assert len(FILES) >= 30


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_source_is_read_as_in_this_process(reader: JailedReader, path: Path):
    definition = Definition(name="same", language=LANGUAGE_OF_SUFFIX[path.suffix])
    source = path.read_text(encoding="utf-8")

    far, near = built_by(reader.read, source, definition), built_by(read_source, source, definition)

    assert msgspec.json.encode(far) == msgspec.json.encode(near)


@pytest.mark.parametrize("tier", SUITES)
def test_the_sources_of_attacks_are_read_as_in_this_process(reader: JailedReader, tier: str):
    for probe in SUITES[tier].probes:
        definition = Definition(language=probe.language)
        far = found_by(reader.read, probe.source, definition)
        near = found_by(read_source, probe.source, definition)
        assert msgspec.json.encode(far) == msgspec.json.encode(near), probe.name


def test_what_is_declared_beside_a_source_is_read_with_it(reader: JailedReader):
    source = "def evaluate(inputs, outputs, trace, limit=3, *, kind='a'):\n    return 1\n"
    definition = Definition(
        convention=Convention.INPUTS_OUTPUTS_TRACE,
        params=(
            ConfigParam(key="limit", type="integer", min=1, max=9),
            ConfigParam(key="kind", type="enum", values=("a", 1, 1.0)),
        ),
    )

    far, near = found_by(reader.read, source, definition), found_by(read_source, source, definition)

    assert msgspec.json.encode(far) == msgspec.json.encode(near)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_source_is_answered_and_this_process_stays_small(reader: JailedReader, name: str):
    source, language = HOSTILE[name]
    before_s = time.process_time()
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    found = found_by(reader.read, source, Definition(language=language))

    assert isinstance(found, Reading) or all(one.message for one in found)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 32 << 10
    assert time.process_time() - before_s < messages.CPU_S / 10
    assert isinstance(found_by(reader.read, GOOD, Definition()), Reading)


def test_a_source_that_takes_too_long_is_its_authors_fault(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(messages, "PATIENCE_S", 0.5)
    reader = JailedReader()
    reader.start()
    try:
        assert isinstance(found_by(reader.read, GOOD, Definition()), Reading)
        slow, language = HOSTILE["many functions"]
        found = found_by(reader.read, slow, Definition(language=language))
        assert isinstance(found, tuple)
        assert found[0].code == "too_complex"
        assert "to analyse; shorten it" in found[0].message
        assert isinstance(found_by(reader.read, GOOD, Definition()), Reading)
    finally:
        reader.close()


def attempts_in(jail: ReaderJail) -> dict[str, str | None]:
    worker = jail.spawn_program(ATTEMPTS_PROGRAM, Limits(memory_mb=64))
    try:
        worker.send(messages.SOURCE, [b""])
        frame = worker.wait_frame(30)
        assert frame is not None
        return msgspec.json.decode(frame[1], type=dict[str, str | None])
    finally:
        worker.end()


def test_a_reader_can_do_nothing_but_read():
    jail = ReaderJail()
    try:
        refused = attempts_in(jail)
        assert refused.keys() == ATTEMPTS.keys()
        assert [name for name, reason in refused.items() if reason is None] == []
        assert all(is_on(jail.layers()[name]) for name in MANDATORY)
    finally:
        jail.close()


def test_the_attempts_can_tell_a_jail_from_none():
    jail = ReaderJail(omitted=frozenset(PURPOSES) - {"single_thread", "no_new_privs"})
    try:
        through = {name for name, reason in attempts_in(jail).items() if reason is None}
    finally:
        jail.close()
    assert through == ATTEMPTS.keys()


def test_every_source_has_a_process_of_its_own(
    reader: JailedReader, monkeypatch: pytest.MonkeyPatch
):
    workers: list[WorkerProcess] = []
    spawn = ReaderJail.spawn

    def note(jail: ReaderJail, limits: Limits) -> WorkerProcess:
        workers.append(spawn(jail, limits))
        return workers[-1]

    monkeypatch.setattr(ReaderJail, "spawn", note)
    for _ in range(3):
        reader.read(GOOD, Definition())
    assert len({id(worker) for worker in workers}) == 3


class NotedJail(ReaderJail):
    """Remembers the zygotes that it starts."""

    def __init__(self) -> None:
        super().__init__()
        self.launched: list[LaunchedZygote] = []

    def launch(self, omitted: frozenset[str], prefix: tuple[str, ...]) -> LaunchedZygote:
        self.launched.append(super().launch(omitted, prefix))
        return self.launched[-1]


def test_a_lost_zygote_is_started_again():
    jail = NotedJail()
    reader = JailedReader(jail)
    try:
        reader.read(GOOD, Definition())
        os.kill(jail.launched[0].process.pid, signal.SIGKILL)
        jail.launched[0].process.wait()
        assert reader.read(GOOD, Definition()).variables
        assert len(jail.launched) == 2
    finally:
        reader.close()


def test_many_threads_read_at_once(reader: JailedReader):
    found: list[Reading] = []
    threads = [
        threading.Thread(target=lambda: found.append(reader.read(GOOD, Definition())))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [read_source(GOOD, Definition())] * 12


def test_a_process_without_a_jail_reads_alike():
    plain = PlainReader()
    assert plain.read(GOOD, Definition()) == read_source(GOOD, Definition())
    script = Definition(language="javascript")
    text = "function evaluate(output) { return 1; }"
    assert plain.read(text, script) == read_source(text, script)


@pytest.mark.parametrize("name", ["script comparisons", "script brackets"])
def test_a_process_without_a_jail_is_bounded(name: str):
    source, language = HOSTILE[name]
    found = found_by(PlainReader().read, source, Definition(language=language))
    assert isinstance(found, tuple)


class NoJail(JailedReader):
    """What a machine has that gives no jail."""

    def start(self) -> None:
        raise SandboxUnavailableError("the jail needs Linux")

    def read(self, source: str, definition: Definition) -> Reading:
        del source, definition
        raise SandboxUnavailableError("the jail needs Linux")


def test_without_a_jail_sources_are_read_in_a_bounded_process_and_it_is_said():
    with structlog.testing.capture_logs() as logs:
        reader = SourceReader(NoJail())
        reader.start()
    assert reader.state == "unavailable"
    assert [log["log_level"] for log in logs] == ["warning"]
    assert reader.read(GOOD, Definition()) == read_source(GOOD, Definition())


def test_a_jail_that_was_there_and_is_lost_is_not_done_without():
    class Lost(JailedReader):
        is_lost = False

        def read(self, source: str, definition: Definition) -> Reading:
            if self.is_lost:
                raise SandboxUnavailableError("sandbox: lost")
            return read_source(source, definition)

    lost = Lost()
    reader = SourceReader(lost)
    reader.read(GOOD, Definition())
    lost.is_lost = True
    with pytest.raises(SandboxUnavailableError):
        reader.read(GOOD, Definition())
    assert reader.state == "ok"


def test_more_sources_than_can_be_read_are_told_to_come_again():
    let_go = threading.Event()
    has_begun = threading.Event()

    class Slow(JailedReader):
        def read(self, source: str, definition: Definition) -> Reading:
            has_begun.set()
            let_go.wait(30)
            return read_source(source, definition)

    reader = SourceReader(Slow(), size=1, wait_s=0.01)
    thread = threading.Thread(target=reader.read, args=(GOOD, Definition()))
    thread.start()
    has_begun.wait(30)
    with pytest.raises(OurError, match="busy"):
        reader.read(GOOD, Definition())
    let_go.set()
    thread.join()
    assert reader.read(GOOD, Definition())


def test_a_forged_answer_is_ours_to_notice():
    good = msgspec.json.encode(messages.Read(read_source(GOOD, Definition())))
    assert messages.decode_answer(good, Definition())
    with pytest.raises(msgspec.ValidationError):
        messages.decode_answer(good, Definition(language="javascript"))
    for forged in (b"", b"{}", b"\x80", good[:-1], good.replace(b'"record"', b'"root"')):
        with pytest.raises(msgspec.MsgspecError):
            messages.decode_answer(forged, Definition())
