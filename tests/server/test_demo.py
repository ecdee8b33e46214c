"""The demo: there once, also where loading it was broken off."""

from __future__ import annotations

import pytest

from run_parts import work_off
from scorewright.services import demo, runs
from scorewright.services.server_parts import make_parts
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import default_project_id, ensure_default_project


def test_a_demo_that_was_broken_off_is_completed_and_then_left_alone(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    ensure_default_project(database)
    parts = make_parts(database)
    with monkeypatch.context() as broken:
        broken.setattr(demo, "answers", None)
        with pytest.raises(TypeError):
            demo.load_demo(database, parts)

    started = demo.load_demo(database, parts)

    work_off(database, parts)
    project = default_project_id(database)
    found = [runs.find(database, project, one.run_id) for one in started]
    assert [(one.status, one.total) for one in found] == [("completed", 40), ("completed", 12)]
    assert demo.load_demo(database, parts) == []
