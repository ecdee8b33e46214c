"""Stopped runs, killed runs, and going on from what they left."""

from __future__ import annotations

import os
import re
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from command_line import CommandLine
from left_behind import watch

ROWS = [{"output": str(n)} for n in range(1, 3001)]
#: Long enough that a run is under way for a while after its first results.
SLOW = """\
def evaluate(output):
    for _ in range(20000): pass
    if output.endswith("7"):
        return EvalResult.skip("ends in 7")
    return {"score": int(output) % 10, "explanation": output}
"""
RESUMED = ("run", "slow.py", "--data", "rows.jsonl", "--out", "results.jsonl", "--resume")


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("slow.py", SLOW)
    return cli


def timeless(path: Path) -> list[bytes]:
    return re.sub(rb'"duration_ms":[0-9.e-]+', b"", path.read_bytes()).split(b"\n")


@pytest.fixture
def pipe(workshop: CommandLine) -> Path:
    """Results go through this, so that tests know when the first are there."""
    path = workshop.folder / "pipe.jsonl"
    os.mkfifo(path)
    return path


def test_ctrl_c_finishes_what_is_under_way_and_the_run_can_be_gone_on_with(
    workshop: CommandLine, pipe: Path
):
    with watch(workshop, "run", "slow.py", "--data", "rows.jsonl", "--out", pipe.name) as watched:
        with pipe.open("rb") as results:
            text = results.readline()
            os.kill(watched.pid, signal.SIGINT)
            text += results.read()
        stopped = watched.finish()
    (workshop.folder / "results.jsonl").write_bytes(text)
    found = [result["item_id"] for result in workshop.results("results.jsonl")]

    resumed = workshop(*RESUMED, "--format", "json")
    whole = workshop("run", "slow.py", "--data", "rows.jsonl", "--out", "whole.jsonl")

    assert stopped.code == 130
    assert 0 < len(found) < len(ROWS)
    assert found == [str(number) for number in range(1, len(found) + 1)]
    assert f"{len(found):,} of {len(ROWS):,} rows" in stopped.stdout
    assert stopped.stderr.startswith("stopping: ")
    assert "--resume" in stopped.stderr.splitlines()[-1]
    assert watched.left == []
    assert (resumed.code, whole.code) == (0, 0)
    assert resumed.document["kept"] == len(found)
    assert resumed.document["complete"] is True
    assert timeless(workshop.folder / "results.jsonl") == timeless(workshop.folder / "whole.jsonl")


#: Waits at one row until the test lets go of the gate, a named pipe; needs a runner that has files.
GATED = """\
def evaluate(output):
    if output == "40":
        open("gate").read()
    return {"score": 1, "explanation": output}
"""
GOING_ON = (
    *("run", "gated.py", "--data", "rows.jsonl", "--out", "results.jsonl", "--resume"),
    *("--runner", "local", "--workers", "1"),
)


@pytest.fixture
def gated(workshop: CommandLine) -> CommandLine:
    """Results of all rows but 10 to 1,499, and an evaluator that will wait at row 40."""
    workshop.write("gated.py", GATED.replace("40", "none"))
    workshop("run", "gated.py", "--data", "rows.jsonl", "--out", "results.jsonl")
    lines = (workshop.folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    (workshop.folder / "results.jsonl").write_bytes(b"".join(lines[:9] + lines[1499:]))
    workshop.write("gated.py", GATED)
    os.mkfifo(workshop.folder / "gate")
    return workshop


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_while_going_on_keeps_the_earlier_results_that_were_not_reached(
    gated: CommandLine, times: int
):
    """The file is written anew beside the old one, which must not lose its end by that."""
    before = gated.results("results.jsonl")

    with watch(gated, *GOING_ON) as watched, ExitStack() as stack:
        stack.enter_context((gated.folder / "gate").open("wb"))
        os.kill(watched.pid, signal.SIGINT)
        assert watched.process.stderr is not None
        assert watched.process.stderr.readline().startswith("stopping: ")
        if times == 2:
            os.kill(watched.pid, signal.SIGINT)
        else:
            stack.close()
        stopped = watched.finish()

    after = gated.results("results.jsonl")
    found = [int(r["item_id"]) for r in after]
    assert stopped.code == 130
    assert watched.left == []
    assert found == sorted(set(found))
    assert len(found) < len(ROWS)
    assert [r for r in after if r in before] == before


def test_a_second_ctrl_c_stops_at_once(workshop: CommandLine, pipe: Path):
    workshop.write(
        "stuck.py",
        "def evaluate(output):\n"
        '    while output == "20": pass\n'
        '    return {"score": 1, "explanation": output}\n',
    )

    with watch(
        workshop,
        *("run", "stuck.py", "--data", "rows.jsonl", "--out", pipe.name),
        *("--timeout-s", "600", "--workers", "1"),
    ) as watched:
        with pipe.open("rb") as results:
            first = results.readline()
            os.kill(watched.pid, signal.SIGINT)
            assert watched.process.stderr is not None
            said = watched.process.stderr.readline()
            os.kill(watched.pid, signal.SIGINT)
            results.read()
        stopped = watched.finish()

    assert first.startswith(b'{"item_id":"1"')
    assert said.startswith("stopping: ")
    assert stopped.code == 130
    assert "Traceback" not in stopped.stderr
    assert watched.left == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
def test_a_killed_run_leaves_no_process_and_can_be_gone_on_with(
    workshop: CommandLine, pipe: Path, number: signal.Signals
):
    with watch(workshop, "run", "slow.py", "--data", "rows.jsonl", "--out", pipe.name) as watched:
        with pipe.open("rb") as results:
            text = results.readline()
            os.kill(watched.pid, number)
            text += results.read()
        killed = watched.finish()
    (workshop.folder / "results.jsonl").write_bytes(text)

    resumed = workshop(*RESUMED)

    assert killed.code == 128 + number
    assert watched.left == []
    assert resumed.code == 0
    assert [r["item_id"] for r in workshop.results("results.jsonl")] == [
        str(number) for number in range(1, len(ROWS) + 1)
    ]


# ── What is kept ─────────────────────────────────────────────────────────────────────────────────

FEW = [{"output": str(n)} for n in range(1, 7)]
FIRST = """\
def evaluate(output):
    if output in ("2", "5"):
        raise ValueError("first time")
    if output == "3":
        return EvalResult.skip("three")
    return {"score": 0 if output == "4" else 1, "explanation": "first time"}
"""
SECOND = 'def evaluate(output):\n    return {"score": 0.5, "explanation": "second time"}\n'


@pytest.fixture
def judged(cli: CommandLine) -> CommandLine:
    """A folder with results of a first run, and another version of its evaluator."""
    cli.write_rows("rows.jsonl", FEW)
    cli.write("judge.py", FIRST)
    assert cli("run", "judge.py", "--data", "rows.jsonl", "--out", "results.jsonl").code == 0
    cli.write("judge.py", SECOND)
    return cli


def resume(cli: CommandLine, *options: str):
    return cli(
        *("run", "judge.py", "--data", "rows.jsonl", "--out", "results.jsonl", "--resume"), *options
    )


def explanations(cli: CommandLine) -> list[str | None]:
    return [r["explanation"] for r in cli.results("results.jsonl")]


def test_only_what_failed_or_is_missing_runs_again(judged: CommandLine):
    before = judged.results("results.jsonl")

    run = resume(judged, "--format", "json")

    after = judged.results("results.jsonl")
    assert run.code == 0
    assert [r["item_id"] for r in after] == ["1", "2", "3", "4", "5", "6"]
    assert [after[n] for n in (0, 2, 3, 5)] == [before[n] for n in (0, 2, 3, 5)]
    assert [after[n]["explanation"] for n in (1, 4)] == ["second time"] * 2
    assert run.summary["mean_score"] == pytest.approx((1 + 0.5 + 0 + 0.5 + 1) / 5)
    assert (run.summary["scored"], run.summary["skipped"], run.summary["failed"]) == (5, 1, 0)


def test_results_of_another_version_are_kept_and_counted(judged: CommandLine):
    run = resume(judged)
    again = resume(judged, "--format", "json").document

    digests = [r["digest"] for r in judged.results("results.jsonl")]
    said = " ".join(run.stdout.split())
    assert "4 results kept from the earlier run, 4 made by another version" in said
    assert (again["kept"], again["kept_of_other_version"]) == (6, 4)
    assert len(set(digests)) == 2
    assert digests[1] == digests[4] == again["evaluators"][0]["digest"]


def test_rows_beyond_a_limit_keep_their_results(judged: CommandLine):
    run = resume(judged, "--limit", "2", "--format", "json")

    assert run.document["items"] == 2
    assert explanations(judged) == [
        "first time",
        "second time",
        None,
        "first time",
        None,
        "first time",
    ]


def test_results_of_rows_that_the_data_no_longer_have_are_not_dropped_in_silence(
    judged: CommandLine,
):
    before = (judged.folder / "results.jsonl").read_bytes()
    judged.write_rows("rows.jsonl", FEW[:4])

    run = resume(judged)

    assert run.code == 2
    assert 'have row "5", which is not among the 4 of the data' in run.stderr
    assert (judged.folder / "results.jsonl").read_bytes() == before


def test_a_row_that_changed_is_judged_anew(judged: CommandLine):
    judged.write_rows("rows.jsonl", [{"output": "changed"}, *FEW[1:]])

    run = resume(judged, "--format", "json")

    assert run.document["kept"] == 3
    assert explanations(judged)[0] == "second time"


def test_rows_that_moved_are_judged_anew(judged: CommandLine):
    judged.write_rows("rows.jsonl", [FEW[0], {"output": "new"}, *FEW[1:]])

    run = resume(judged, "--format", "json")

    assert run.document["kept"] == 1
    assert explanations(judged) == ["first time", *["second time"] * 6]


@pytest.fixture
def scaled(cli: CommandLine) -> CommandLine:
    """A folder with results of a definition that has a range, a threshold, a mapping and a param."""
    cli.write_rows("rows.jsonl", [{**row, "other": "x"} for row in FEW])
    cli.write(
        "scale.py",
        "def evaluate(output, *, factor: float = 1.0):\n"
        '    return {"score": len(output) * factor, "explanation": output}\n',
    )
    cli.write("scale.yaml", SCALE)
    assert scale(cli).code == 0
    return cli


SCALE = (
    "source: scale.py\nscore_range: [0, 10]\nthreshold: 1\n"
    "params: [{key: factor, type: float, default: 1.0}]\n"
)


def scale(cli: CommandLine, *options: str):
    return cli(
        *("run", "scale.yaml", "--data", "rows.jsonl", "--out", "results.jsonl"),
        *("--format", "json", *options),
    )


@pytest.mark.parametrize(
    "line", ["score_range: [0, 5]", "score_range: [1, 10]", "threshold: 2"], ids=str
)
def test_another_reading_of_the_score_keeps_nothing(scaled: CommandLine, line: str):
    key = line.partition(":")[0]
    scaled.write("scale.yaml", re.sub(f"{key}: .*", line, SCALE))

    resumed = scale(scaled, "--resume")

    anew = scale(scaled)
    assert (resumed.code, resumed.document["kept"]) == (0, 0)
    assert {**resumed.summary, "slowest": None} == {**anew.summary, "slowest": None}


@pytest.mark.parametrize("option", [("--map", "output=other"), ("--param", "factor=2")])
def test_another_mapping_or_param_keeps_nothing(scaled: CommandLine, option: tuple[str, str]):
    changed = scale(scaled, "--resume", *option)
    again = scale(scaled, "--resume", *option)

    assert (changed.code, changed.document["kept"]) == (0, 0)
    assert again.document["kept"] == len(FEW)


def test_results_made_without_a_sandbox_are_named_when_they_are_kept(judged: CommandLine):
    resume(judged, "--runner", "local")

    mixed = resume(judged, "--format", "json").document

    assert mixed["kept"] == 6
    assert mixed["kept_runners"] == ["jail", "local: no sandbox"]


def test_an_evaluator_that_is_new_to_the_run_judges_every_row(judged: CommandLine):
    judged.write("other.py", SECOND)

    run = judged(
        *("run", "judge.py", "other.py", "--data", "rows.jsonl"),
        *("--out", "results.jsonl", "--resume", "--format", "json"),
    )

    names = [r["evaluator"] for r in judged.results("results.jsonl")]
    assert run.code == 0
    assert names == ["judge", "other"] * 6
    assert [s["scored"] for s in run.document["summary"]] == [5, 6]
    assert run.document["kept"] == 4


def test_results_of_an_evaluator_that_is_not_in_the_run_are_not_dropped_in_silence(
    judged: CommandLine,
):
    before = (judged.folder / "results.jsonl").read_bytes()
    judged.write("other.py", SECOND)

    run = judged(
        *("run", "other.py", "--data", "rows.jsonl", "--out", "results.jsonl", "--resume"),
    )

    assert run.code == 2
    assert "judge" in run.stderr
    assert "name it as well" in run.stderr
    assert (judged.folder / "results.jsonl").read_bytes() == before
    assert not list(judged.folder.glob("*part*"))


def test_a_last_line_that_was_cut_off_counts_as_missing(judged: CommandLine):
    text = (judged.folder / "results.jsonl").read_bytes()
    (judged.folder / "results.jsonl").write_bytes(text[:-40])

    run = resume(judged)

    assert run.code == 0
    assert explanations(judged) == [
        "first time",
        "second time",
        None,
        "first time",
        *["second time"] * 2,
    ]


def test_a_line_in_the_middle_that_is_no_result_is_refused(judged: CommandLine):
    lines = (judged.folder / "results.jsonl").read_bytes().split(b"\n")
    text = b"\n".join([*lines[:2], lines[2][:-40], *lines[3:]])
    (judged.folder / "results.jsonl").write_bytes(text)

    run = resume(judged)

    assert run.code == 2
    assert "results.jsonl, line 3: not a result" in run.stderr
    assert (judged.folder / "results.jsonl").read_bytes() == text
    assert not list(judged.folder.glob("*part*"))


def test_results_in_another_order_are_refused(judged: CommandLine):
    lines = (judged.folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    text = b"".join([lines[1], lines[0], *lines[2:]])
    (judged.folder / "results.jsonl").write_bytes(text)

    run = resume(judged)

    assert run.code == 2
    assert "not in item order" in run.stderr
    assert (judged.folder / "results.jsonl").read_bytes() == text


def test_resuming_without_earlier_results_is_a_first_run(cli: CommandLine):
    cli.write_rows("rows.jsonl", FEW)
    cli.write("judge.py", SECOND)

    run = resume(cli)

    assert run.code == 0
    assert len(cli.results("results.jsonl")) == 6
