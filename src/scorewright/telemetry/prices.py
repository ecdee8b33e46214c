"""What calls cost: as their spans report it, or else by the price table of the library genai-prices.

The table is the one that the installed version brings along; nothing is ever fetched.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, cast

import msgspec

from scorewright.telemetry.frameworks import framework_of
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import SpanFacts

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, TieredPrices

    _Price: TypeAlias = Decimal | TieredPrices | None

#: Vendors that the table knows by another name, or would take for somebody else.
_VENDORS: Final = {
    "azure.ai.openai": "azure",
    "az.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "az.ai.inference": "azure",
    "fireworks_ai": "fireworks",
    "x_ai": "x-ai",
}
_MILLION: Final = 1_000_000
#: Makes every sum unknown that it is part of.
_UNKNOWN: Final = Decimal("nan")
_NOTHING: Final = Decimal(0)


class Costs(msgspec.Struct, frozen=True):
    """What the spans of a trace cost in US dollars, by position."""

    #: As reported, or calculated where the span is a call that no reported cost holds for; None is unknown.
    own: list[float | None]
    #: Of the spans with calls below them, what those cost together; None where that is not known of each.
    below: dict[int, float | None]
    #: Of the whole trace; what is unknown in part is unknown as a whole, as is a sum too large for a number.
    total: float | None
    #: The calls that make up the total.
    reported: list[int]
    calculated: list[int]
    #: Models of the calls whose cost is unknown; a call that names none is left out.
    unpriced_models: tuple[str, ...]

    def at(self, position: int) -> float | None:
        """Return what a span cost with all below it."""
        return self.below[position] if position in self.below else self.own[position]


def costs_of(spans: Sequence[RawSpan], parents: Sequence[int], facts: Sequence[SpanFacts]) -> Costs:
    """Find what each call of a tree cost, and what each span did with all below it.

    A reported cost holds for all that stands below its span, unless a span there reports one as well. Calls
    that no reported cost holds for are priced: the leaf-most spans that carry tokens.

    Args:
        spans: In tree order, parents before their children.
        parents: Positions of the parents; -1 for none.
        facts: Of each span.
    """
    own = [one.cost_usd for one in facts]
    reported, calculated = _calls(parents, facts)
    for position in calculated:
        own[position] = price_of(spans[position], facts[position])
    below, total = _sums(parents, {call: own[call] for call in (*reported, *calculated)})
    models = [
        model
        for position in calculated
        if own[position] is None and (model := facts[position].model) is not None
    ]
    return Costs(own, below, total, reported, calculated, tuple(dict.fromkeys(models)))


def _calls(parents: Sequence[int], facts: Sequence[SpanFacts]) -> tuple[list[int], list[int]]:
    """List the spans whose reported costs count, and those that are to be priced; none is below another one."""
    reporting = [one.cost_usd is not None for one in facts]
    above_reports, above_usage = (
        _with_some_below(parents, marked)
        for marked in (reporting, [one.usage is not None for one in facts])
    )
    reported: list[int] = []
    unpriced: list[int] = []
    is_covered: list[bool] = []
    for position, one in enumerate(facts):
        covered = parents[position] >= 0 and is_covered[parents[position]]
        if one.cost_usd is not None and not above_reports[position]:
            reported.append(position)
            covered = True
        elif (
            one.usage is not None
            and not covered
            and not above_usage[position]
            and not above_reports[position]
        ):
            unpriced.append(position)
        is_covered.append(covered)
    return reported, unpriced


def _sums(
    parents: Sequence[int], costs: dict[int, float | None]
) -> tuple[dict[int, float | None], float | None]:
    """Add calls up, for each span with some below it and for the whole.

    In decimals, whose sums are those that people expect, and the same in whichever order calls come.
    """
    sums: dict[int, Decimal] = {}
    exact = {
        position: _UNKNOWN if cost is None else Decimal(repr(cost))
        for position, cost in costs.items()
    }
    for position in range(len(parents) - 1, -1, -1) if exact else ():
        found = sums[position] if position in sums else exact.get(position)
        if found is not None:
            # A root's goes to -1.
            parent = parents[position]
            sums[parent] = found + sums[parent] if parent in sums else found
    below = {position: _known(exact_sum) for position, exact_sum in sums.items()}
    return below, below.pop(-1, None)


def _known(exact: Decimal) -> float | None:
    cost = float(exact)
    return cost if math.isfinite(cost) else None


def _with_some_below(parents: Sequence[int], marked: Sequence[bool]) -> list[bool]:
    """Tell of each position whether a marked one stands below it."""
    found = [False] * len(marked)
    if True not in marked:
        return found
    for position in range(len(marked) - 1, 0, -1):
        if parents[position] >= 0 and (marked[position] or found[position]):
            found[parents[position]] = True
    return found


def price_of(span: RawSpan, facts: SpanFacts) -> float | None:
    """Calculate what a call cost at the prices of the day it started.

    Returns:
        US dollars; None when the start, the tokens or the model's price are not known.
    """
    usage = facts.usage
    if usage is None or facts.model is None or span.start_ns is None:
        return None
    tokens_in, tokens_out = usage.input, usage.output
    if facts.kind == "embedding":
        tokens_in, tokens_out = usage.total if tokens_in is None else tokens_in, tokens_out or 0
    cached = facts.cached_tokens or 0
    if tokens_in is None or tokens_out is None or cached > tokens_in:
        return None
    when = datetime.fromtimestamp(span.start_ns / 1e9, tz=UTC)
    tokens = CallTokens(tokens_in, tokens_out, cached)
    return price_of_call(facts.vendor, facts.model, tokens, when)


class CallTokens(msgspec.Struct, frozen=True):
    """What one call read and wrote."""

    read: int
    written: int
    #: Of those that were read, from a cache.
    cached: int = 0


def price_of_call(
    vendor: str | None, model: str, tokens: CallTokens, when: datetime
) -> float | None:
    """Calculate what a call cost at the prices of a day.

    Returns:
        US dollars; None when the model's price is not known.
    """
    priced = _model(vendor, model)
    if priced is None:
        return None
    return _price(priced.get_prices(when), tokens.read, tokens.cached, tokens.written)


@lru_cache(maxsize=1024)
def _model(vendor: str | None, name: str) -> ModelInfo | None:
    """Look a model up; a framework or a gateway in the vendor's place says nothing of who sold the call."""
    from genai_prices.data_snapshot import get_snapshot

    vendor = None if vendor is None else _VENDORS.get(vendor.lower(), vendor)
    if vendor is not None and framework_of(vendor, None) is not None:
        vendor = None
    try:
        return get_snapshot().find_provider_model(name, None, vendor, None)[1]
    except LookupError:
        return None


def _price(prices: ModelPrice, tokens_in: int, cached: int, tokens_out: int) -> float | None:
    # The library's own sum takes twenty times as long: it looks at two dozen further units.
    known = cast("dict[str, _Price]", vars(prices))
    per_input, per_output = known.get("input_mtok"), known.get("output_mtok")
    if (per_input is None and tokens_in) or (per_output is None and tokens_out):
        return None
    per_cached = known.get("cache_read_mtok") if cached else None
    of_tokens = (
        _rate(per_input, tokens_in) * (tokens_in if per_cached is None else tokens_in - cached)
        + _rate(per_cached, tokens_in) * cached
        + _rate(per_output, tokens_in) * tokens_out
    )
    return float(of_tokens / _MILLION + _rate(known.get("requests_kcount"), tokens_in) / 1000)


def _rate(price: _Price, tokens_in: int) -> Decimal:
    """Return a price at a size of the input; 0 where there is none."""
    if price is None:
        return _NOTHING
    if isinstance(price, Decimal):
        return price
    from genai_prices.types import calc_unit_price

    return calc_unit_price(price, 1, tokens_in, 1)


def notices_of_costs(costs: Costs) -> list[str]:
    """Tell how a trace's cost came about, where it was not reported."""
    priced = sum(costs.own[position] is not None for position in costs.calculated)
    calls = len(costs.reported) + len(costs.calculated)
    unpriced = len(costs.calculated) - priced
    if unpriced and unpriced < calls:
        models = ", ".join(map(repr, costs.unpriced_models[:3])) or "no model named"
        return [
            f"cost unknown: of {calls} calls {unpriced} have neither a cost nor a price ({models})"
        ]
    if priced:
        from genai_prices import __version__

        plural = "" if priced == 1 else "s"
        return [
            f"cost of {priced} model call{plural} from the price table of genai-prices {__version__}"
        ]
    return []
