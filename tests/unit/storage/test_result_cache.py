"""The file that results of earlier runs are kept in."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from scorewright.storage.result_cache import ResultCache

OUTCOMES = [b"one outcome", bytes(range(256))]
LANE, OTHER = b"l" * 16, b"o" * 16


def key(number: int) -> bytes:
    return number.to_bytes(16, "big")


def filled(folder: Path, lane: bytes, count: int, *, max_bytes: int = 1 << 30) -> None:
    cache = ResultCache(folder, max_bytes=max_bytes)
    offset = 10_000 if lane == OTHER else 0
    cache.put(lane, "digest", [(key(offset + n), OUTCOMES[0]) for n in range(count)])
    cache.close([lane])
    assert cache.trouble is None


def test_what_is_put_in_is_found_by_the_next_one(tmp_path: Path):
    first = ResultCache(tmp_path / "c")
    first.put(LANE, "digest", [(key(n), outcome) for n, outcome in enumerate(OUTCOMES)])
    first.close([LANE])

    second = ResultCache(tmp_path / "c")

    assert [second.get(key(n)) for n in range(3)] == [*OUTCOMES, None]
    assert (second.knows("digest"), second.knows("another")) == (True, False)
    assert (second.has_lane(LANE), second.has_lane(OTHER)) == (True, False)
    second.close()


def test_nothing_is_made_before_there_is_something_to_keep(tmp_path: Path):
    cache = ResultCache(tmp_path / "a" / "b")
    cache.get(key(1))
    cache.close()

    assert list(tmp_path.iterdir()) == []


def test_a_lane_can_be_dropped(tmp_path: Path):
    filled(tmp_path / "c", LANE, 3)
    filled(tmp_path / "c", OTHER, 3)
    cache = ResultCache(tmp_path / "c")

    cache.drop(LANE)

    assert cache.get(key(1)) is None
    assert cache.get(key(10_001)) == OUTCOMES[0]
    assert cache.has_lane(OTHER)
    cache.close()


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path):
    filled(tmp_path / "c", LANE, 2000)
    filled(tmp_path / "c", OTHER, 2000)
    filled(tmp_path / "c", LANE, 1)  # used again
    (path,) = (tmp_path / "c").glob("*.sqlite")
    before = path.stat().st_size

    small = ResultCache(tmp_path / "c", max_bytes=before * 7 // 10)
    small.close()

    cache = ResultCache(tmp_path / "c")
    assert (cache.has_lane(LANE), cache.has_lane(OTHER)) == (True, False)
    assert cache.get(key(1999)) == OUTCOMES[0]
    assert cache.get(key(11_999)) is None
    cache.close()
    assert path.stat().st_size < before


def test_a_lane_that_is_too_large_keeps_what_there_was_room_for(tmp_path: Path):
    cache = ResultCache(tmp_path / "c", max_bytes=200_000)
    for start in range(0, 20_000, 100):
        batch = [(key(start + n), bytes(100)) for n in range(100)]
        cache.put(LANE, "digest", batch)
    cache.close([LANE])

    again = ResultCache(tmp_path / "c", max_bytes=200_000)
    (path,) = (tmp_path / "c").glob("*.sqlite")
    assert again.has_lane(LANE)
    assert again.get(key(0)) == bytes(100)
    assert again.get(key(19_999)) is None
    assert path.stat().st_size < 400_000
    again.close()


@pytest.mark.parametrize(
    "spoiled", ["zeroblob(11)", "'a text'", "null", "3", "(select outcome from result limit 1)"]
)
def test_what_is_not_as_it_was_put_in_is_not_found(tmp_path: Path, spoiled: str):
    cache = ResultCache(tmp_path / "c")
    cache.put(LANE, "digest", [(key(n), outcome) for n, outcome in enumerate(OUTCOMES)])
    cache.close()
    (path,) = (tmp_path / "c").glob("*.sqlite")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"update result set outcome = {spoiled} where key = ?", (key(1),))  # noqa: S608 - our own text

    again = ResultCache(tmp_path / "c")

    assert again.get(key(1)) is None
    assert again.get(key(0)) == OUTCOMES[0]
    again.close()
