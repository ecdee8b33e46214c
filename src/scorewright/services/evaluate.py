"""The Python API: `evaluate(data, evaluators) -> Results`."""

from __future__ import annotations

import os
import re
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias, cast, get_args

import msgspec

from scorewright.domain.convention import Convention, Level
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator import Evaluator, evaluator_from_source
from scorewright.domain.excerpt import excerpt
from scorewright.domain.json_literal import json_literal
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.mapping import (
    Assignment,
    parse_map_option,
    parse_param_option,
    share_assignments,
)
from scorewright.domain.result_record import ResultRecord
from scorewright.domain.suggestion import did_you_mean, name_list, quote
from scorewright.runners.base import Limits
from scorewright.runners.local import LocalRunner
from scorewright.services.evaluation import Evaluation
from scorewright.services.evaluators import load_one, name_apart
from scorewright.services.functions import FunctionEvaluator, evaluator_from_function
from scorewright.services.plan import Settings, Task
from scorewright.services.report import Report
from scorewright.services.runner_choice import Runners
from scorewright.sources.dataset import from_rows
from scorewright.sources.opening import WantedKind, open_source
from scorewright.sources.source import Source, SourceKind
from scorewright.storage.results_file import flatten, results_schema

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

EvaluatorLike: TypeAlias = str | Path | Callable[..., Any]
"""A path, a source text, or a callable."""

_LEVELS = (Level.TRACE.value, Level.AGENT.value, Level.LLM.value)
#: Records kept in memory before they go to a temporary file.
_MEMORY_BYTES = 16 << 20

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ResultRecord)


class Results:
    """The records of a run, in item order; iterable any number of times.

    They live in a temporary file once they are many, so that a run over millions of rows fits in memory.
    """

    def __init__(self, records: Iterable[Sequence[ResultRecord]], report: Report) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_MEMORY_BYTES)  # noqa: SIM115
        self._close = weakref.finalize(self, self._file.close)
        self._count = 0
        self._report = report
        for group in records:
            self._file.write(_encoder.encode_lines(group))
            self._count += len(group)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ResultRecord]:
        position = 0
        while True:
            self._file.seek(position)
            line = self._file.readline()
            if not line:
                return
            position = self._file.tell()
            yield _decoder.decode(line)

    def summary(self) -> list[JsonObject]:
        """Return one summary per evaluator, as `run --format json` prints it: every mean with its n."""
        return self._report.summary()

    def report(self) -> JsonObject:
        """Return the whole report of the run, as `run --format json` prints it."""
        return self._report.document()

    def to_polars(self) -> pl.DataFrame:
        """Return the records as a polars data frame, metrics as JSON text."""
        import polars as pl

        rows = [flatten(record) for record in self]
        return pl.DataFrame(rows, schema=results_schema())

    def to_pandas(self) -> pd.DataFrame:
        """Return the records as a pandas data frame.

        Raises:
            UsageError: pandas is not installed: the caller's to mend.
        """
        try:
            return self.to_polars().to_pandas()
        except ImportError:  # it takes pyarrow as well
            raise UsageError('to_pandas needs pandas: pip install "scorewright[pandas]"') from None

    def close(self) -> None:
        """Let go of the temporary file; happens by itself when nothing refers to the results."""
        self._close()


def evaluate(  # noqa: PLR0913 - what a run can be told, each by name
    data: str | Path | Iterable[Mapping[str, Any]] | Any,
    evaluators: EvaluatorLike | Sequence[EvaluatorLike],
    *,
    mapping: Mapping[str, JsonValue] | None = None,
    params: Mapping[str, JsonValue] | None = None,
    convention: str | None = None,
    source: str = "auto",
    level: str | None = None,
    previous_turns: bool = False,
    runner: str = "auto",
    required_layers: Sequence[str] = (),
    workers: int | None = None,
    timeout_s: float = 10.0,
    memory_mb: int = 256,
    filter: str | None = None,  # noqa: A002 - as the option is called
    sample_rate: float = 1.0,
    limit: int | None = None,
    previous: Results | None = None,
) -> Results:
    """Run evaluators over data in the sandbox.

    Args:
        data: A path (CSV, JSONL, JSON, Parquet; OTLP traces or logs, or a folder of them; gzipped or not), rows as
            mappings, or a polars or pandas frame.
        evaluators: One or several: paths, source texts of Python, or functions. A text is a source when it has more
            than one line, or defines `evaluate` in one and names no file. A function goes to the sandbox as source;
            lambdas, partials, methods and other callables have none and need `runner="local"`.
        mapping: `[EVALUATOR.]VARIABLE` to field name, path, or constant.
        params: `[EVALUATOR.]KEY` to a config param's value.
        convention: How `evaluate` is called; detected for each evaluator when None.
        source: What a path leads to: `dataset`, `traces`, `conversations`, `trajectories` or `logs`; `auto` tells data
            sets, traces and logs apart.
        level: What of a trace evaluators see that are written for no level: `trace` (when None), `agent` or `llm`.
        previous_turns: Whether a conversation shows input and output of its earlier turns.
        runner: `auto`, `jail` (Python), `restricted` (Python in the jail, narrowed as by RestrictedPython), `deno`
            (JavaScript, TypeScript), `remote` (all three, in a sandbox at Daytona), or `local` (no sandbox: for Python
            you trust).
        required_layers: Layers of the sandbox without which nothing may run, beside the mandatory ones.
        workers: Processes; one per core when None.
        timeout_s: Seconds an item may take.
        memory_mb: MiB a worker may use beyond the interpreter.
        filter: Which items to evaluate, as an expression (docs/reference/filter.md); all when None.
        sample_rate: The probability of each of these to be evaluated, 0 to 1; the same items every time.
        limit: Items to evaluate of what is left, from the first; all when None.
        previous: Results of an earlier run over the same items: what was scored or skipped is kept, what failed or
            is missing is computed.

    Returns:
        The records. What author code did wrong is in them; it is never raised.

    Raises:
        CallerError: The caller's: data, evaluators or an option cannot be used. Nothing has run.
        SandboxUnavailableError: The machine's: the sandbox cannot be had with its mandatory layers.
    """
    settings = _settings(
        workers=workers,
        timeout_s=timeout_s,
        memory_mb=memory_mb,
        filter_text=filter,
        sample_rate=sample_rate,
        limit=limit,
    )
    fixed = _convention(convention)
    several = _several(evaluators)
    fields, values = _assigned("mapping", mapping), _assigned("params", params)
    earlier = _previous(previous)
    chosen = Runners(runner, required_layers=_layers(required_layers), environ=os.environ)
    try:
        found = [_evaluator(one, fixed, in_place=not chosen.jailed) for one in several]
        tasks = _tasks(found, fields, values, chosen)
        for task in tasks:
            task.runner.start()  # they boot while the data are read
        levels = {task.evaluator.level for task in tasks}
        items = _source(data, source, levels, level, previous_turns=previous_turns)
        evaluation = Evaluation(items, tasks, settings=settings, previous=earlier)
        return Results(evaluation.run(), evaluation.report)
    finally:
        chosen.close()


def _settings(  # noqa: PLR0913 - each by name
    *,
    workers: object,
    timeout_s: object,
    memory_mb: object,
    filter_text: object,
    sample_rate: object,
    limit: object,
) -> Settings:
    limits = Limits(
        timeout_s=_number(
            "timeout_s", timeout_s, least=0.05, most=86_400, advice="give 0.05 to 86,400 seconds"
        ),
        memory_mb=_whole("memory_mb", memory_mb, least=16, advice="give at least 16"),
    )
    if workers is not None:
        advice = "give at least 1, or None for one per core"
        workers = _whole("workers", workers, least=1, advice=advice)
    if limit is not None:
        advice = "give a number of rows, or None for all"
        limit = _whole("limit", limit, least=0, advice=advice)
    if not isinstance(filter_text, str | None):
        raise _misfit("filter", filter_text, "give an expression as text, or None for all rows")
    return Settings(
        limits=limits,
        workers=workers,
        filter=filter_text,
        sample_rate=_number(
            "sample_rate", sample_rate, least=0, most=1, advice="give a probability from 0 to 1"
        ),
        limit=limit,
    )


def _number(name: str, value: object, *, least: float, most: float, advice: str) -> float:
    # A bool is an int to Python, but nobody means one second by True.
    if isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most:
        return value
    raise _misfit(name, value, advice)


def _whole(name: str, value: object, *, least: int, advice: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise _misfit(name, value, advice)


def _misfit(name: str, value: object, advice: str) -> UsageError:
    """Make the error for an argument of the wrong type or range."""
    return UsageError(f"{name} is {excerpt(value)}; {advice}")


def _assigned(name: str, given: object) -> dict[str, JsonValue]:
    """Return a mapping, or values of config params, that hold nothing but JSON."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise _misfit(name, given, "give a dict, or None")
    assigned: dict[str, JsonValue] = {}
    for key, value in cast("Mapping[object, object]", given).items():
        if not isinstance(key, str):
            raise _misfit(f"{name}: a key", key, "give names as text")
        try:
            assigned[key] = json_literal(value)
        except ValueError as error:
            raise UsageError(f"{name}: {quote(key)}: {error}; give a JSON value") from None
    return assigned


def _previous(given: object) -> Results | None:
    if given is None or isinstance(given, Results):
        return given
    raise _misfit("previous", given, "give the Results of an earlier evaluate, or None")


def _layers(given: object) -> frozenset[str]:
    # One name alone would be taken for a list of letters.
    if isinstance(given, Iterable) and not isinstance(given, str):
        names = list(cast("Iterable[object]", given))
        known = frozenset(name for name in names if isinstance(name, str))
        if len(known) == len(set(names)):
            return known
    raise _misfit("required_layers", cast("object", given), "give a list of layer names")


def _convention(name: object) -> Convention | None:
    if name is None:
        return None
    if not isinstance(name, str):
        raise _misfit("convention", name, f"use {name_list(Convention)}, or None to detect it")
    if name not in list(Convention):
        near = did_you_mean(name, list(Convention))
        raise UsageError(f"convention: no {quote(name)}{near}; use {name_list(Convention)}")
    return Convention(name)


def _source(
    data: Any,
    kind: object,
    levels: Collection[Level],
    record_level: object,
    *,
    previous_turns: bool,
) -> Source:
    wanted = _one_of("source", kind, ("auto", *get_args(SourceKind)))
    seen = None if record_level is None else Level(_one_of("level", record_level, _LEVELS))
    if isinstance(data, (str, Path)):
        return open_source(
            Path(data),
            cast("WantedKind", wanted),
            levels=levels,
            record_level=seen,
            with_previous_turns=previous_turns,
        )
    if wanted not in ("auto", "dataset") or seen is not None or previous_turns:
        raise UsageError(
            "rows in memory are a data set: source, level and previous_turns are for paths"
        )
    return from_rows(data)


def _one_of(name: str, value: object, known: Sequence[str]) -> str:
    if isinstance(value, str) and value in known:
        return value
    raise _misfit(name, value, f"use {name_list(known)}")


def _several(given: object) -> list[EvaluatorLike]:
    advice = "give a path, a source text or a function, or a list of them"
    if isinstance(given, (str, Path)) or callable(given):
        return [given]
    if not isinstance(given, Iterable):
        raise _misfit("evaluators", given, advice)
    several: list[EvaluatorLike] = []
    for one in cast("Iterable[object]", given):
        if not isinstance(one, (str, Path)) and not callable(one):
            raise _misfit("evaluators: one", one, advice)
        several.append(one)
    if not several:
        raise UsageError(f"evaluators is empty; {advice}")
    return several


def _evaluator(
    given: EvaluatorLike, convention: Convention | None, *, in_place: bool
) -> Evaluator | FunctionEvaluator:
    if isinstance(given, str) and _is_source(given):
        return evaluator_from_source(
            given, name="evaluator", convention=convention, any_import=in_place
        )
    if isinstance(given, (str, Path)):
        return load_one(Path(given), convention=convention, any_import=in_place)
    return evaluator_from_function(given, convention=convention, in_place=in_place)


def _is_source(text: str) -> bool:
    """Whether a text is code: of several lines, or of one that defines `evaluate` and names no file."""
    if "\n" in text:
        return True
    defines = re.search(r"\bdef\s+evaluate\b|\bevaluate\s*=", text)
    return defines is not None and not os.path.exists(text)  # noqa: PTH110 - Path fails on long texts


def _tasks(
    found: list[Evaluator | FunctionEvaluator],
    mapping: Mapping[str, JsonValue],
    params: Mapping[str, JsonValue],
    runners: Runners,
) -> list[Task]:
    functions = [one if isinstance(one, FunctionEvaluator) else None for one in found]
    if runners.jailed:
        for function in filter(None, functions):
            function.require_no_state()
    plain = [one.evaluator if isinstance(one, FunctionEvaluator) else one for one in found]
    evaluators = name_apart(plain)
    names = [evaluator.name for evaluator in evaluators]
    mappings = share_assignments(_assignments(mapping, names, "--map"), evaluators)
    values = share_assignments(_assignments(params, names, "--param"), evaluators)
    return [
        Task(
            evaluator=evaluator,
            mapping=mappings.get(evaluator.name, {}),
            params=values.get(evaluator.name, {}),
            # A function that may stay in this process is called as it is.
            runner=runners.for_evaluator(evaluator, values.get(evaluator.name, {}))
            if function is None or runners.jailed
            else LocalRunner(function.function),
        )
        for evaluator, function in zip(evaluators, functions, strict=True)
    ]


def _assignments(
    given: Mapping[str, JsonValue], names: Sequence[str], option: Literal["--map", "--param"]
) -> list[Assignment]:
    """Read `[EVALUATOR.]NAME` keys as the command line reads its options."""
    assignments: list[Assignment] = []
    for key, value in given.items():
        read = parse_map_option if option == "--map" else parse_param_option
        assignments.append(msgspec.structs.replace(read(f"{key}=", names), value=value))
    return assignments
