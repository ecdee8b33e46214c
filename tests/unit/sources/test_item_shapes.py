"""Names by which the members of items are asked for."""

from __future__ import annotations

from scorewright.sources.item_shapes import Members, describe


def test_a_column_called_like_a_field_does_not_take_its_place():
    columns = {"agent.input": "a column", "expected": "a column"}

    members = Members(describe("agent"), columns=columns)

    assert members.paths["agent.input"] == ("agent", "input")
    assert members.paths["expected"] == ("expected",)
    assert [field.name for field in members.fields].count("agent.input") == 1
