"""Blocks of results and the words in them: written with the results, read by searches."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.result_block import BlockColumns, BlockHead, BuiltBlock, Kind
from scorewright.storage.statements import execute_plain, upsert
from scorewright.storage.tables.results import result_blocks, result_words

_encode = msgspec.msgpack.Encoder().encode
_decode_kinds = msgspec.msgpack.Decoder(list[Kind]).decode
#: As in a `BlockHead`.
_HEAD: Final = (
    "evaluator_no",
    "block_no",
    "first_item",
    "last_item",
    "count",
    "created_us",
    "min_score",
    "max_score",
    "kinds",
)


def insert(connection: sa.Connection, run_id: str, blocks: Sequence[BuiltBlock]) -> None:
    """Write blocks; those that are there already stay."""
    rows = [_to_row(run_id, one) for one in blocks]
    words = [
        {
            "run_id": run_id,
            "evaluator_no": one.head.evaluator_no,
            "shelf": shelf,
            "block_no": one.head.block_no,
            "body": body,
        }
        for one in blocks
        for shelf, body in one.shelves.items()
    ]
    for table, found in ((result_blocks, rows), (result_words, words)):
        if found:
            statement = upsert(connection, table).on_conflict_do_nothing()
            execute_plain(connection, statement, found)


def heads(connection: sa.Connection, run_id: str, evaluators: Collection[int]) -> list[BlockHead]:
    """Return what is told of the blocks of some evaluators of a run without reading them."""
    columns = result_blocks.c
    asked: list[sa.ColumnElement[Any]] = [columns[name] for name in _HEAD]
    found = connection.execute(
        sa.select(*asked).where(columns.run_id == run_id, columns.evaluator_no.in_(evaluators))
    )
    return [_to_head(row) for row in found]


def columns_of(
    connection: sa.Connection, run_id: str, wanted: Collection[BlockHead], *, with_scores: bool
) -> dict[tuple[int, int], BlockColumns]:
    """Return the columns of blocks, by evaluator and number; those of scores only where they are asked for."""
    columns = result_blocks.c
    found: dict[tuple[int, int], BlockColumns] = {}
    asked: list[sa.ColumnElement[Any]] = [columns.block_no, columns.codes, columns["items"]]
    asked += [columns.scores, columns.ranks] if with_scores else [sa.null(), sa.null()]
    for evaluator_no, numbers in _by_evaluator(wanted).items():
        rows = connection.execute(
            sa.select(*asked).where(
                columns.run_id == run_id,
                columns.evaluator_no == evaluator_no,
                columns.block_no.in_(numbers),
            )
        )
        for block_no, *parts in rows:
            found[evaluator_no, block_no] = BlockColumns(*parts)
    return found


def shelves_of(
    connection: sa.Connection, run_id: str, shelf: int, wanted: Collection[BlockHead]
) -> dict[tuple[int, int], bytes]:
    """Return one shelf of words of blocks, by evaluator and number of the block."""
    columns = result_words.c
    found: dict[tuple[int, int], bytes] = {}
    for evaluator_no, numbers in _by_evaluator(wanted).items():
        rows = connection.execute(
            sa.select(columns.block_no, columns.body).where(
                columns.run_id == run_id,
                columns.evaluator_no == evaluator_no,
                columns.shelf == shelf,
                columns.block_no.in_(numbers),
            )
        )
        for block_no, body in rows:
            found[evaluator_no, block_no] = body
    return found


def _to_row(run_id: str, built: BuiltBlock) -> dict[str, Any]:
    head, columns = built.head, built.columns
    return {
        "run_id": run_id,
        **{name: getattr(head, name) for name in _HEAD},
        "kinds": _encode(head.kinds),
        "codes": columns.codes,
        "items": columns.items,
        "scores": columns.scores,
        "ranks": columns.ranks,
    }


def _to_head(row: sa.Row[Any]) -> BlockHead:
    fields: dict[str, Any] = dict(zip(_HEAD, row, strict=True))
    fields["kinds"] = _decode_kinds(row.kinds)
    return BlockHead(**fields)


def _by_evaluator(wanted: Collection[BlockHead]) -> dict[int, list[int]]:
    numbers: dict[int, list[int]] = {}
    for head in wanted:
        numbers.setdefault(head.evaluator_no, []).append(head.block_no)
    return numbers
