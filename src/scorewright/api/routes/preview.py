"""Try evaluators before they are saved."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Response

from scorewright.api.context import Context, InContext, ProjectId
from scorewright.api.schemas.preview import Preview, PreviewRequest
from scorewright.api.schemas.sources import to_description
from scorewright.domain.convention import Level
from scorewright.services import preview as service
from scorewright.services.purity import Purity
from scorewright.services.source_items import first_items, given_items, numbered_items
from scorewright.services.source_opening import filter_of_items, open_described
from scorewright.sources.picked import PickedItems

router = APIRouter(tags=["preview"])


@router.post("/preview", response_model=Preview)
def preview_evaluators(body: PreviewRequest, project: ProjectId, context: InContext) -> Response:
    """Run evaluators over a few items in the sandbox; nothing is kept.

    What is wrong with one evaluator stands at it, and the others are tried all the same.
    """
    done = service.preview(
        context.database,
        project,
        body.subjects(),
        lambda levels: _items(body, project, context, levels),
        limits=body.limits(),
        total_s=context.preview_s,
        purity=body.purity,
        pool=context.runners,
        read=context.source_reader.read,
    )
    document = {
        "items": [done.items.item_id(at) for at in range(1, done.items.size + 1)],
        "evaluators": [_trial(trial) for trial in done.trials],
        "clock_s": done.clock_s,
        "duration_ms": done.duration_s * 1000,
        "stopped_early": done.stopped_early,
    }
    return Response(msgspec.json.encode(document), media_type="application/json")


def _items(
    body: PreviewRequest, project: str, context: Context, levels: frozenset[Level]
) -> PickedItems:
    if body.source is None:
        return given_items(body.items or [])
    description = to_description(body.source)
    source = open_described(context.database, project, description, levels=levels)
    if body.numbers is not None:
        return numbered_items(source, body.numbers)
    return first_items(
        source, levels=levels, filter_text=filter_of_items(description), n=body.n
    ).items


def _trial(trial: service.Trial) -> dict[str, Any]:
    evaluator = trial.evaluator
    shown = "digest language convention level score_range threshold".split()
    return {
        "name": None if evaluator is None else evaluator.name,
        **{name: None if evaluator is None else getattr(evaluator, name) for name in shown},
        "warnings": [] if evaluator is None else evaluator.warnings,
        "error": trial.refusal,
        "runner": trial.runner,
        "results": trial.records,
        "judged_twice": trial.judged_twice,
        "differing": trial.differing,
        "purity": None if trial.purity is None else _purity(trial.purity),
    }


def _purity(purity: Purity) -> dict[str, Any]:
    return {"is_pure": purity.is_pure, **msgspec.structs.asdict(purity)}
