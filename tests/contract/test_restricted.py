"""The restricted policy: what it lets through and refuses, and that its walls are the jail's."""

from __future__ import annotations

import re
from collections.abc import Generator
from importlib import util
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from pathlib import Path

import pytest

from command_line import CommandLine
from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.domain.result import Failed, FailureCode
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.harness.restricted import BUILTINS, LIBRARY
from scorewright.runners.jail.supervisor import JailRunner, RestrictedRunner
from scorewright.services.runner_choice import Runners
from workbench import explanation, run, scores

WAY_OUT = "; --runner jail runs it without this policy, in the same sandbox"
ROOT = Path(__file__).parents[2]
SEED = ROOT.parent / "shared" / "seeds" / "agenta-custom-code-evaluator.txt"


@pytest.fixture(scope="module")
def restricted() -> Generator[RestrictedRunner]:
    runner = RestrictedRunner()
    yield runner
    runner.close()


def shown(runner: JailRunner, expression: str, before: str = "pass") -> str:
    """The text of an expression's value, after some statements."""
    body = "\n".join(f"    {line}" for line in before.split("\n"))
    source = (
        f'def evaluate(x):\n{body}\n    return {{"score": x, "explanation": str({expression})}}\n'
    )
    (outcome,) = run(runner, source)
    return explanation(outcome)


def failure(runner: JailRunner, source: str) -> Failed:
    (outcome,) = run(runner, source)
    assert isinstance(outcome, Failed), outcome
    return outcome


def report_of(runner: JailRunner) -> RunnerReport:
    runner.spawn(Limits()).end()
    report = runner.report()
    assert report is not None
    return report


@pytest.mark.parametrize(
    ("before", "expression", "value"),
    [
        ("import math", "math.sqrt(0.25)", "0.5"),
        ("import json", 'json.loads("[1]")[0]', "1"),
        ("import re", 're.findall(r"\\d", "a1b2")', "['1', '2']"),
        ("from collections import Counter", 'Counter("aab")["a"]', "2"),
        ("import collections.abc", "isinstance([], collections.abc.Sequence)", "True"),
        ("from functools import reduce", "reduce(max, [1, 3, 2])", "3"),
        ("import itertools", "list(itertools.chain([1], [2]))", "[1, 2]"),
        ("import random", "0 <= random.random() < 1", "True"),
        ("import string", "string.digits", "0123456789"),
        ("from typing import Any, Dict", "Dict[str, Any]", "typing.Dict[str, typing.Any]"),
        ("from datetime import date", "date(2026, 1, 2)", "2026-01-02"),
        ("import statistics", "statistics.mean([1, 2, 3])", "2"),
        ("from scorewright.authoring import EvalResult", "EvalResult(score=0.5).score", "0.5"),
        ("from amp_evaluation import EvalResult", "EvalResult(score=0.5).score", "0.5"),
        ("a = 1\na += 2", "a", "3"),
        ("found = {}\nfound['a'] = 1\nfound['a'] += 2", "found", "{'a': 3}"),
        ("a, (b, *c) = 1, (2, 3, 4)", "(a, b, c)", "(1, 2, [3, 4])"),
        ("a = b, c = iter([1, 2])", "(b, c)", "(1, 2)"),
        ("names: list[str] = []\nnames.append('a')", "names", "['a']"),
        ("pairs = [(1, 2), (3, 4)]", "[a * b for a, b in pairs]", "[2, 12]"),
        ("f = lambda *a, **b: (a, b)", "f(*[1], **{'k': 2})", "((1,), {'k': 2})"),
        ("if (n := 4) > 3: pass", "n", "4"),
        ("d = {1: 2, 3: 4}\ndel d[1]", "d", "{3: 4}"),
        ("try: 1 / 0\nexcept ZeroDivisionError as error: e = str(error)", "e", "division by zero"),
        ("input = 3\nprinted = 4", "input + printed", "7"),
        ("pass", "f'{0.5:.0%}'", "50%"),
        ("pass", "'{:.2f} {}'.format(0.125, 'a')", "0.12 a"),
        ("pass", "'{0.real:>{1}} {d[k]}'.format(7, 3, d={'k': 'v'})", "  7 v"),
        ("pass", "'{a}'.format_map({'a': 1})", "1"),
        ("pass", "(getattr(x, 'real'), getattr(x, 'nothing', 5), hasattr(x, '_x'))", "(1, 5, False)"),
        ("pass", "next(iter([1]))", "1"),
        ("pass", "sorted(set(map(abs, [-1, 1, 2])))", "[1, 2]"),
    ],
)  # fmt: skip
def test_ordinary_code_runs(restricted: RestrictedRunner, before: str, expression: str, value: str):
    assert shown(restricted, expression, before) == value


def test_classes_may_be_written(restricted: RestrictedRunner):
    source = """\
from __future__ import annotations

class Shape:
    corners: int = 0

    def __init__(self, size: Later) -> None:
        self.size = size

    @property
    def area(self):
        return 0

class Square(Shape):
    corners = 4

    @property
    def area(self):
        return super().area + self.size ** 2

class Later: pass

def evaluate(x):
    square = Square(3)
    square.size += x
    return {"score": square.area, "explanation": "text"}
"""

    assert scores(run(restricted, source, [1, 2])) == [16, 25]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("_hidden = 1", '"_hidden" is an invalid variable name'),
        ("x.__class__.__bases__[0].__subclasses__()", '"__subclasses__" is an invalid attribute'),
        ("(y for y in [1]).gi_frame", '"gi_frame" is a restricted name'),
        ("eval('1')", "the builtin eval"),
        ("exec('1')", "the builtin exec"),
        ("compile('1', '', 'eval')", "the builtin compile"),
        ("open('/etc/passwd')", "the builtin open"),
        ("type(x)", "the builtin type"),
        ("__import__('os')", '"__import__" is an invalid variable name'),
        ("from json import _default_encoder", '"_default_encoder" is an invalid variable name'),
        ("import json as _json", '"_json" is an invalid variable name'),
        ("class A(metaclass=x): pass", "a metaclass"),
        ("async def f(): pass", "AsyncFunctionDef statements are not allowed"),
        ("match x:\n      case _: pass", "Match statements are not allowed"),
        ("try: pass\n    except* ValueError: pass", "TryStar statements are not allowed"),
    ],
)
def test_what_the_policy_refuses_of_a_source_comes_before_anything_runs(
    restricted: RestrictedRunner, line: str, says: str
):
    source = f"print('ran')\ndef evaluate(x):\n    {line}\n"

    failed = failure(restricted, source)

    assert (failed.code, failed.type, failed.line) == (FailureCode.AUTHOR_ERROR, "PolicyError", 3)
    assert failed.message.startswith(f"the restricted policy refuses this: {says}")
    assert failed.message.endswith(WAY_OUT)


def test_of_several_refusals_the_first_is_shown_and_the_others_are_counted(
    restricted: RestrictedRunner,
):
    failed = failure(
        restricted, "def evaluate(x):\n    a = open('a')\n    b = eval('b')\n    exec(b)\n"
    )

    assert failed.line == 2
    assert "the builtin open (and 2 more);" in failed.message


@pytest.mark.parametrize(
    ("line", "kind", "says"),
    [
        ("import os", "ImportError", "the import of os (it allows collections, functools, "),
        ("import uuid", "ImportError", "the import of uuid "),
        ("import subprocess", "ImportError", "the import of subprocess "),
        ("import os.path as p", "ImportError", "the import of os.path "),
        ("from . import a", "ImportError", "the import of . "),
        ("import scorewright.runners", "ImportError", "the import of scorewright.runners "),
        ("getattr(x, '__class__')", "AttributeError", 'the attribute "__class__"'),
        ("setattr(x, '_a', 1)", "AttributeError", 'the attribute "_a"'),
        ("delattr(x, '_a')", "AttributeError", 'the attribute "_a"'),
        ("'{0.__class__}'.format(x)", "AttributeError", 'the attribute "__class__"'),
        ("'{0:{1.__class__}}'.format(x, x)", "AttributeError", 'the attribute "__class__"'),
        ("str.format('{0.__class__}', x)", "AttributeError", "str.format; call format on a text"),
        ("__import_ = 1", "PolicyError", "this: "),
    ],
)  # fmt: skip
def test_what_the_policy_refuses_of_a_run_says_so(
    restricted: RestrictedRunner, line: str, kind: str, says: str
):
    failed = failure(restricted, f"def evaluate(x):\n    pass\n    {line}\n")

    assert (failed.code, failed.type, failed.line) == (FailureCode.AUTHOR_ERROR, kind, 3)
    assert failed.message.startswith(f"the restricted policy refuses {says}")
    assert failed.message.endswith(WAY_OUT)


def test_a_formatter_is_no_way_round_the_guard_of_formats(restricted: RestrictedRunner):
    source = "import string\ndef evaluate(x):\n    string.Formatter().format('{0.__class__}', x)\n"

    failed = failure(restricted, source)

    assert (failed.type, failed.line) == ("AttributeError", 3)
    assert "Formatter.format" in failed.message


def test_a_refused_import_can_be_caught_as_any_missing_one(restricted: RestrictedRunner):
    before = "try:\n    import decimal\nexcept ImportError:\n    decimal = None"

    assert shown(restricted, "decimal", before) == "None"


def test_a_syntax_error_is_reported_as_in_the_jail(restricted: RestrictedRunner, jail: JailRunner):
    source = "def evaluate(x):\n    return (\n"

    failed = failure(restricted, source)

    assert (failed.type, failed.line) == ("SyntaxError", 2)
    assert failed == failure(jail, source)


@pytest.mark.parametrize(
    "attempt",
    [
        "json.codecs.open('/etc/passwd').read()",
        "json.codecs.builtins.open('/etc/passwd').read()",
        "re.enum.sys.modules['os'].listdir('/')",
        "statistics.sys.modules['os'].popen('id').read()",
        "statistics.sys.modules['os'].kill(1, 9)",
        "typing.sys.modules['posix'].open('/etc/passwd', 0)",
        "typing.sys.modules['_io'].FileIO('/etc/passwd')",
    ],
)
def test_an_escape_from_the_policy_gains_nothing(restricted: RestrictedRunner, attempt: str):
    module = attempt.partition(".")[0]

    (lost,) = run(restricted, f"import {module}\ndef evaluate(x):\n    return {attempt}\n")
    again = run(restricted, "def evaluate(x): return {'score': x, 'explanation': 'well'}")

    assert isinstance(lost, Failed)
    assert lost.type == "PermissionError"
    assert scores(again) == [1]


def test_an_escape_finds_nothing_of_the_hosts_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET_OF_THE_HOST", "canary")
    runner = RestrictedRunner()

    found = shown(runner, "dict(statistics.sys.modules['os'].environ)", "import statistics")
    runner.close()

    assert found.startswith("{")
    assert "canary" not in found


def test_limits_hold_as_in_the_jail(restricted: RestrictedRunner):
    endless = run(restricted, "def evaluate(x):\n    while True: pass\n", [1, 2])
    swallowing = failure(
        restricted,
        "def evaluate(x):\n    while True:\n        try:\n            while True: pass\n"
        "        except BaseException: pass\n",
    )
    greedy = failure(restricted, "def evaluate(x):\n    return 'a' * (1 << 40)\n")

    assert [each.code for each in endless if isinstance(each, Failed)] == [FailureCode.TIMEOUT] * 2
    assert swallowing.code is FailureCode.TIMEOUT
    assert greedy.code is FailureCode.OUT_OF_MEMORY


def test_the_layers_are_those_of_the_jail_and_the_engine_names_the_policy(
    restricted: RestrictedRunner, jail: JailRunner
):
    found = [report_of(runner) for runner in (restricted, jail)]

    assert [report.tier for report in found] == ["restricted", "jail"]
    assert found[0].engine == f"{found[1].engine}, RestrictedPython {version('RestrictedPython')}"
    assert found[0].layers == found[1].layers
    assert set(found[0].layers) >= RestrictedRunner.mandatory


@pytest.mark.parametrize("name", ["RestrictedPython", "scorewright.runners.harness.restricted"])
def test_the_plain_jail_knows_nothing_of_the_policy(jail: JailRunner, name: str):
    failed = failure(jail, f"import {name}\ndef evaluate(x): pass\n")

    assert failed.type == "ModuleNotFoundError"
    assert shown(jail, "type(x).__name__") == "int"


def test_a_missing_package_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch):
    find = util.find_spec

    def find_others(name: str) -> ModuleSpec | None:
        return None if name == "RestrictedPython" else find(name)

    monkeypatch.setattr(util, "find_spec", find_others)

    with pytest.raises(SandboxUnavailableError, match="pip install RestrictedPython"):
        RestrictedRunner().spawn(Limits())


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_other_languages_are_refused(language: str):
    runners = Runners("restricted")

    with pytest.raises(UsageError, match="runner restricted: it runs Python alone"):
        runners.of(language)  # type: ignore[arg-type] - one of the three


def test_the_variable_may_ask_for_it_and_results_say_so(cli: CommandLine):
    cli.write(
        "words.py",
        "def evaluate(trace: Trace, least=1):\n    print('seen')\n    return EvalResult(score=float(len(trace.output.split()) >= least))\n",
    )
    cli.write_rows("rows.jsonl", [{"output": "two words"}])
    files = {"plain.jsonl": "jail", "narrow.jsonl": "restricted"}

    runs = [
        cli(
            "run",
            "words.py",
            "--data",
            "rows.jsonl",
            "--out",
            out,
            env={"SCOREWRIGHT_RUNNER": name},
        )
        for out, name in files.items()
    ]

    (plain,), (narrow,) = map(cli.results, files)
    assert [done.code for done in runs] == [0, 0]
    assert (plain["runner"], narrow["runner"]) == ("jail", "restricted")
    assert plain["environment"] != narrow["environment"]
    assert narrow["output"] == "seen\n"
    assert [plain[key] for key in ("score", "digest")] == [
        narrow[key] for key in ("score", "digest")
    ]


def test_auto_never_chooses_it(cli: CommandLine):
    cli.write(
        "free.py",
        "def evaluate(x):\n    _hidden = 1\n    return {'score': x, 'explanation': 'text'}\n",
    )
    cli.write_rows("rows.jsonl", [{"x": 1}])

    done = cli("run", "free.py", "--data", "rows.jsonl", "--out", "results.jsonl")

    (result,) = cli.results("results.jsonl")
    assert done.code == 0
    assert result["runner"] == "jail"


def test_layers_can_be_required(cli: CommandLine):
    cli.write("fine.py", "def evaluate(x): return {'score': x, 'explanation': 'text'}\n")
    cli.write_rows("rows.jsonl", [{"x": 1}])
    call = ("run", "fine.py", "--data", "rows.jsonl", "--runner", "restricted")

    held = cli(*call, env={"SCOREWRIGHT_RUNNER_REQUIRE": "seccomp"})
    unknown = cli(*call, env={"SCOREWRIGHT_RUNNER_REQUIRE": "moat"})

    assert (held.code, unknown.code) == (0, 2)
    assert "there is no layer 'moat'" in unknown.stderr


@pytest.mark.skipif(not SEED.is_file(), reason="needs the seeds beside the repository")
def test_the_samples_of_agentas_page_run(cli: CommandLine):
    text = SEED.read_text(encoding="utf-8")
    samples = re.findall(
        r"^from typing import.*\n(?:(?:[ )].*|from .*|def .*)?\n)+", text, re.MULTILINE
    )
    samples = [sample for sample in samples if "return" in sample]
    for number, sample in enumerate(samples):
        cli.write(f"sample{number}.py", f"{sample.rstrip()}\n")
    cli.write_rows("rows.jsonl", [{"correct_answer": "Paris", "outputs": "Paris"}])

    done = cli(
        *("run", *(f"sample{number}.py" for number in range(len(samples)))),
        *("--data", "rows.jsonl", "--runner", "restricted", "--out", "results.jsonl"),
    )

    assert len(samples) == 4
    assert done.code == 0, done.stderr
    assert [result["status"] for result in cli.results("results.jsonl")] == ["scored"] * 4


def test_the_page_lists_what_is_allowed():
    page = (ROOT / "docs" / "reference" / "restricted.md").read_text(encoding="utf-8")
    listed = re.findall(r"`([\w.]+)`", page)

    assert {*LIBRARY, *BUILTINS} - {*listed} == set()
