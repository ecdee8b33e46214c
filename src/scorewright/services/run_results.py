"""What came out of a run: one by one, by item, in sum, and as a file."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
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
from scorewright.services.result_search import Order, Place, ResultFilter, ResultSearch
from scorewright.services.run_access import need_run
from scorewright.services.run_model import FrozenEvaluator, frozen_of, settings_of
from scorewright.services.run_opening import record_reader
from scorewright.storage.database import Database
from scorewright.storage.repositories import results as result_rows
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories.results import NumberedRecord
from scorewright.storage.results_file import flatten, results_schema

ExportForm: TypeAlias = Literal["jsonl", "csv", "parquet"]
PERCENTS: Final = (5.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)
_BLOCK: Final = 64 << 10
_encode = msgspec.json.Encoder().encode


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """Which results of a run are asked for."""

    #: Its evaluators are those of `names`.
    wanted: ResultFilter = ResultFilter()
    #: Of evaluators; none for all.
    names: tuple[str, ...] = ()
    order: Order = "item"


class ItemResults(msgspec.Struct, frozen=True):
    """All evaluators' results of one item."""

    place: Place
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


def page(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    run_id: str,
    asked: Question,
    *,
    after: Place | None,
    limit: int,
) -> list[NumberedRecord]:
    """Return results of a run.

    Args:
        database: Where they are.
        project_id: Whose the run is.
        run_id: The run.
        asked: Which results, in which order.
        after: Where the last one seen stands.
        limit: At most so many.
    """
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
        search = ResultSearch(
            connection, run_id, frozen, _of_evaluators(asked, frozen), order=asked.order
        )
        places = [(one.evaluator_no, one.item_no) for one in islice(search.places(after), limit)]
        rows = result_rows.at_places(connection, run_id, places)
        read = record_reader(frozen).read
        return [read(rows[place]) for place in places]


def items(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    run_id: str,
    asked: Question,
    *,
    after: Place | None,
    limit: int,
) -> list[ItemResults]:
    """Return a run's items that have a result which is asked for, each with what every evaluator made of it.

    By a score's order an item stands where its first result stands that is asked for.
    """
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
        wanted = _of_evaluators(asked, frozen)
        search = ResultSearch(connection, run_id, frozen, wanted, order=asked.order, by_item=True)
        places = list(islice(search.places(after), limit))
        every = [(at, place.item_no) for at in range(len(frozen)) for place in places]
        rows = result_rows.at_places(connection, run_id, every)
    read = record_reader(frozen).read
    found: list[ItemResults] = []
    for place in places:
        of_item = [rows.get((at, place.item_no)) for at in range(len(frozen))]
        records = [read(row) for row in of_item if row is not None]
        found.append(ItemResults(place, records[0].record.item_id, records))
    return found


def document(database: Database, project_id: str, run_id: str) -> JsonObject:
    """Return what a run amounts to, as `run --format json` prints it; read from roll-ups, whatever its size."""
    with database.read() as connection:
        run = need_run(connection, project_id, run_id)
        rows = run_rows.evaluators(connection, run_id)
        frozen = frozen_of(run)
        rollups = [_rollup(row, one) for row, one in zip(rows, frozen, strict=True)]
        summaries = [_summary(connection, run, at, rollup) for at, rollup in enumerate(rollups)]
    ended_us, settings = run.ended_us or run.started_us, settings_of(run)
    return {
        "source": run.source.get("kind"),
        "items": run.done,
        "complete": run.status == "completed",
        "filter": settings.filter,
        "sample_rate": settings.sample_rate,
        "total": run.total,
        "clock_s": run.clock_s,
        "limits": {"timeout_s": settings.timeout_s, "memory_mb": settings.memory_mb},
        "evaluators": [
            _describe(one, row, rollup)
            for one, row, rollup in zip(frozen, rows, rollups, strict=True)
        ],
        "summary": list[JsonValue](summaries),
        "duration_s": None if ended_us is None else (ended_us - run.started_us) / 1e6,
    }


def distributions(
    database: Database, project_id: str, run_id: str, asked: Question
) -> list[Distribution]:
    """Return how scores lie, by evaluator: from roll-ups without a filter, else from the scores that it leaves."""
    with database.read() as connection:
        frozen = frozen_of(need_run(connection, project_id, run_id))
        places = _places(asked.names, frozen)
        if asked.wanted == ResultFilter():
            rows = run_rows.evaluators(connection, run_id)
            return [_distribution(rows[at].name, _rollup(rows[at], frozen[at])) for at in places]
        inside = msgspec.structs.replace(asked.wanted, evaluators=tuple(places))
        search = ResultSearch(connection, run_id, frozen, inside, only_counted=True)
        counts = {at: (ScoreCounts(), ObservedHistogram()) for at in places}
        sizes = dict.fromkeys(places, 0)
        for block in search.blocks():
            scores = Counter(block.scores_left())
            for one in counts[block.head.evaluator_no]:
                one.add(scores)
            sizes[block.head.evaluator_no] += scores.total()
        return [_counted(frozen[at], sizes[at], *counts[at]) for at in places]


def export(
    database: Database, project_id: str, run_id: str, asked: Question, *, form: ExportForm
) -> Iterator[bytes]:
    """Stream results of a run as a file; what is wrong with the question is raised before anything is streamed."""
    page(database, project_id, run_id, asked, after=None, limit=1)
    records = _records(database, project_id, run_id, asked)
    if form == "jsonl":
        return (b"".join(_encode(one) + b"\n" for one in block) for block in records)
    return _csv(records) if form == "csv" else _parquet(records)


def _records(
    database: Database, project_id: str, run_id: str, asked: Question
) -> Iterator[list[ResultRecord]]:
    after: Place | None = None
    while True:  # a connection for each block: a reader that dawdles holds none
        found = page(database, project_id, run_id, asked, after=after, limit=2_000)
        if not found:
            return
        after = place_of(found[-1], asked)
        yield [one.record for one in found]


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


def place_of(one: NumberedRecord, asked: Question) -> Place:
    """Return where a result stands in the order that it was asked for in."""
    key = 0.0
    if asked.order == "newest":
        key = float(one.created_us)
    elif asked.order != "item":
        record = one.record
        score = record.normalised_score if asked.wanted.is_normalised else record.score
        key = score or 0.0
    return Place(key, one.evaluator_no, one.item_no)


def _of_evaluators(asked: Question, frozen: list[FrozenEvaluator]) -> ResultFilter:
    places = _places(asked.names, frozen) if asked.names else ()
    return msgspec.structs.replace(asked.wanted, evaluators=tuple(places))


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


def _counted(
    frozen: FrozenEvaluator, size: int, counts: ScoreCounts, histogram: ObservedHistogram
) -> Distribution:
    return Distribution(
        evaluator=frozen.evaluator.name,
        n=size,
        histogram=histogram.document(),
        percentiles=_percentiles(counts),
        bits=counts.bits,
    )


def _percentiles(counts: ScoreCounts) -> dict[str, float]:
    found = counts.percentiles(PERCENTS)
    return {
        f"{percent:g}": score
        for percent, score in zip(PERCENTS, found, strict=True)
        if score is not None
    }
