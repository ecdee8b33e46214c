"""Transactions and types: the same on SQLite and PostgreSQL."""

from __future__ import annotations

import threading

import pytest
import sqlalchemy as sa

from scorewright.domain.errors import UsageError
from scorewright.storage.database import Database
from scorewright.storage.tables import projects
from scorewright.storage.tables.metadata import new_id, now_us, without_nul


def add(connection: sa.Connection, name: str) -> None:
    connection.execute(projects.insert().values(id=new_id(), name=name, created_us=now_us()))


def names(database: Database) -> list[str]:
    with database.read() as connection:
        return list(connection.scalars(sa.select(projects.c.name).order_by(projects.c.name)))


def test_what_a_block_did_is_undone_when_it_raises(database: Database):
    with database.write() as connection:
        add(connection, "kept")

    def fail(connection: sa.Connection) -> None:
        add(connection, "lost")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), database.write() as connection:
        fail(connection)

    assert names(database) == ["kept"]


def test_a_reader_is_not_held_up_by_a_writer(database: Database):
    with database.write() as connection:
        add(connection, "new")
        assert names(database) == []
    assert names(database) == ["new"]


def test_writers_wait_for_each_other_and_none_is_lost(database: Database):
    def write_some(first: int) -> None:
        for number in range(first, first + 20):
            with database.write() as connection:
                count = connection.scalar(sa.select(sa.func.count()).select_from(projects))
                add(connection, f"{count}-{number}")

    threads = [threading.Thread(target=write_some, args=(n * 100,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(names(database)) == 80


def test_nul_becomes_a_visible_stand_in(database: Database):
    with database.write() as connection:
        add(connection, "a\0b")

    assert names(database) == ["a\ufffdb"]
    assert without_nul({"a\0": ["\0", 1, None]}) == {"a\ufffd": ["\ufffd", 1, None]}


def test_ids_sort_by_the_time_they_were_made():
    ids = [new_id() for _ in range(3)]

    assert len(set(ids)) == 3
    assert {len(one) for one in ids} == {32}
    assert sorted(one[:12] for one in ids) == [one[:12] for one in ids]


@pytest.mark.parametrize("url", ["", "nothing", "mysql://a/b", "sqlite"])
def test_a_url_of_another_kind_is_refused(url: str):
    with pytest.raises(UsageError, match="database"):
        Database(url)
