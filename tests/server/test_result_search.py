"""Every filter in every order finds what going through all results finds, page by page, on both databases."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from starlette.testclient import TestClient

from scorewright.domain.result_record import ResultRecord
from scorewright.domain.words import searched_words, words_of
from scorewright.services import run_results
from scorewright.services.result_search import Order, Place, ResultFilter
from scorewright.services.run_model import FrozenEvaluator
from scorewright.services.run_results import Question
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import default_project_id
from stored_records import made_record
from stored_runs import StoredPart, frozen_evaluator, new_run, new_task, store

NAMES = ("similarity", "rating", "length")
RANGES = ((0.0, 1.0), (1.0, 4.0), None)
START_US = 1_767_225_600_000_000
ORDERS: tuple[Order, ...] = ("item", "newest", "lowest", "highest")

#: Each question has some answers; all pairs are asked.
ANSWERS: dict[str, list[Any]] = {
    "statuses": [("failed",), ("scored", "skipped"), ("skipped", "failed")],
    "names": [("rating",), ("length", "similarity")],
    "min_score": [0.5, 1 / 3, -10.0, 1e9],
    "max_score": [0.5, 2 / 3, 0.0],
    "is_normalised": [True],
    "passed": [True, False],
    "out_of_range": [True, False],
    "failure_code": ["timeout", "output_limit"],
    "search": ["refund", "late höf", "退", "nowhere", "n", "n1 order", "REFUNDS late"],
    "item_id": ["17", "item-17", "017", "item"],
    "from_us": [START_US + 3_000_000],
    "to_us": [START_US + 6_000_000, START_US],
}


class Stored:
    """A run of six parts, and all that is in it."""

    def __init__(self, database: Database, seed: int) -> None:
        chance = random.Random(seed)  # noqa: S311 - data
        self.database = database
        self.project_id = default_project_id(database)
        self.frozen: list[FrozenEvaluator] = list(map(frozen_evaluator, NAMES, RANGES))
        self.run_id = new_run(database, new_task(database, "task"), self.frozen, total=120)
        self.all: list[tuple[int, int, int, ResultRecord]] = []
        moments = [0, 3, 3, 6, 5, 9]
        for number in chance.sample(range(6), 6):  # chunks end in any order
            created_us = START_US + moments[number] * 1_000_000 + number // 2
            first = number * 20 + 1
            # One part has few of the items, as under a filter, and one evaluator has not all of another's.
            items = [range(first, first + 20), range(first, first + 20, 3)][number == 4]
            found = [
                [
                    (n, made_record(at, n, RANGES[at], chance, is_named=number == 2))
                    for n in items
                    if at or n % 5 or number == 1
                ]
                for at in range(3)
            ]
            store(database, self.run_id, self.frozen, StoredPart(number, created_us, found))
            for at, own in enumerate(found):
                self.all += [(at, n, created_us, record) for n, record in own]

    def results(self, asked: Question) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        after: Place | None = None
        while page := run_results.page(
            self.database, self.project_id, self.run_id, asked, after=after, limit=13
        ):
            after = run_results.place_of(page[-1], asked)
            found += [(one.evaluator_no, one.item_no) for one in page]
        return found

    def items(self, asked: Question) -> list[int]:
        found: list[int] = []
        after: Place | None = None
        while page := run_results.items(
            self.database, self.project_id, self.run_id, asked, after=after, limit=7
        ):
            after = page[-1].place
            for one in page:
                numbers = [(r.evaluator_no, r.item_no) for r in one.results]
                own = sorted((at, n) for at, n, _, _ in self.all if n == one.place.item_no)
                assert numbers == own
            found += [one.place.item_no for one in page]
        return found

    def expected(self, asked: Question) -> list[tuple[int, int, int, ResultRecord]]:
        return [one for one in self.all if _is_meant(one, asked)]


def _is_meant(one: tuple[int, int, int, ResultRecord], asked: Question) -> bool:
    at, _, created_us, record = one
    wanted = asked.wanted
    score = record.normalised_score if wanted.is_normalised else record.score
    code = None if record.failure is None else record.failure.code.value
    message = None if record.failure is None else record.failure.message
    words = {
        w for text in (record.explanation, record.reason, message) for w in words_of(text or "")
    }
    by_score = asked.order in ("lowest", "highest")
    return all(
        (
            not asked.names or NAMES[at] in asked.names,
            not wanted.statuses or record.status in wanted.statuses,
            not by_score or score is not None,
            wanted.min_score is None or (score is not None and score >= wanted.min_score),
            wanted.max_score is None or (score is not None and score <= wanted.max_score),
            wanted.passed is None or record.passed is wanted.passed,
            wanted.out_of_range is None or record.out_of_range is wanted.out_of_range,
            wanted.failure_code is None or code == wanted.failure_code,
            wanted.item_id is None or record.item_id == wanted.item_id,
            wanted.from_us is None or created_us >= wanted.from_us,
            wanted.to_us is None or created_us < wanted.to_us,
            not wanted.search
            or all(any(w.startswith(s) for w in words) for s in searched_words(wanted.search)),
        )
    )


def _key(asked: Question) -> Callable[[tuple[int, int, int, ResultRecord]], tuple[float, ...]]:
    def key(one: tuple[int, int, int, ResultRecord]) -> tuple[float, ...]:
        at, number, created_us, record = one
        if asked.order == "item":
            return at, number
        if asked.order == "newest":
            return -created_us, at, number
        score = record.normalised_score if asked.wanted.is_normalised else record.score
        assert score is not None
        return (score if asked.order == "lowest" else -score), number, at

    return key


def _check(stored: Stored, asked: Question) -> None:
    expected = sorted(stored.expected(asked), key=_key(asked))
    assert stored.results(asked) == [(at, n) for at, n, _, _ in expected], asked
    if asked.order == "item":
        numbers = sorted({n for _, n, _, _ in expected})
    elif asked.order == "newest":
        numbers = [n for _, n in sorted({(-us, n) for _, n, us, _ in expected})]
    else:
        numbers = list(dict.fromkeys(n for _, n, _, _ in expected))
    assert stored.items(asked) == numbers, asked


def _questions(chance: random.Random) -> Iterable[dict[str, Any]]:
    yield {}
    for name, values in ANSWERS.items():
        for value in values:
            yield {name: value}
    for one, other in itertools.combinations(ANSWERS, 2):
        yield {one: chance.choice(ANSWERS[one]), other: chance.choice(ANSWERS[other])}
    for _ in range(40):
        names = chance.sample(list(ANSWERS), chance.randint(3, 5))
        yield {name: chance.choice(ANSWERS[name]) for name in names}


def test_every_filter_finds_what_going_through_all_finds(client: TestClient, database: Database):
    del client
    stored, chance = Stored(database, 1), random.Random(1)  # noqa: S311 - data
    for given in _questions(chance):
        names = given.pop("names", ())
        orders = ORDERS if len(given) < 2 else (chance.choice(ORDERS),)
        for order in orders:
            _check(stored, Question(wanted=ResultFilter(**given), names=names, order=order))


def test_distributions_with_a_filter_are_of_what_it_leaves(client: TestClient, database: Database):
    del client
    stored = Stored(database, 3)
    for wanted in (
        ResultFilter(passed=True),
        ResultFilter(search="refund", max_score=0.9),
        ResultFilter(min_score=0.5, is_normalised=True),
    ):
        asked = Question(wanted=wanted)
        found = run_results.distributions(database, stored.project_id, stored.run_id, asked)
        for at, one in enumerate(found):
            scores = sorted(
                record.score
                for no, _, _, record in stored.expected(asked)
                if no == at and record.score is not None and not record.out_of_range
            )
            assert one.n == len(scores)
            if scores:
                assert one.percentiles["50"] == scores[(len(scores) + 1) // 2 - 1]


def test_the_routes_take_filter_and_order(client: TestClient, database: Database):
    stored = Stored(database, 4)
    path = f"/api/v1/projects/default/runs/{stored.run_id}"
    moment = datetime.fromtimestamp(START_US / 1e6 + 3, UTC).isoformat()
    params = {"evaluator": "rating", "normalised": True, "order": "lowest", "from": moment}
    asked = Question(
        wanted=ResultFilter(is_normalised=True, from_us=START_US + 3_000_000),
        names=("rating",),
        order="lowest",
    )

    seen: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page: Any = client.get(f"{path}/results", params={**params, **cursor, "limit": 9}).json()
        seen += [one["item_no"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    items: Any = client.get(f"{path}/items", params={**params, "limit": 500}).json()

    assert seen == [n for _, n, _, _ in sorted(stored.expected(asked), key=_key(asked))]
    assert [one["item_no"] for one in items["items"]] == seen
    assert all(len(one["results"]) >= 2 for one in items["items"])


def test_a_search_without_a_word_is_refused_by_name(client: TestClient, database: Database):
    stored = Stored(database, 5)
    path = f"/api/v1/projects/default/runs/{stored.run_id}"

    answers = [
        client.get(f"{path}/{kind}", params={"search": "-!"}) for kind in ("results", "items")
    ]

    for answer in answers:
        assert answer.status_code == 422
        assert "letter" in answer.text
