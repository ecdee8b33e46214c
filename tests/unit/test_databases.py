"""What tests do where there is no PostgreSQL."""

from __future__ import annotations

import pytest

import databases


@pytest.mark.parametrize(
    ("required", "outcome"), [("", pytest.skip.Exception), ("postgresql", pytest.fail.Exception)]
)
def test_without_postgresql_tests_skip_unless_it_is_required(
    required: str, outcome: type[BaseException], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(databases, "postgres_binaries", lambda: None)
    monkeypatch.setenv(databases.REQUIRED, required)

    with pytest.raises(outcome, match="apt-get install postgresql"):
        databases.require_postgres()
