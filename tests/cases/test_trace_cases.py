"""Real traces with the facts that were written down beside them."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scorewright.domain.binding import Argument, compile_binder
from scorewright.domain.errors import TraceError
from scorewright.services.traces import document_of, inspect_traces
from scorewright.sources.trace_files import read_traces
from scorewright.telemetry.assembly import assemble
from scorewright.telemetry.items import trace_item

CASES = Path(__file__).parents[2].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs the cases beside the repository")

READ = [2, 3, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 28, 29, 31, 32, 34, 36, 38, 42, 44, 47]
TRANSPORT = [50, 52, 53, 54, 56]
#: The trace of another case, as code is given it.
AS_OBJECT = [57]


def facts(number: int) -> dict[str, Any]:
    return json.loads((CASES / f"case_{number:03}.expect.json").read_text(encoding="utf-8"))


def file_of(number: int) -> Path:
    return CASES / facts(number)["files"][0]


def inspected(path: Path) -> dict[str, Any]:
    """What `traces inspect --format json` would print, read back strictly."""

    def refuse(token: str) -> float:
        raise AssertionError(f"{token} is not JSON")

    document = msgspec.json.encode(document_of(inspect_traces(path)))
    return json.loads(document, parse_constant=refuse)


def case(number: int) -> dict[str, Any]:
    """The trace of a case that its facts are about."""
    root = str(facts(number)["root"]).split(" ", 1)[0]
    traces = inspected(file_of(number))["traces"]
    (found,) = [trace for trace in traces if trace["root"]["span_id"] == root]
    return found


def shown(trace: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(call["name"], call["arguments"], call["result"]) for call in trace["tool_calls"]]


def matches(want: object, got: object) -> bool:
    """Facts shorten long texts by an ellipsis, sometimes with a note in brackets behind."""
    if isinstance(want, str) and isinstance(got, str) and "…" in want:
        parts = re.sub(r"\s*\([^()]*\)$", "", want).split("…")
        pattern = ".*".join(re.escape(part.strip()) for part in parts)
        return re.fullmatch(pattern, got.strip(), re.DOTALL) is not None
    return want == got


def test_every_trace_case_is_tested():
    kinds = {"trace", "trace transport"}
    handed = {
        int(path.name[5:8])
        for path in CASES.glob("case_*.expect.json")
        if json.loads(path.read_text(encoding="utf-8")).get("kind") in kinds
    }

    assert handed == {*READ, *TRANSPORT, *AS_OBJECT}


@pytest.mark.parametrize("number", READ)
def test_question_and_answer_are_those_of_the_facts(number: int):
    known, trace = facts(number), case(number)

    if number == 14:  # "as recorded" is allowed: the application's own input was empty
        known["input"] = ""
    assert matches(known["input"], trace["input"])
    assert matches(known["output"], trace["output"])


@pytest.mark.parametrize("number", READ)
def test_model_calls_and_models_are_those_of_the_facts(number: int):
    known, trace = facts(number), case(number)

    assert trace["llm_calls"] == known["llm_calls"]
    assert trace["models"] == known["models"]


@pytest.mark.parametrize("number", READ)
def test_tokens_and_costs_are_those_of_the_facts(number: int):
    known, trace = facts(number), case(number)
    want = {name: known["tokens"][name] for name in ("input", "output", "total")}

    assert trace["tokens"] == (None if set(want.values()) == {None} else want)
    if "cost" in known:
        assert trace["cost_usd"] == pytest.approx(known["cost"])


@pytest.mark.parametrize("number", READ)
def test_tool_calls_are_those_of_the_facts(number: int):
    known, trace = facts(number)["tool_calls"], case(number)

    assert [call["name"] for call in trace["tool_calls"]] == [call["name"] for call in known]
    for want, got in zip(known, trace["tool_calls"], strict=True):
        assert got["arguments"] == want["arguments"]
        assert got["error"] == (want["error"] or None)
        if "result" in want:
            assert got["result"] == want["result"]


@pytest.mark.parametrize("number", READ)
def test_spans_and_traces_are_those_of_the_facts(number: int):
    known = facts(number)

    document = inspected(file_of(number))

    assert len(document["traces"]) == known["traces"]
    assert sum(trace["spans"] for trace in document["traces"]) == known["spans"]
    assert document["rejected_spans"] == 0


@pytest.mark.parametrize("number", [*READ, *TRANSPORT])
def test_a_packed_case_reads_the_same(number: int, tmp_path: Path):
    packed = tmp_path / f"{file_of(number).name}.gz"
    packed.write_bytes(gzip.compress(file_of(number).read_bytes()))

    assert inspected(packed) == inspected(file_of(number))


# ── What the facts say in words ──────────────────────────────────────────────────────────────────


def test_003_a_failed_tool_keeps_its_own_error_and_the_calls_are_told_apart_by_id():
    first, second = case(3)["tool_calls"]

    assert (first["result"], first["error"]) == ("rainy, 57°F", None)
    assert (second["result"], second["error"]) == (None, "TimeoutError")


def test_006_the_root_whose_parent_was_never_exported_is_flagged():
    assert any("40398742a36905e5" in notice for notice in case(6)["notices"])


def test_008_setting_an_agent_up_is_no_conversation():
    setup, conversation = inspected(file_of(8))["traces"]

    assert setup["root"]["name"] == "create_agent math_assistant"
    assert setup["agents"] == []
    assert any("no conversation" in notice for notice in setup["notices"])
    assert not any("no conversation" in notice for notice in conversation["notices"])


@pytest.mark.parametrize("number", [10, 12])
def test_base64_ids_are_shown_in_hexadecimal(number: int):
    assert case(number)["trace_id"] == facts(number)["trace_id_hex"]


def test_012_the_duration_is_the_roots_whatever_the_children_s_clocks_say():
    assert case(12)["duration_ms"] == pytest.approx(1377.905)


def test_029_fenced_html_is_not_stripped():
    output = case(29)["output"]

    assert output.startswith("```html\n<!DOCTYPE html>")
    assert output.endswith("</html>\n```")


def test_042_documents_keep_their_order_and_the_gaps_close():
    found = [document["content"] for document in case(42)["retrieval"]["documents"]]

    assert [text[:8] for text in found] == ["Paris is", "Lyon is ", "(index 1"]
    assert case(42)["duration_ms"] == 2500


def test_044_a_score_of_zero_is_kept_and_a_missing_text_is_null():
    retrieval = case(44)["retrieval"]

    assert retrieval["queries"] == [facts(44)["retrieval_query"]]
    assert [one["content"] for one in retrieval["documents"]] == facts(44)["retrieval_docs"]
    assert retrieval["documents"][2] == {"id": "d3", "content": None, "score": 0}


def test_047_documents_are_in_numeric_order_and_a_reranking_is_no_second_search():
    retrieval = case(47)["retrieval"]

    assert retrieval["queries"] == [facts(47)["retrieval_query"]]
    assert [one["content"] for one in retrieval["documents"]] == facts(47)["retrieval_docs"]
    assert retrieval["documents"][3]["score"] == 0


# ── Transport ────────────────────────────────────────────────────────────────────────────────────


def test_050_protobuf_is_the_same_trace_as_json():
    assert inspected(file_of(50)) == inspected(file_of(2))


def test_050_half_a_message_is_refused_whole(tmp_path: Path):
    half = tmp_path / "half.pb"
    data = file_of(50).read_bytes()
    half.write_bytes(data[: len(data) // 2])

    with pytest.raises(TraceError, match=r"half\.pb: neither OTLP JSON nor a whole OTLP protobuf"):
        read_traces(half)


def test_052_what_protobuf_writes_as_json_is_read():
    (trace,) = inspected(file_of(52))["traces"]

    assert trace["trace_id"] == "520000000000000000000000000000ff"
    assert trace["root"]["span_id"] == "52000000000000fb"
    assert trace["duration_ms"] == 1250
    assert (trace["input"], trace["output"]) == ("2+2?", "4")
    assert trace["tokens"] == {"input": 12, "output": 3, "total": 15}


def lines_of_053() -> list[str]:
    return file_of(53).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("seed", range(8))
def test_053_one_trace_over_five_lines_in_any_order(seed: int, tmp_path: Path):
    lines = lines_of_053()
    random.Random(seed).shuffle(lines)  # noqa: S311 - an order, no secret
    shuffled = tmp_path / "shuffled.jsonl"
    shuffled.write_text("\n".join(lines), encoding="utf-8")

    (trace,) = inspected(shuffled)["traces"]

    assert (trace["spans"], trace["input"], trace["output"]) == (3, "find 7", "It is seven.")
    assert trace["tokens"] == {"input": 10, "output": 5, "total": 15}
    assert shown(trace) == [("lookup", {"id": 7}, "seven")]
    assert trace == inspected(file_of(53))["traces"][0]


def test_053_the_version_that_ended_last_counts():
    spans = inspect_traces(file_of(53)).traces[0].tree.spans
    (tool,) = [span for span in spans if span.span_id == "5300000000000003"]

    assert tool.duration_ms == 210


def test_054_every_kind_of_value_arrives_as_it_was_meant():
    (span,) = read_traces(file_of(54)).spans
    known = facts(54)["expect"]["values"]
    found = span.attributes

    for name in ("d.nan", "d.inf", "future"):
        assert found.pop(name) is None
        del known[name]
    assert found.pop("kv.nested") == {"a": "second a"}
    assert found.pop("bytes.bin") == "AP8QgA=="
    assert found.pop("bytes.text") == "aGVsbG8="
    assert found.pop("dup") == "second"
    assert found.pop("text.nul") == "a\0b"
    assert found.pop("text.surrogate") == "cut \ufffd"
    assert found.pop("gen_ai.response.finish_reasons") == ["stop"]
    prose = {"kv.nested", "bytes.bin", "bytes.text", "dup", "text.nul", "text.surrogate"}
    assert found == {name: value for name, value in known.items() if name not in prose}
    assert (span.status, span.status_message) == ("error", "boom")


def test_056_two_bad_spans_are_counted_and_cost_no_good_one():
    document = inspected(file_of(56))

    assert document["rejected_spans"] == 2
    assert sum(trace["spans"] for trace in document["traces"]) == 15
    assert any("span id" in notice for notice in document["notices"])
    assert any("trace id" in notice for notice in document["notices"])


def test_056_every_broken_graph_has_a_root_and_says_what_is_wrong():
    document = inspected(file_of(56))
    traces = {int(trace["trace_id"][-2:], 16): trace for trace in document["traces"]}
    roots = {number: trace["root"]["name"] for number, trace in traces.items()}

    assert roots == {
        1: "A",
        2: "self",
        3: "root one",
        4: "zero parent",
        6: "orphan early",
        7: "ends before start",
        9: "no times",
        10: "UPPER CASE ids",
        11: "empty-string parent",
        12: "null parent",
    }
    assert "no root" in traces[1]["notices"][0]
    assert (traces[3]["input"], traces[3]["output"]) == ("first", "one")
    assert "root two" in traces[3]["notices"][0]
    assert any(notice.startswith("incomplete") for notice in traces[6]["notices"])
    assert traces[7]["duration_ms"] is None
    assert traces[9]["duration_ms"] is None
    assert traces[10]["spans"] == 2
    for number in (2, 4, 10, 11, 12):
        assert traces[number]["notices"] == []


def test_370_an_integer_as_text_is_an_integer():
    (span,) = read_traces(CASES / "case_370.otlp.json").spans
    (trace,) = inspected(CASES / "case_370.otlp.json")["traces"]

    assert span.resource["process.pid"] == 7
    assert trace["tokens"] == {"input": 25, "output": 7, "total": 32}


def test_the_trace_as_an_object_has_all_that_the_documented_one_has():
    (trace,) = assemble(read_traces(file_of(42)).spans)
    plan = (Argument(name="trace", how="trace_dict", keyword=False),)

    ((made,), _) = compile_binder(plan)(trace_item(trace))

    documented = json.loads(file_of(57).read_text(encoding="utf-8"))
    assert without_times(made["spans"].values()) == without_times(documented["spans"].values())


def without_times(spans: Iterable[dict[str, Any]]) -> list[Any]:
    """Spans by the members that the documentation shows, each span's children in their place.

    Times are written with as many digits as they have; nobody set a status in case 42.
    """
    return [
        [
            span["name"],
            span["attributes"]["ag"].get("data"),
            span["attributes"]["ag"]["metrics"]["unit"],
            span["attributes"]["ag"]["type"],
            without_times(span["children"]),
        ]
        for span in spans
    ]
