"""What one model gets, by a clock that only waiting moves."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from scorewright.domain.errors import UsageError
from scorewright.judges.budget import Budget
from scorewright.judges.connection import Connection, find_connection, read_connections
from scorewright.judges.limits import Gate, delay_s


class Clock:
    """Moves when somebody waits."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, for_s: float) -> None:
        self.now_s = max(self.now_s, self.now_s + for_s)


def starts(count: int, tokens: int, **bounds: int) -> list[float]:
    """When so many requests begin, one after the other."""
    clock = Clock()

    async def ask() -> list[float]:
        connection = msgspec.structs.replace(Connection(name="c", kind="openai"), **bounds)
        gate = Gate(connection, clock=clock, sleep=clock.sleep)
        begun: list[float] = []
        for _ in range(count):
            async with gate.turn(tokens):
                begun.append(round(clock.now_s, 3))
        return begun

    return asyncio.run(ask())


def test_requests_are_spread_over_the_minute_after_a_first_tenth_of_it():
    begun = starts(40, 1, requests_per_minute=60)
    assert begun[:7] == [0.0] * 7
    assert begun[-1] == pytest.approx(33, abs=1)


def test_tokens_are_spread_likewise():
    assert starts(3, 1000, tokens_per_minute=6000) == [0.0, 4.0, 14.0]


def test_nothing_waits_where_there_is_no_bound():
    assert starts(100, 10_000) == [0.0] * 100


def test_no_more_run_at_a_time_than_the_connection_allows():
    async def ask() -> int:
        gate = Gate(Connection(name="c", kind="openai", concurrency=3))
        inside, most = 0, 0

        async def one() -> None:
            nonlocal inside, most
            async with gate.turn(1):
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*(one() for _ in range(20)))
        return most

    assert asyncio.run(ask()) == 3


def test_when_the_vendor_asks_for_quiet_nothing_begins():
    clock = Clock()

    async def ask() -> float:
        gate = Gate(Connection(name="c", kind="openai"), clock=clock, sleep=clock.sleep)
        gate.be_quiet(7)
        async with gate.turn(1):
            return clock.now_s

    assert asyncio.run(ask()) == 7


def test_waits_grow_up_to_a_bound_and_differ():
    for failures in range(1, 12):
        most_s = min(0.5 * 2 ** (failures - 1), 60)
        assert most_s / 2 <= delay_s(failures, None) <= most_s
    assert len({delay_s(5, None) for _ in range(20)}) > 1
    assert 3 <= delay_s(1, 3) <= 3.3
    assert delay_s(1, 1e9) <= 66


def test_a_budget_counts_what_is_under_way():
    budget = Budget(1.0)
    assert budget.reserve(0.6)
    assert not budget.reserve(0.6)
    budget.settle(0.6, 0.1)
    assert budget.reserve(0.6)
    assert budget.spent_usd == pytest.approx(0.1)


def test_vendors_are_known_by_their_own_variables_and_others_by_ours():
    found = read_connections(
        {
            "OPENAI_API_KEY": "sk-1",
            "GEMINI_API_KEY": "g",
            "SCOREWRIGHT_CONNECTION_MY_HOST_URL": "http://127.0.0.1:1/v1",
            "SCOREWRIGHT_CONNECTION_MY_HOST_CONCURRENCY": "3",
            "ANTHROPIC_API_KEY": "",
        }
    )
    assert sorted(found) == ["google", "my-host", "openai"]
    assert (found["my-host"].kind, found["my-host"].concurrency) == ("openai", 3)
    assert "sk-1" not in repr(found)


@pytest.mark.parametrize(
    ("model", "wanted"),
    [
        ("openai/gpt-4o", ("openai", "gpt-4o")),
        ("openai:gpt-4o", ("openai", "gpt-4o")),
        ("my-host/meta/llama:70b", ("my-host", "meta/llama:70b")),
        ("gemini/gemini-2.5-flash", ("google", "gemini-2.5-flash")),
    ],
)
def test_only_the_first_part_of_a_model_is_the_connection(model: str, wanted: tuple[str, str]):
    names = ("openai", "my-host", "google")
    connections = {name: Connection(name=name, kind="openai") for name in names}
    connection, own = find_connection(model, connections)
    assert (connection.name, own) == wanted


@pytest.mark.parametrize(
    "environ",
    [
        {"SCOREWRIGHT_CONNECTION_X_URL": "ftp://a"},
        {"SCOREWRIGHT_CONNECTION_X_URL": "http://a", "SCOREWRIGHT_CONNECTION_X_KIND": "opnai"},
        {"SCOREWRIGHT_CONNECTION_X_URL": "http://a", "SCOREWRIGHT_CONNECTION_X_CONCURRENCY": "0"},
        {"AZURE_OPENAI_API_KEY": "k"},
    ],
)
def test_what_does_not_fit_is_refused_with_the_variable(environ: dict[str, str]):
    with pytest.raises(UsageError):
        read_connections(environ)
