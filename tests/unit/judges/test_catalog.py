import json
from pathlib import Path
from typing import Any

import pytest

from scorewright.domain.binding import compile_binder
from scorewright.domain.convention import Level
from scorewright.domain.mapping import plan_arguments
from scorewright.judges._catalog import CATALOG, catalog_definition
from scorewright.judges.definition import build_judge, read
from scorewright.judges.fields import LEVEL_OBJECTS
from scorewright.judges.prompt import make_request
from scorewright.sources.opening import open_source

TRACES = Path(__file__).parents[2] / "fixtures" / "traces"
FILES = sorted(TRACES.glob("*.json"))
#: AMP's sixteen: fifteen that its platform offers, and the one that needs an expected answer.
BY_LEVEL = {Level.TRACE: 8, Level.AGENT: 4, Level.LLM: 4}


def test_every_criterion_of_the_catalogue_is_there_at_its_level():
    levels = [judge.level for judge in CATALOG.values()]
    assert {level: levels.count(level) for level in BY_LEVEL} == BY_LEVEL


@pytest.mark.parametrize("name", CATALOG)
def test_a_judge_that_comes_along_is_without_a_flaw(name: str):
    judge = build_judge(catalog_definition(name), origin=name)
    assert judge.warnings == ()
    assert judge.score_range == (0, 1)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("name", CATALOG)
def test_its_prompt_can_be_filled_from_every_kind_of_trace(name: str, file: Path):
    judge = build_judge(catalog_definition(name), origin=name)
    if any(variable.name == "task" for variable in judge.variables):
        pytest.skip("needs a data set's row")
    source = open_source(file, "traces", levels={judge.level})
    plan = plan_arguments(judge, shape=source.shape(judge.level), params={"model": "a/b"})
    template, bind = read(judge.source, judge.level, judge.params).template, compile_binder(plan)
    for number, data in enumerate(source.items(), 1):
        if not source.has_level(number, judge.level):
            continue
        arguments, values = bind(data)
        values[LEVEL_OBJECTS[judge.level][0]] = arguments[0]
        request = make_request(template, values, score_range=(0, 1), nonce="n")
        assert "{" + LEVEL_OBJECTS[judge.level][0] not in request.prompt
        assert "<data-n>" in request.prompt


def test_the_one_about_an_expected_answer_takes_it_from_the_row():
    judge = build_judge(catalog_definition("semantic-similarity"), origin="it")
    template = read(judge.source, judge.level, judge.params).template
    row: dict[str, Any] = {"input": "q", "output": "a", "expected_output": "wanted"}
    from scorewright.authoring.from_row import trace_from_row

    made = make_request(template, {"trace": trace_from_row(row), "task": row}, score_range=(0, 1))
    assert "wanted" in made.prompt
    assert json.dumps(row) not in made.prompt
