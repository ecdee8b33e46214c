"""The Python API: `evaluate(data, evaluators) -> Results`."""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

import msgspec

from scorewright.domain.convention import Convention
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator import Evaluator, evaluator_from_source, load_evaluator
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
from scorewright.services.evaluation import Evaluation, Report, Settings, Task
from scorewright.services.evaluators import name_apart
from scorewright.services.functions import FunctionEvaluator, evaluator_from_function
from scorewright.services.runner_choice import Runners
from scorewright.sources.dataset import Dataset, from_rows, open_dataset
from scorewright.storage.results_file import flatten, results_schema

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

EvaluatorLike: TypeAlias = str | Path | Callable[..., Any]
"""A path, a source text, or a function."""

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
        return [summary.document() for summary in self._report.summaries]

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
    runner: str = "auto",
    workers: int | None = None,
    timeout_s: float = 10.0,
    memory_mb: int = 256,
    limit: int | None = None,
    previous: Results | None = None,
) -> Results:
    """Run evaluators over data in the sandbox.

    Args:
        data: A path (CSV, JSONL, JSON, Parquet, gzipped or not), rows as mappings, or a polars or pandas frame.
        evaluators: One or several: paths, source texts, or functions. A function goes to the sandbox as source.
        mapping: `[EVALUATOR.]VARIABLE` to field name, path, or constant.
        params: `[EVALUATOR.]KEY` to a config param's value.
        convention: How `evaluate` is called; detected for each evaluator when None.
        runner: `auto`, `jail` (Python), `deno` (JavaScript, TypeScript), or `local` (no sandbox: for Python you trust).
        workers: Processes; one per core when None.
        timeout_s: Seconds an item may take.
        memory_mb: MiB a worker may use beyond the interpreter.
        limit: Rows to evaluate, from the first; all when None.
        previous: Results of an earlier run over the same rows: what was scored or skipped is kept, what failed or
            is missing is computed.

    Returns:
        The records. What author code did wrong is in them; it is never raised.

    Raises:
        CallerError: The caller's: data, evaluators or an option cannot be used. Nothing has run.
        SandboxUnavailableError: The machine's: the sandbox cannot be had with its mandatory layers.
    """
    settings = _settings(workers=workers, timeout_s=timeout_s, memory_mb=memory_mb, limit=limit)
    fixed = _convention(convention)
    chosen = Runners(runner)
    try:
        found = _evaluators(evaluators, fixed, any_import=not chosen.jailed)
        tasks = _tasks(found, mapping or {}, params or {}, chosen)
        for task in tasks:
            task.runner.start()  # they boot while the data are read
        evaluation = Evaluation(_dataset(data), tasks, settings=settings, previous=previous)
        return Results(evaluation.run(), evaluation.report)
    finally:
        chosen.close()


def _settings(
    *, workers: int | None, timeout_s: float, memory_mb: int, limit: int | None
) -> Settings:
    if workers is not None and workers < 1:
        raise UsageError(f"workers is {workers}; give at least 1, or None for one per core")
    if not 0.05 <= timeout_s <= 86_400:
        raise UsageError(f"timeout_s is {timeout_s}; give 0.05 to 86,400 seconds")
    if memory_mb < 16:
        raise UsageError(f"memory_mb is {memory_mb}; give at least 16")
    if limit is not None and limit < 0:
        raise UsageError(f"limit is {limit}; give a number of rows, or None for all")
    limits = Limits(timeout_s=timeout_s, memory_mb=memory_mb)
    return Settings(limits=limits, workers=workers, limit=limit)


def _convention(name: str | None) -> Convention | None:
    if name is None:
        return None
    if name not in list(Convention):
        near = did_you_mean(name, list(Convention))
        raise UsageError(f"convention: no {quote(name)}{near}; use {name_list(Convention)}")
    return Convention(name)


def _dataset(data: Any) -> Dataset:
    return open_dataset(Path(data)) if isinstance(data, (str, Path)) else from_rows(data)


def _evaluators(
    given: EvaluatorLike | Sequence[EvaluatorLike],
    convention: Convention | None,
    *,
    any_import: bool,
) -> list[Evaluator | FunctionEvaluator]:
    several = [given] if isinstance(given, (str, Path)) or callable(given) else list(given)
    return [_evaluator(one, convention, any_import=any_import) for one in several]


def _evaluator(
    given: EvaluatorLike, convention: Convention | None, *, any_import: bool
) -> Evaluator | FunctionEvaluator:
    if isinstance(given, str) and ("\n" in given or "def evaluate" in given):
        return evaluator_from_source(
            given, name="evaluator", convention=convention, any_import=any_import
        )
    if isinstance(given, (str, Path)):
        return load_evaluator(Path(given), convention=convention, any_import=any_import)
    return evaluator_from_function(given, convention=convention, any_import=any_import)


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
            runner=runners.for_evaluator(evaluator)
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
