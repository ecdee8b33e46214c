"""Roll-ups add up: however results are cut into parts, and in whatever order the parts come, the numbers are the same."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome, Scored, Skipped
from scorewright.domain.rollup import Rollup
from scorewright.domain.score_counts import MAX_SCORES, ScoreCounts

floats = st.floats(allow_nan=False, allow_infinity=False)
values = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), floats, st.sampled_from("ab"))
outcomes: st.SearchStrategy[Outcome] = st.one_of(
    st.builds(
        Scored,
        st.none() | floats,
        st.none() | st.booleans(),
        st.dictionaries(st.sampled_from(["m", "n"]), values),
    ),
    st.builds(Scored, st.floats(0, 1), st.booleans()),
    st.builds(Skipped, st.just("no")),
    st.builds(Failed, st.sampled_from(FailureCode), st.sampled_from("xy")),
)
items = st.builds(ItemOutcome, outcomes, st.just(""), st.integers(0, 1000))


@given(found=st.lists(items, max_size=40), data=st.data(), has_range=st.booleans())
def test_parts_in_any_order_add_up_to_the_whole(
    found: list[ItemOutcome], data: st.DataObject, *, has_range: bool
):
    score_range = (-1e308, 1e308) if has_range else None
    whole = Rollup("e", score_range=score_range)
    whole.add(range(1, len(found) + 1), found)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(found)), max_size=4)))
    bounds = list(zip([0, *cuts], [*cuts, len(found)], strict=True))
    parts: list[bytes] = []
    for start, end in bounds:
        part = Rollup("e", score_range=score_range)
        part.add(range(start + 1, end + 1), found[start:end])
        parts.append(part.encoded())

    merged = Rollup("e", score_range=score_range)
    for encoded in data.draw(st.permutations(parts)):
        merged.merge(encoded)

    assert merged.summary.document() == whole.summary.document()
    assert merged.scores.percentiles((0, 50, 100)) == whole.scores.percentiles((0, 50, 100))


@given(st.lists(floats, min_size=1, max_size=50), st.floats(0, 100))
def test_percentiles_of_few_scores_are_exact(scores: list[float], percent: float):
    counts = ScoreCounts()
    for score in scores:
        counts.add({score: 1})

    (found,) = counts.percentiles((percent,))

    assert found == sorted(scores)[max(1, math.ceil(len(scores) * percent / 100)) - 1]


def test_memory_stays_bounded_and_percentiles_near():
    counts, backwards = ScoreCounts(), ScoreCounts()
    scores = [number / 99_991 for number in range(20_000)]
    for start in range(0, 20_000, 500):
        counts.add(dict.fromkeys(scores[start : start + 500], 1))
        backwards.add(dict.fromkeys(scores[::-1][start : start + 500], 1))

    assert len(counts.state().counts) <= MAX_SCORES
    assert counts.state() == backwards.state()
    (found,) = counts.percentiles((50,))
    assert found is not None
    assert math.isclose(found, scores[9_999], rel_tol=2.0 ** -(counts.bits - 1))
