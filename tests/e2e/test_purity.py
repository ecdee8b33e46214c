"""Results that rest on more than their item are found out: by a second look in every run, and by `check --purity`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine

ROWS = [{"output": f"answer {n}"} for n in range(1, 31)]
CHECK = ("check", "one.py", "--purity", "--data", "rows.jsonl", "--format", "json")
PURE = "def evaluate(output):\n    return {'score': len(output), 'explanation': output}\n"

#: What is wrong with an evaluator, by what it must be blamed on: a body that gives `value`.
IMPURE = {
    "clock": "import datetime\nvalue = datetime.datetime.now().isoformat()",
    "item order": "import json\njson.n = getattr(json, 'n', 0) + 1\nvalue = json.n",
    "chance": "import random\nvalue = random.random()",
    "hash seed": "value = list({'a', 'b', 'c', 'd', output})",
}
#: Addresses differ from process to process; hashes of texts do not.
ADDRESS = "value = id(object())"


def evaluator(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return (
        f"def evaluate(output):\n{lines}    return {{'score': 0, 'explanation': str(value)[:99]}}\n"
    )


@pytest.fixture
def workshop(tmp_path: Path) -> CommandLine:
    cli = CommandLine(tmp_path)
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("one.py", PURE)
    return cli


def checked(workshop: CommandLine, code: int, *more: str) -> dict[str, Any]:
    done = workshop(*CHECK, *more)
    assert done.code == code, done.stdout + done.stderr
    (document,) = done.document
    return document


# ---- check --purity ----------------------------------------------------------------------------------


def test_a_pure_evaluator_is_called_pure(workshop: CommandLine):
    document = checked(workshop, 0)

    assert document["diagnostics"] == []
    assert document["purity"] == {
        "items": 30,
        "compared": 30,
        "varied": ["process", "item order", "clock", "chance", "hash seed"],
        "pure": True,
        "differences": [],
    }


@pytest.mark.parametrize("cause", IMPURE)
def test_what_a_result_rests_on_is_named(workshop: CommandLine, cause: str):
    workshop.write("one.py", evaluator(IMPURE[cause]))

    document = checked(workshop, 1)

    assert document["purity"]["pure"] is False
    assert [one["varied"] for one in document["purity"]["differences"]] == [cause]
    (diagnostic,) = document["diagnostics"]
    assert (diagnostic["code"], diagnostic["line"]) == ("nondeterministic", 1)
    assert f"another {cause}" in diagnostic["message"]
    assert "first item 1: explanation: " in diagnostic["message"]


def test_what_rests_on_the_process_differs_whatever_is_changed(workshop: CommandLine):
    workshop.write("one.py", evaluator(ADDRESS))

    differences = checked(workshop, 1)["purity"]["differences"]

    assert "process" in [one["varied"] for one in differences]


def test_a_long_text_is_shown_where_it_begins_to_differ(workshop: CommandLine):
    workshop.write(
        "one.py", evaluator("import datetime\nvalue = 'a' * 70 + str(datetime.date.today())")
    )

    message = checked(workshop, 1)["diagnostics"][0]["message"]

    assert message.count('"…aaaa') == 2


def test_javascript_is_checked_too(workshop: CommandLine):
    workshop.write(
        "one.js",
        "function evaluate(output) { return {score: Date.now(), explanation: String(Math.random())}; }",
    )

    done = workshop("check", "one.js", "--purity", "--data", "rows.jsonl", "--format", "json")

    purity = done.document[0]["purity"]
    assert done.code == 1
    assert [one["varied"] for one in purity["differences"]] == ["clock", "chance"]
    assert purity["varied"] == ["process", "item order", "clock", "chance"]


def test_failures_that_are_always_the_same_are_pure(workshop: CommandLine):
    workshop.write("one.py", "def evaluate(output):\n    raise ValueError(output)\n")

    assert checked(workshop, 0)["purity"]["pure"] is True


def test_only_as_many_rows_as_asked_for_are_judged(workshop: CommandLine):
    assert checked(workshop, 0, "--limit", "3")["purity"]["items"] == 3


def test_mapping_and_params_are_those_of_a_run(workshop: CommandLine):
    workshop.write(
        "one.py", PURE.replace("evaluate(output)", "evaluate(text)").replace("output", "text")
    )

    unmapped = workshop(*CHECK)
    mapped = checked(workshop, 0, "--map", "text=output")

    assert unmapped.code == 2
    assert mapped["purity"]["compared"] == 30


def test_what_the_items_are_is_said_as_for_a_run(workshop: CommandLine):
    workshop.write("one.py", PURE.replace("output", "body"))
    workshop.write_rows("rows.jsonl", [{"message": "sold"}, {"message": "returned"}])

    found = checked(workshop, 0, "--source", "logs")["purity"]

    assert (found["items"], found["pure"]) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check", "one.py", "--purity"), "--purity needs items to judge: --data PATH"),
        (("check", "one.py", "--data", "rows.jsonl"), "are for --purity"),
        (("check", "one.py", "--source", "logs"), "are for --purity"),
        (("check", "one.py", "--purity", "--data", "none.jsonl"), "none.jsonl"),
    ],
)
def test_a_call_that_makes_no_sense_is_the_callers(
    workshop: CommandLine, arguments: tuple[str, ...], said: str
):
    done = workshop(*arguments)

    assert done.code == 2
    assert said in done.stderr


def test_no_rows_prove_nothing(workshop: CommandLine):
    workshop.write_rows("rows.jsonl", [])

    assert workshop(*CHECK).code == 2


def test_a_file_with_errors_is_not_run(workshop: CommandLine):
    workshop.write("one.py", "def evaluat(x): pass\n")

    document = checked(workshop, 1)

    assert "purity" not in document


def test_the_answer_is_shown_to_people(workshop: CommandLine):
    workshop.write("one.py", evaluator(IMPURE["clock"]))

    shown = workshop("check", "one.py", "--purity", "--data", "rows.jsonl").stdout

    assert "30 items judged with another process, item order, clock, chance, hash seed" in shown
    assert "NOT always the same" in shown
    assert "error     1:1 30 of 30 items came out differently with another clock" in shown


# ---- the second look -----------------------------------------------------------------------------------


def looked(workshop: CommandLine, *more: str) -> dict[str, Any]:
    done = workshop("run", "one.py", "--data", "rows.jsonl", "--format", "json", *more)
    assert done.code == 0, done.stderr
    return done.document["evaluators"][0]


def test_every_hundredth_item_is_judged_twice(workshop: CommandLine):
    workshop.write_rows("rows.jsonl", [{"output": str(n)} for n in range(1250)])

    evaluator = looked(workshop)

    assert evaluator["judged_twice"] == 13  # the second one, and each hundredth
    assert evaluator["nondeterministic"] == 0
    assert evaluator["first_nondeterministic"] is None


def test_what_an_earlier_item_left_behind_is_found_out(workshop: CommandLine):
    workshop.write("one.py", evaluator(IMPURE["item order"]))

    found = looked(workshop)
    shown = workshop("run", "one.py", "--data", "rows.jsonl").stdout

    assert (found["judged_twice"], found["nondeterministic"]) == (1, 1)
    assert found["first_nondeterministic"] == "2"
    assert "one is nondeterministic: 1 of 1 item judged twice" in " ".join(shown.split())


@pytest.mark.parametrize("cause", ["clock", "chance", "hash seed"])
def test_what_stands_still_during_a_run_is_no_difference(workshop: CommandLine, cause: str):
    workshop.write("one.py", evaluator(IMPURE[cause]))

    assert looked(workshop)["nondeterministic"] == 0


def test_without_a_sandbox_nothing_is_judged_twice(workshop: CommandLine):
    assert looked(workshop, "--runner", "local")["judged_twice"] == 0


def test_items_that_hit_a_limit_are_not_compared(workshop: CommandLine):
    workshop.write("one.py", "def evaluate(output):\n    while True: pass\n")

    found = looked(workshop, "--timeout-s", "0.1", "--limit", "2")

    assert found["judged_twice"] == 0


def test_the_second_look_holds_for_one_evaluator_among_several(workshop: CommandLine):
    workshop.write("leaky.py", evaluator(IMPURE["item order"]))

    done = workshop("run", "one.py", "leaky.py", "--data", "rows.jsonl", "--format", "json")

    assert [one["nondeterministic"] for one in done.document["evaluators"]] == [0, 1]


# ---- what is set for every command -------------------------------------------------------------------


@pytest.mark.parametrize("command", [CHECK, ("runner", "check", "jail", "--quick")])
def test_a_layer_that_is_not_there_is_insisted_on_everywhere(
    workshop: CommandLine, command: tuple[str, ...]
):
    done = workshop(*command, env={"SCOREWRIGHT_RUNNER_REQUIRE": "a_layer_of_the_future"})

    assert done.code == 2
    assert "there is no layer 'a_layer_of_the_future'" in done.stderr


def test_items_without_an_end_end_the_check_after_one_pass(workshop: CommandLine):
    workshop.write("one.py", "def evaluate(output):\n    while True: pass\n")

    document = checked(workshop, 1, "--timeout-s", "0.1", "--limit", "3")

    assert document["purity"]["compared"] == 0
    assert [one["code"] for one in document["diagnostics"]] == ["not_compared"]


def test_the_check_runs_where_the_environment_says(workshop: CommandLine):
    workshop.write(
        "one.py", "import os\n\ndef evaluate(output):\n    return {'score': 1, 'explanation': ''}\n"
    )

    jailed = workshop(*CHECK, env={"SCOREWRIGHT_RUNNER": "jail"})
    restricted = workshop(*CHECK, env={"SCOREWRIGHT_RUNNER": "restricted"})
    elsewhere = workshop(*CHECK, env={"SCOREWRIGHT_RUNNER": "wasm"})

    assert jailed.code == 0
    assert restricted.document[0]["purity"]["pure"] is True  # the same refusal for every item
    assert (elsewhere.code, elsewhere.stderr.count("\n")) == (2, 1)
    assert "there is no such runner" in elsewhere.stderr
