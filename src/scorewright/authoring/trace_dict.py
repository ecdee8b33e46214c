"""A trace as the object that `evaluate(inputs, outputs, trace)` is given.

Two shapes are in the wild, and evaluators written against either work: the documented one (spans by id,
`children`, `metrics.unit` with seconds) and the one of running systems (nested `spans` by name,
`metrics.….cumulative` with milliseconds). `runners/deno/worker.mjs` makes the same in JavaScript.

Source: agenta seed, "Accessing trace data"; contracts §4.
"""

from __future__ import annotations

from scorewright.authoring.lenient import as_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPAN_TYPES = {
    "llm": "llm",
    "embedding": "embedding",
    "agent": "agent",
    "tool": "tool",
    "retriever": "query",
    "reranker": "rerank",
    "chain": "chain",
}
_TOKENS = (("prompt", "input_tokens"), ("completion", "output_tokens"), ("total", "total_tokens"))


def trace_dict(item: dict[str, Any]) -> dict[str, Any] | None:
    """Make the trace of an item of a trace source.

    Args:
        item: The whole decoded item.

    Returns:
        `{"trace_id", "spans": {id of a root: span}}`, the root of the trace first. A span's `children` and its
        `spans` hold the same objects; only the former are listed, written as JSON and printed. Name, times, status,
        `ag.data.inputs` (an object) and `ag.data.outputs` are there in every span; a metric that is unknown is
        left out. None where the item has no spans.
    """
    compact: list[dict[str, Any]] | None = item.get("spans")
    if compact is None:
        return None
    errors = _count_errors(compact)
    trace_id: str | None = item.get("traceId")
    roots: dict[str, Any] = {}
    made: list[SpanDict] = []
    for span, failed in zip(compact, errors, strict=True):
        entry = _entry(span, trace_id, failed)
        made.append(entry)
        parent: int = span["parent"]
        if parent < 0:
            _become_root(entry, item, is_first=not roots)
            roots[span["span_id"]] = entry
        else:
            entry["parent_id"] = made[parent]["span_id"]
            made[parent]["children"].append(entry)
    return {"trace_id": trace_id, "spans": roots}


class SpanDict(dict[str, "Any"]):
    """A span, whose `spans` are made of its children when they are asked for.

    Were they among its items, each level would double what `json.dumps`, `print` or a walk through all values
    goes through: a million times the trace at twenty levels.
    """

    __slots__ = ("_by_name",)

    def __missing__(self, key: str) -> Any:
        if key != "spans" or not self["children"]:
            raise KeyError(key)
        if not hasattr(self, "_by_name"):
            self._by_name = _by_name(self["children"])
        return self._by_name

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or (key == "spans" and bool(self["children"]))

    def get(self, key: str, default: Any = None) -> Any:
        """As of any dict."""
        try:
            return self[key]
        except KeyError:
            return default


def _by_name(children: list[SpanDict]) -> dict[str, Any]:
    """Give spans by name, and a list of them where several share one."""
    found: dict[str, list[SpanDict]] = {}
    for child in children:
        found.setdefault(child["name"], []).append(child)
    return {name: spans if len(spans) > 1 else spans[0] for name, spans in found.items()}


def _become_root(entry: dict[str, Any], item: dict[str, Any], *, is_first: bool) -> None:
    """Say so; the first root tells what is known of the application, the agent or the call, where its span does not."""
    ag: dict[str, Any] = entry["attributes"]["ag"]
    ag["type"].setdefault("trace", "invocation")
    if not is_first:
        return
    level = next((name for name in ("llm", "agent") if name in item), "trace")
    known: dict[str, Any] = item[level]
    data, metrics = ag["data"], as_object(known.get("metrics"))
    _add_total(ag["metrics"], "tokens", _tokens(metrics.get("token_usage")))
    _add_total(ag["metrics"], "costs", _cost(metrics.get("cost_usd")))
    if level == "llm":  # its messages are in the span
        return
    if not data["inputs"]:
        data["inputs"] = as_inputs(known.get("input"))
    if data["outputs"] is None:
        data["outputs"] = known.get("output")


def _add_total(metrics: dict[str, Any], name: str, total: dict[str, Any]) -> None:
    if total and name not in metrics["unit"]:
        metrics["unit"][name] = total
        metrics[name] = {"cumulative": dict(total)}


def as_inputs(value: Any) -> dict[str, Any]:
    """Give an input as an object: anything else is wrapped, and an unknown one is empty."""
    if isinstance(value, dict):
        return as_object(value)
    return {} if value is None else {"input": value}


def _count_errors(compact: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Count the errors of each span, and of it and all below: parents come before their children."""
    own = [int(span["status"] == "ERROR" or "error" in span) for span in compact]
    whole = list(own)
    for number in range(len(compact) - 1, -1, -1):
        parent = compact[number]["parent"]
        if parent >= 0:
            whole[parent] += whole[number]
    return list(zip(own, whole, strict=True))


def _entry(span: dict[str, Any], trace_id: str | None, failed: tuple[int, int]) -> SpanDict:
    recorded = as_object(span.get("ag"))
    kind = {"span": _SPAN_TYPES.get(span["kind"], "task"), **as_object(recorded.get("type"))}
    ag = {
        **recorded,
        "type": kind,
        "data": _data(span, as_object(recorded.get("data"))),
        "metrics": _metrics(span, as_object(recorded.get("metrics")), failed),
    }
    entry = SpanDict(span_id=span["span_id"])
    if trace_id is not None:
        entry["trace_id"] = trace_id
    entry["name"] = entry["span_name"] = span["name"]
    entry["span_type"] = kind["span"]
    entry["start_time"] = span["start_time"]
    entry["end_time"] = span["end_time"]
    entry["status_code"] = span["status"]
    if "error" in span:
        entry["status_message"] = span["error"]
    entry["attributes"] = as_object(span.get("attributes")) | {"ag": ag}
    entry["children"] = []
    return entry


def _data(span: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Give a span's inputs and outputs; what was recorded as `ag.data` goes before."""
    inputs = recorded.get("inputs")
    outputs = recorded.get("outputs")
    if "__default__" in as_object(outputs):
        outputs = span.get("output", as_object(outputs)["__default__"])
    return {
        **recorded,
        "inputs": as_inputs(_inputs(span) if inputs is None else inputs),
        "outputs": _outputs(span) if outputs is None else outputs,
    }


def _inputs(span: dict[str, Any]) -> Any:
    if span.get("input") is not None:
        return span["input"]
    match span["kind"]:
        case "llm":
            return {"prompt": span["messages"]} if span.get("messages") else None
        case "tool":
            return span.get("arguments")
        case "retriever":
            return {"query": span["query"]} if span.get("query") is not None else None
        case _:
            return None


def _outputs(span: dict[str, Any]) -> Any:
    if span.get("output") is not None:
        return span["output"]
    match span["kind"]:
        case "llm":
            return {"completion": span["completion"]} if span.get("completion") else None
        case "tool":
            return span.get("result")
        case "retriever":
            return {"documents": span["documents"]} if span.get("documents") is not None else None
        case _:
            return None


def _metrics(
    span: dict[str, Any], recorded: dict[str, Any], failed: tuple[int, int]
) -> dict[str, Any]:
    unit = dict(as_object(recorded.get("unit")))
    metrics: dict[str, Any] = {**recorded, "unit": unit}
    if span["duration_ms"] is not None:
        unit["duration"] = {"total": span["duration_ms"] / 1000}
        metrics["duration"] = {"cumulative": span["duration_ms"]}
    own, whole = _tokens(span.get("tokens")), _tokens(span.get("subtree_tokens"))
    if whole or own:
        unit["tokens"] = whole or own
        metrics["tokens"] = _own_and_whole(own, whole or own)
    cost = _cost(span.get("cost_usd"))
    whole_cost = _cost(span["subtree_cost_usd"]) if "subtree_cost_usd" in span else cost
    if whole_cost:
        unit["costs"] = whole_cost
        metrics["costs"] = _own_and_whole(cost, whole_cost)
    metrics["errors"] = {"incremental": failed[0], "cumulative": failed[1]}
    return metrics


def _own_and_whole(own: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    return (
        {"incremental": dict(own), "cumulative": dict(whole)}
        if own
        else {"cumulative": dict(whole)}
    )


def _tokens(usage: dict[str, Any] | None) -> dict[str, Any]:
    known = usage or {}
    return {name: known[key] for name, key in _TOKENS if known.get(key) is not None}


def _cost(usd: float | None) -> dict[str, Any]:
    return {} if usd is None else {"total": usd}
