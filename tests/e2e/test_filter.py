"""Which rows a run judges: `--filter`, `--sample-rate`, `--limit`, and what becomes of the other rows' results."""

from __future__ import annotations

from typing import Any

import pytest

from command_line import CommandLine, Finished
from scorewright import evaluate
from scorewright.domain.errors import UsageError

ROWS = [
    {"output": "x" * (n % 4), "n": n, "meta": {"lang": "en" if n % 2 else "de"}}
    for n in range(1, 601)
]
LENGTH = """\
def evaluate(output):
    if output == "xx":
        raise ValueError("two")
    return {"score": len(output), "explanation": "first time"}
"""
ODD = 'meta.lang = "en" and n > 100'
ODD_ROWS = [str(n) for n in range(101, 600, 2)]


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("length.py", LENGTH)
    return cli


def run(cli: CommandLine, *options: str) -> Finished:
    return cli(
        *("run", "length.py", "--data", "rows.jsonl", "--out", "results.jsonl"),
        *("--format", "json", *options),
    )


def judged(cli: CommandLine) -> list[str]:
    return [result["item_id"] for result in cli.results("results.jsonl")]


def counts(document: dict[str, Any]) -> tuple[int, ...]:
    return tuple(document[key] for key in ("rows", "matched", "sampled", "items"))


# ── What is judged ───────────────────────────────────────────────────────────────────────────────


def test_a_filter_takes_the_rows_that_match_by_their_own_numbers(workshop: CommandLine):
    done = run(workshop, "--filter", ODD.replace('"', "'"))

    document, summary = done.document, done.summary
    assert (done.code, done.stderr) == (0, "")
    assert judged(workshop) == ODD_ROWS
    assert counts(document) == (600, 250, 250, 250)
    assert (document["filter"], document["sample_rate"]) == (ODD, 1.0)
    assert document["complete"] is True
    assert summary["scored"] + summary["failed"] == summary["mean_n"] == 250
    assert {item["item"] % 2 for item in summary["slowest"]} == {1}


def test_a_failure_is_named_by_its_row(workshop: CommandLine):
    summary = run(workshop, "--filter", "n > 300").summary

    (failure,) = summary["failures"]
    assert (failure["first_item"], failure["count"]) == (302, 75)
    assert (summary["scored"], summary["mean_n"]) == (225, 225)


def test_a_sample_is_part_of_every_larger_one_and_the_same_every_time(workshop: CommandLine):
    taken: list[list[str]] = []
    for rate in ("0", "0.1", "0.1", "0.4", "1"):
        document = run(workshop, "--sample-rate", rate).document
        taken.append(judged(workshop))
        assert counts(document) == (600, 600, len(taken[-1]), len(taken[-1]))
        assert document["sample_rate"] == float(rate)

    none, tenth, again, more, every = taken
    assert (none, every) == ([], [str(n) for n in range(1, 601)])
    assert tenth == again
    assert 30 < len(tenth) < 100
    assert set(tenth) < set(more) < set(every)


def test_the_sample_is_of_what_matches_and_the_limit_of_the_sample(workshop: CommandLine):
    run(workshop, "--sample-rate", "0.3")
    sampled = [row for row in judged(workshop) if row in ODD_ROWS]

    document = run(workshop, "--filter", ODD, "--sample-rate", "0.3", "--limit", "7").document

    assert judged(workshop) == sampled[:7]
    assert counts(document) == (600, 250, len(sampled), 7)


def test_without_a_filter_all_rows_match(workshop: CommandLine):
    document = run(workshop, "--limit", "5").document

    assert counts(document) == (600, 600, 600, 5)
    assert (document["filter"], document["sample_rate"]) == (None, 1.0)


def test_the_table_says_what_the_rows_were_taken_from(workshop: CommandLine):
    call = ("run", "length.py", "--data", "rows.jsonl")

    chosen = workshop(*call, "--filter", f"({ODD})", "--sample-rate", "0.5", "--limit", "9")
    plain = workshop(*call)

    first, matching, sampled, *_ = chosen.stdout.splitlines()
    assert first.startswith("9 rows in ")
    assert matching == f"250 of 600 rows match {ODD}"
    assert sampled.endswith(" of 250 rows sampled at rate 0.5")
    assert " match " not in plain.stdout
    assert "sampled" not in plain.stdout


def test_cells_of_csv_are_compared_as_numbers_with_numbers(cli: CommandLine):
    cli.write("rows.csv", "output,unit price,zip\nx,9.5,007\nxx,10,7\nxxx,n/a,70\n")
    cli.write("length.py", LENGTH.replace('"xx"', '"-"'))

    for expression, items in (
        ('["unit price"] > 9.9', ["2"]),
        ("zip = 7", ["2"]),
        ('zip = "007"', ["1"]),
        ("not ['unit price'] < 10", None),
        ('not ["unit price"] < 10', ["2", "3"]),
    ):
        done = cli(
            *("run", "length.py", "--data", "rows.csv", "--out", "r.jsonl"),
            *("--filter", expression),
        )
        assert done.code == (2 if items is None else 0)
        if items is not None:
            assert [r["item_id"] for r in cli.results("r.jsonl")] == items


def test_a_filter_that_nothing_matches_leaves_nothing_to_average(workshop: CommandLine):
    done = run(workshop, "--filter", "n > 5000", "--fail-under", "length=0")

    assert done.code == 1
    assert "nothing was measured" in done.stderr
    assert counts(done.document) == (600, 0, 0, 0)
    assert judged(workshop) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--filter", "mata.lang = 'en'"], '"mata" (did you mean "meta"?)'),
        (["--filter", "n > 1 adn n < 5"], "filter, column 7: "),
        (["--filter", ""], "filter, column 1: a field is missing"),
        (["--sample-rate", "1.1"], "1.1 is not between 0 and 1"),
        (["--sample-rate", "nan"], "nan is not between 0 and 1"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_runs(
    workshop: CommandLine, options: list[str], said: str
):
    done = run(workshop, *options)

    assert (done.code, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (workshop.folder / "results.jsonl").exists()


def test_a_second_look_is_had_at_a_filtered_run_too(workshop: CommandLine):
    workshop.write(
        "length.py", 'def evaluate(n):\n    return {"score": n, "explanation": "its number"}\n'
    )

    (evaluator,) = run(workshop, "--filter", ODD).document["evaluators"]

    # The second and each hundredth of the 250 rows.
    assert (evaluator["judged_twice"], evaluator["nondeterministic"]) == (3, 0)


# ── Results of other rows ────────────────────────────────────────────────────────────────────────


@pytest.fixture
def whole(workshop: CommandLine) -> CommandLine:
    """A folder with the results of all rows, and another version of the evaluator."""
    run(workshop)
    workshop.write("length.py", LENGTH.replace("first", "second").replace('"xx"', '"-"'))
    return workshop


def test_results_of_rows_that_do_not_match_stay_in_their_place(whole: CommandLine):
    before = whole.results("results.jsonl")

    done = run(whole, "--resume", "--filter", "n >= 298 and n <= 303")

    after = whole.results("results.jsonl")
    changed = [r["item_id"] for r, old in zip(after, before, strict=True) if r != old]
    assert done.code == 0
    assert changed == ["298", "302"]  # those that had failed
    assert counts(done.document) == (600, 6, 6, 6)
    assert done.document["kept"] == 4
    assert done.summary["mean_n"] == 6


def test_a_run_can_be_widened_step_by_step(workshop: CommandLine):
    run(workshop, "--filter", "n = 400 or n = 10")
    run(workshop, "--filter", "n in (5, 10, 399, 401)", "--resume")
    widened = judged(workshop)

    sampled = run(workshop, "--sample-rate", "0.2", "--resume")
    good = [r for r in workshop.results("results.jsonl") if r["failure"] is None]
    done = run(workshop, "--resume")

    assert widened == ["5", "10", "399", "400", "401"]
    assert sampled.code == done.code == 0
    assert judged(workshop) == [str(n) for n in range(1, 601)]
    assert done.document["kept"] == len(good) > 50


def test_results_of_a_filtered_run_are_used_again_by_a_whole_one(cli: CommandLine):
    cli = CommandLine(cli.folder, may_reuse=True)
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("length.py", LENGTH)
    first = run(cli, "--filter", "n <= 6")

    second = run(cli)

    reused = [r["item_id"] for r in cli.results("results.jsonl") if r["reused"]]
    assert first.code == second.code == 0
    assert {"1", "3", "4", "5"} <= set(reused)
    assert "2" not in reused  # it failed


# ── From Python ──────────────────────────────────────────────────────────────────────────────────


def length(output: str) -> dict[str, Any]:
    return {"score": len(output), "explanation": ""}


def test_the_python_interface_takes_the_same_rows(workshop: CommandLine):
    document = run(workshop, "--filter", ODD, "--sample-rate", "0.2", "--limit", "20").document

    results = evaluate(ROWS, length, filter=ODD, sample_rate=0.2, limit=20)

    assert [result.item_id for result in results] == judged(workshop)
    assert counts(results.report()) == counts(document)


def test_earlier_results_in_memory_keep_their_place_as_well():
    first = evaluate(ROWS, length, filter="n in (2, 4, 6)")

    second = evaluate(ROWS, length, filter="n in (3, 4)", previous=first)

    assert [result.item_id for result in second] == ["2", "3", "4", "6"]
    assert second.report()["kept"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"filter": 5}, "filter is 5; give an expression as text"),
        ({"filter": "output ="}, "a constant is missing"),
        ({"filter": "missing = 1"}, 'no column "missing"'),
        ({"sample_rate": 1.5}, "sample_rate is 1.5; give a probability from 0 to 1"),
        ({"sample_rate": True}, "sample_rate is true"),
        ({"sample_rate": float("nan")}, "sample_rate is nan"),
    ],
)
def test_arguments_that_cannot_be_used_are_refused(options: dict[str, Any], said: str):
    with pytest.raises(UsageError, match=said):
        evaluate(ROWS, length, **options)
