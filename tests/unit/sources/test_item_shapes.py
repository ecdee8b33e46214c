"""Names by which the members of items are asked for."""

from __future__ import annotations

from scorewright.sources.item_shapes import Members, describe, span_shape


def test_a_column_called_like_a_field_does_not_take_its_place():
    columns = {"agent.input": "a column", "expected": "a column"}

    members = Members(describe("agent"), columns=columns)

    assert members.paths["agent.input"] == ("agent", "input")
    assert members.paths["expected"] == ("expected",)
    assert [field.name for field in members.fields].count("agent.input") == 1


def test_attributes_are_asked_for_by_their_own_names_however_many_there_are():
    names = [f"llm.input_messages.{n}.message.role" for n in range(5_000)]

    members = Members(
        describe("llm"), attributes="trace.attributes", names=[*names, "gen_ai.request.model"]
    )
    shape = span_shape(members, part="llm", objects={})

    model = shape.read_path("trace.attributes.gen_ai.request.model")
    assert model == ("trace", "attributes", "gen_ai.request.model")
    assert shape.reason_against(shape.read_path("trace.attributes.gen_ai.request.mode")) is not None
