"""Filter expressions, from text to tree and back."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.errors import UsageError
from scorewright.domain.filter import Filter, parse_filter, print_filter
from scorewright.domain.filter.parser import MAX_DEPTH, MAX_LISTED
from scorewright.domain.filter.tokens import MAX_CHARS
from scorewright.domain.filter.tree import (
    And,
    Compare,
    Contains,
    Duration,
    Exists,
    IsIn,
    Matches,
    Not,
    Or,
    Time,
)
from scorewright.domain.item_shape import row_shape


def only(name: str) -> Exists:
    return Exists((name,))


A, B, C = only("a"), only("b"), only("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("score >= 0.5", Compare(("score",), ">=", 0.5)),
        ("score>=-5e-1", Compare(("score",), ">=", -0.5)),
        ("a = 'it\\'s \"so\"'", Compare(("a",), "=", 'it\'s "so"')),
        ('a = "\\u00e9\\n"', Compare(("a",), "=", "é\n")),
        ("a != NULL", Compare(("a",), "!=", None)),
        ("a = True", Compare(("a",), "=", True)),
        ("m.total_ms > 1.5s", Compare(("m", "total_ms"), ">", Duration(1_500_000_000))),
        ("x_s < 3m", Compare(("x_s",), "<", Duration(180_000_000_000))),
        ("t >= 1970-01-02", Compare(("t",), ">=", Time(86_400_000_000_000))),
        ("t = 1970-01-01T01:00:00.5+01:00", Compare(("t",), "=", Time(500_000_000))),
        ('a["b c"].d[-1] in (1, "x",null)', IsIn(("a", "b c", "d", -1), (1, "x", None))),
        ("a not in (1)", Not(IsIn(("a",), (1,)))),
        ("tags contains 'x'", Contains(("tags",), "x")),
        ("tags NOT CONTAINS 'x'", Not(Contains(("tags",), "x"))),
        ("a matches 'x*'", Matches(("a",), "x*")),
        ("a not exists", Not(A)),
        ("not a exists", Not(A)),
        ("a exists or b exists and c exists", Or((A, And((B, C))))),
        ("(a exists or b exists) and c exists", And((Or((A, B)), C))),
        ("not (a exists and b exists)", Not(And((A, B)))),
        ("not not a exists", Not(Not(A))),
        ("a exists and (b exists and c exists)", And((A, And((B, C))))),
        ('["and"] exists', only("and")),
        ("5 = 5", Compare(("5",), "=", 5)),
        ("$.a exists\n  and b exists", And((A, B))),
    ],
)
def test_an_expression_is_read(text: str, tree: Filter):
    assert repr(parse_filter(text)) == repr(tree)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a>1 AND NOT(b='x')", 'a > 1 and not b = "x"'),
        ("((a = 1))", "a = 1"),
        ("a not in(1,2)", "not a in (1, 2)"),
        ('["a"]["b.c"].d = 1', 'a["b.c"].d = 1'),
        ('["Not"] = 1', '["Not"] = 1'),
        ("x_ms > 60s", "x_ms > 1m"),
        ("x_ms > 0.25ms", "x_ms > 250us"),
        ("x_ms = 0ms", "x_ms = 0s"),
        ("t > 2026-01-31T12:00+02:00", "t > 2026-01-31T10:00:00Z"),
        ("t > 2026-01-31T00:00:00Z", "t > 2026-01-31"),
        ("t > 1969-12-31T23:59:59.250Z", "t > 1969-12-31T23:59:59.25Z"),
        ("a = 1e3", "a = 1000.0"),
    ],
)
def test_one_meaning_is_printed_in_one_way(text: str, canonical: str):
    assert print_filter(parse_filter(text)) == canonical
    assert print_filter(parse_filter(canonical)) == canonical


def test_a_known_column_is_taken_whole_dots_and_all():
    columns = ["trace", "trace.output"]

    tree = parse_filter("trace.output[0] = 1 and trace.input = 1", shape=row_shape(columns))

    assert tree == And((Compare(("trace.output", 0), "=", 1), Compare(("trace", "input"), "=", 1)))


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("", 1, "a field is missing"),
        ("a", 2, "after a field stands one of"),
        ("a = ", 5, "a constant is missing"),
        ("a == 1", 3, "(here it is: =)"),
        ("a <> 1", 3, "(here it is: !=)"),
        ("a is null", 3, "(here it is: = null)"),
        ("a contians 'x'", 3, '(did you mean "contains"?)'),
        ("a not like 'x'", 3, "after a field stands one of"),
        ("a = 1 && b = 2", 7, "(here it is: and)"),
        ("a = 1 adn b = 2", 7, '(did you mean "and"?)'),
        ("a = 1 or or b = 2", 10, "a field is missing"),
        ("a = yes", 5, "put a text in quotes"),
        ("a = nul", 5, '(did you mean "null"?)'),
        ("a = 007", 5, "put a text in quotes"),
        ("a = 1e999", 5, "too large for a double"),
        ("a = 99999999999999999999", 5, "write it with an exponent"),
        ("a > true", 5, "use = or !="),
        ("a <= null", 6, "use = or !="),
        ("latency > 2s", 11, "does not end in its unit (_ns, _us, _ms, _s, _min, _h)"),
        ("x_s > 0.5ns", 7, "a whole number of nanoseconds"),
        ("x_s > 99999999d", 7, "at most 292 years"),
        ("t > 2026-02-30", 5, 'there is no time "2026-02-30"'),
        ("t > 0001-01-01T00:00+14:00", 5, "there is no time"),
        ("'a' = 1", 1, "first stands a field"),
        ("(a = 1", 7, "a bracket opens in column 1 that none closes"),
        ("a = 1)", 6, '"and" or "or" is missing'),
        ("a = 'x", 5, "a text opens here that no quote closes"),
        ("a[ = 1", 2, "a bracket opens here that none closes"),
        ("a[*] = 1", 2, "wildcards are not supported"),
        ("b = 1 and a..b = 1", 13, "any depth"),
        ("a = '\\x'", 5, "JSON refuses"),
        ("a = '\\ud83d'", 5, "JSON refuses"),
        ("a in 1", 6, "constants in brackets"),
        ("a in ()", 7, "a constant is missing"),
        ("a in (1", 8, "stands , or )"),
        ("a matches b", 11, "a pattern in quotes"),
        (f"a matches '{'x' * 257}'", 11, "at most 256 characters"),
        ("{a} = 1 ]", 9, "no place here"),
        ("(" * (MAX_DEPTH + 1) + "a = 1", MAX_DEPTH + 1, "deeper than 64 levels"),
        ("not " * 1000 + "a = 1", 4 * MAX_DEPTH + 1, "deeper than 64 levels"),
        ("a" * (MAX_CHARS + 1), MAX_CHARS + 1, "more than 10,000 characters"),
        ("a" * 2000 + " = 1", 1025, "too long"),
        (f"a in ({'1,' * MAX_LISTED}1)", 7 + 2 * MAX_LISTED, "at most 1,000 constants"),
    ],
)
def test_what_is_no_expression_is_refused_at_its_place(text: str, column: int, said: str):
    with pytest.raises(UsageError) as caught:
        parse_filter(text)

    assert f"filter, column {column}: " in str(caught.value)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a = 1 adn b = 2", ["a = 1 adn b = 2", "      ^"]),
        ("größe = 1 and\n日本 = yes", ["größe = 1 and 日本 = yes", "                     ^"]),
        (
            f"{'a = 1 and ' * 20}b == 2{' and c = 1' * 20}",
            [
                f"…{'a = 1 and ' * 6}"[:1]
                + (f"{'a = 1 and ' * 20}b "[-60:])
                + "== 2 and c = 1 and c…",
                " " * 61 + "^",
            ],
        ),
    ],
)
def test_a_caret_stands_below_the_place(text: str, lines: list[str]):
    with pytest.raises(UsageError) as caught:
        parse_filter(text)

    assert str(caught.value).split("\n")[1:] == [f"  {line}" for line in lines]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ouptut exists", '"ouptut" (did you mean "output"?)'),
        ("unitprice.x exists", '"unitprice" (did you mean ["unit price"]?)'),
        ("quite exists", '"quite"'),
    ],
)
def test_a_column_that_is_not_there_is_refused_with_the_nearest_one(text: str, said: str):
    with pytest.raises(UsageError) as caught:
        parse_filter(text, shape=row_shape(["output", "unit price"]))

    assert f"column 1: there is no column {said}; there is " in str(caught.value)


# Laws --------------------------------------------------------------------------------------------

characters = st.characters(exclude_categories=["Cs"])
names = st.text(characters, max_size=8) | st.sampled_from("and NOT in $ true 5 a-b a=b".split())
indexes = st.integers(-999_999_999, 999_999_999)
paths = st.tuples(names, st.lists(names | indexes, max_size=3)).map(lambda p: (p[0], *p[1]))
timed_paths = paths.map(lambda path: (*path, "x_ms"))
int64 = st.integers(-(2**63) + 1, 2**63 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(characters, max_size=10)
first_ns, end_ns = -62_135_596_800_000_000_000, 253_402_300_800_000_000_000
times = st.builds(Time, st.integers(first_ns, end_ns - 1))
durations = st.builds(Duration, st.integers(0, 2**63 - 1))
ordered = int64 | finite | texts | times
constants = st.none() | st.booleans() | ordered
leaves = (
    st.builds(Compare, paths, st.sampled_from("< <= > >=".split()), ordered)
    | st.builds(Compare, paths, st.sampled_from(["=", "!="]), constants)
    | st.builds(Compare, timed_paths, st.sampled_from(["=", "<"]), durations)
    | st.builds(IsIn, paths, st.lists(constants, min_size=1, max_size=4).map(tuple))
    | st.builds(Contains, paths, constants)
    | st.builds(Matches, paths, texts)
    | st.builds(Exists, paths)
)


def joined(parts: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
    several = st.lists(parts, min_size=2, max_size=4).map(tuple)
    return st.builds(Not, parts) | st.builds(And, several) | st.builds(Or, several)


trees: st.SearchStrategy[Filter] = st.recursive(leaves, joined, max_leaves=12)


@given(trees)
def test_a_printed_tree_reads_back_as_it_was(tree: Filter):
    # By repr as well: 1, 1.0 and true are equal to Python.
    read = parse_filter(print_filter(tree))

    assert read == tree
    assert repr(read) == repr(tree)


fragments = st.sampled_from(
    """a b.c ["x y"] x_ms = != < >= == ( ) , and or not in contains matches exists 1 -2.5 'it' "q" 'it\\'
    null true 2026-01-31 5ms 007 * [ ] \\ $ & .""".split()
)
expressions = st.lists(fragments, max_size=14).map(" ".join) | st.text(
    "ab =\"'()[].\\,1<!", max_size=20
)


@given(expressions)
def test_any_text_is_an_expression_with_a_canonical_form_or_refused_by_name(text: str):
    try:
        canonical = print_filter(parse_filter(text))
    except UsageError:
        return

    assert print_filter(parse_filter(canonical)) == canonical


@pytest.mark.parametrize(
    "unit", ["(", "not ", "a = 1 and ", "a[", 'a["', "'\\", "[]", "a.", "a in (", "=", '"x" ', "\n"]
)
def test_the_longest_hostile_text_costs_no_more_than_its_length(unit: str):
    def cost(length: int) -> float:
        text = (unit * length)[:length]
        began = time.perf_counter()
        for _ in range(3):
            with pytest.raises(UsageError):
                parse_filter(text)
        return time.perf_counter() - began

    cost(MAX_CHARS)

    # Twenty times the text; a cost that grows with the square would be four hundred times as high.
    longest = min(cost(MAX_CHARS) for _ in range(5))  # whatever else the machine did meanwhile
    assert longest < 100 * max(cost(MAX_CHARS // 20), 0.0003)
