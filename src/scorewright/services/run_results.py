"""What came out of a run: one by one, by item, in sum, and as a file."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import UsageError
from scorewright.domain.histogram import ObservedHistogram
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.result_record import ResultRecord
from scorewright.domain.rollup import Rollup
from scorewright.domain.score_counts import ScoreCounts
from scorewright.domain.suggestion import did_you_mean, name_list, quote
from scorewright.services.run_access import need_run
from scorewright.services.run_model import FrozenEvaluator, frozen_of
from scorewright.services.run_opening import record_reader
from scorewright.storage.database import Database
from scorewright.storage.repositories import results as result_rows
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories.results import NumberedRecord, ResultFilter
from scorewright.storage.results_file import flatten, results_schema

ExportForm: TypeAlias = Literal["jsonl", "csv", "parquet"]
PERCENTS: Final = (5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)
#: Results that a question with a filter may look at.
MAX_SCANNED: Final = 200_000
_BLOCK: Final = 64 << 10
_encode = msgspec.json.Encoder().encode


class ItemResults(msgspec.Struct, frozen=True):
    """All evaluators' results of one item."""

    item_no: int
    item_id: str
    results: list[NumberedRecord]


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """How the scores of some results lie."""

    evaluator: str
    #: Scores inside their range.
    n: int
    #: As in a summary.
    histogram: JsonValue
    #: Percent to score; empty of nothing.
    percentiles: dict[str, float]
    #: Bits of the mantissa that the percentiles hold to; 53 is exact.
    bits: int
    #: Whether there were more results than are looked at for one question.
    is_cut: bool = False


def page(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    run_id: str,
    wanted: ResultFilter,
    *,
    names: tuple[str, ...],
    after: tuple[int, int] | None,
    limit: int,
) -> list[NumberedRecord]:
    """Return results of a run by evaluator, and by item within it.

    Args:
        database: Where they are.
        project_id: Whose the run is.
        run_id: The run.
        wanted: Which results; its evaluators are those of `names`.
        names: Evaluators; none for all.
        after: Evaluator's place and item's number of the last one seen.
        limit: At most so many.
    """
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
        asked = _of_evaluators(wanted, names, frozen)
        rows = result_rows.page(connection, run_id, asked, after=after, limit=limit)
        read = record_reader(frozen).read
        return [read(row) for row in rows]


def items(
    database: Database, project_id: str, run_id: str, *, after: int, limit: int
) -> list[ItemResults]:
    """Return a run's items by number, each with what every evaluator made of it."""
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
        numbers = result_rows.item_numbers(
            connection, run_id, evaluators=len(frozen), after=after, limit=limit
        )
        if not numbers:
            return []
        rows = result_rows.of_items(
            connection, run_id, numbers[0], numbers[-1], evaluators=len(frozen)
        )
        read = record_reader(frozen).read
        by_item: dict[int, list[NumberedRecord]] = {number: [] for number in numbers}
        for row in rows:
            by_item.setdefault(row.item_no, []).append(read(row))
    return [
        ItemResults(number, found[0].record.item_id, found)
        for number, found in by_item.items()
        if found
    ]


def document(database: Database, project_id: str, run_id: str) -> JsonObject:
    """Return what a run amounts to, as `run --format json` prints it; read from roll-ups, whatever its size."""
    with database.read() as connection:
        run = need_run(connection, project_id, run_id)
        rows = run_rows.evaluators(connection, run_id)
        frozen = frozen_of(run)
        rollups = [_rollup(row, one) for row, one in zip(rows, frozen, strict=True)]
        summaries = [_summary(connection, run, at, rollup) for at, rollup in enumerate(rollups)]
    ended_us = run.ended_us or run.started_us
    return {
        "source": run.source.get("kind"),
        "items": run.done,
        "complete": run.status == "completed",
        "filter": run.settings.get("filter"),
        "sample_rate": run.settings.get("sample_rate"),
        "total": run.total,
        "clock_s": run.clock_s,
        "limits": {name: run.settings[name] for name in ("timeout_s", "memory_mb")},
        "evaluators": [
            _describe(one, row, rollup)
            for one, row, rollup in zip(frozen, rows, rollups, strict=True)
        ],
        "summary": list[JsonValue](summaries),
        "duration_s": None if ended_us is None else (ended_us - run.started_us) / 1e6,
    }


def distributions(
    database: Database,
    project_id: str,
    run_id: str,
    wanted: ResultFilter,
    *,
    names: tuple[str, ...],
) -> list[Distribution]:
    """Return how scores lie, by evaluator: from roll-ups without a filter, else from the results, so many at most."""
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
        places = _places(names, frozen)
        if wanted == ResultFilter():
            rows = run_rows.evaluators(connection, run_id)
            return [_distribution(rows[at].name, _rollup(rows[at], frozen[at])) for at in places]
        return [
            _scanned(connection, run_id, msgspec.structs.replace(wanted, evaluators=(at,)), one)
            for at, one in enumerate(frozen)
            if at in places
        ]


def export(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    run_id: str,
    wanted: ResultFilter,
    *,
    names: tuple[str, ...],
    form: ExportForm,
) -> Iterator[bytes]:
    """Stream results of a run as a file; what is wrong with the question is raised before anything is streamed."""
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
    asked = _of_evaluators(wanted, names, frozen)
    records = _records(database, run_id, asked, frozen)
    if form == "jsonl":
        return (b"".join(_encode(one) + b"\n" for one in block) for block in records)
    return _csv(records) if form == "csv" else _parquet(records)


def _records(
    database: Database, run_id: str, wanted: ResultFilter, frozen: list[FrozenEvaluator]
) -> Iterator[list[ResultRecord]]:
    read = record_reader(frozen).read
    after: tuple[int, int] | None = None
    while True:  # a connection for each block: a reader that dawdles holds none
        with database.read() as connection:
            rows = result_rows.page(connection, run_id, wanted, after=after, limit=2_000)
        if not rows:
            return
        after = (rows[-1].evaluator_no, rows[-1].item_no)
        yield [read(row).record for row in rows]


def _csv(records: Iterator[list[ResultRecord]]) -> Iterator[bytes]:
    columns = list(results_schema())
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for block in records:
        for record in block:
            writer.writerow([_cell(value) for value in flatten(record).values()])
        yield text.getvalue().encode()
        text.seek(0)
        text.truncate()
    yield text.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


def _parquet(records: Iterator[list[ResultRecord]]) -> Iterator[bytes]:
    import polars as pl

    with tempfile.TemporaryFile("w+b") as rows, tempfile.NamedTemporaryFile("rb") as made:
        for block in records:
            rows.writelines(_encode(flatten(one)) + b"\n" for one in block)
        rows.flush()
        if rows.tell():
            scan = pl.scan_ndjson(f"/dev/fd/{rows.fileno()}", schema=results_schema())
            scan.sink_parquet(made.name)
        else:
            pl.DataFrame(schema=results_schema()).write_parquet(made.name)
        while block := made.read(_BLOCK):
            yield block


def _of_evaluators(
    wanted: ResultFilter, names: tuple[str, ...], frozen: list[FrozenEvaluator]
) -> ResultFilter:
    places = _places(names, frozen) if names else ()
    return msgspec.structs.replace(wanted, evaluators=tuple(places))


def _places(names: tuple[str, ...], frozen: list[FrozenEvaluator]) -> list[int]:
    known = [one.evaluator.name for one in frozen]
    for name in names:
        if name not in known:
            raise UsageError(
                f"evaluator: {quote(name)} is not in this run{did_you_mean(name, known)}; "
                f"there are: {name_list(known)}"
            ).at("evaluator")
    return [at for at, name in enumerate(known) if not names or name in names]


def _rollup(row: sa.Row[Any], frozen: FrozenEvaluator) -> Rollup:
    return Rollup(row.name, score_range=frozen.evaluator.score_range, stored=row.rollup)


def _summary(connection: sa.Connection, run: sa.Row[Any], at: int, rollup: Rollup) -> JsonObject:
    if run.source.get("kind") in ("dataset", "items"):
        return rollup.summary.document()
    state = rollup.summary.state()
    numbers = [first for _, _, first in state.failures] + [-negated for _, negated in state.slowest]
    names = result_rows.item_names(connection, run.id, at, numbers)
    return rollup.summary.document(name_item=lambda number: names.get(number, str(number)))


def _describe(one: FrozenEvaluator, row: sa.Row[Any], rollup: Rollup) -> JsonObject:
    evaluator = one.evaluator
    return {
        "name": evaluator.name,
        "evaluator_id": one.evaluator_id,
        "version": evaluator.version,
        "digest": evaluator.digest,
        "convention": evaluator.convention.value,
        "language": evaluator.language,
        "level": evaluator.level.value,
        "score_range": None if evaluator.score_range is None else [*evaluator.score_range],
        "threshold": evaluator.threshold,
        "environment": row.environment,
        "runner": row.runner,
        "reused": rollup.reused,
        "judged_twice": rollup.judged_twice,
        "nondeterministic": rollup.nondeterministic,
    }


def _distribution(name: str, rollup: Rollup) -> Distribution:
    summary = rollup.summary.document()
    return Distribution(
        evaluator=name,
        n=rollup.summary.state().scores.count,
        histogram=summary["histogram"],
        percentiles=_percentiles(rollup.scores),
        bits=rollup.scores.bits,
    )


def _scanned(
    connection: sa.Connection, run_id: str, wanted: ResultFilter, frozen: FrozenEvaluator
) -> Distribution:
    found = result_rows.scores(connection, run_id, wanted, at_most=MAX_SCANNED + 1)
    scores = found[:MAX_SCANNED]
    counted = Counter(scores)
    counts, histogram = ScoreCounts(), ObservedHistogram()
    counts.add(counted)
    histogram.add(counted)
    return Distribution(
        evaluator=frozen.evaluator.name,
        n=len(scores),
        histogram=histogram.document(),
        percentiles=_percentiles(counts),
        bits=counts.bits,
        is_cut=len(found) > MAX_SCANNED,
    )


def _percentiles(counts: ScoreCounts) -> dict[str, float]:
    found = counts.percentiles(PERCENTS)
    return {
        f"{percent:g}": score
        for percent, score in zip(PERCENTS, found, strict=True)
        if score is not None
    }
