"""Help for authors before anything is saved: parse, check, templates, and a text for an AI assistant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from scorewright.api.context import InContext, ProjectId
from scorewright.api.schemas import evaluators as wire
from scorewright.api.schemas.written_evaluators import write_parsed
from scorewright.domain.convention import Convention, Level
from scorewright.domain.source_language import Language
from scorewright.services.copilot_prompt import copilot_prompt
from scorewright.services.evaluator_drafts import check_draft, parse_draft
from scorewright.services.evaluator_templates import templates

#: Stands before the routes of single evaluators, whose names are any.
router = APIRouter(prefix="/evaluators", tags=["evaluators"])


@router.post("/parse")
def parse_evaluator(
    body: wire.EvaluatorSource, context: InContext, project: ProjectId
) -> wire.ParsedEvaluator:
    """Say how a source is called, and what it takes; nothing is saved or run."""
    del project
    fields = body.model_dump(exclude_unset=True, exclude={"source"})
    return write_parsed(parse_draft(body.source, fields, context.source_reader.read), body)


@router.post("/check")
def check_evaluator(
    body: wire.EvaluatorDraft, context: InContext, project: ProjectId
) -> wire.CheckedEvaluator:
    """Say what is wrong with an evaluator, as `scorewright check --format json`; nothing is saved or run."""
    del project
    fields = body.model_dump(exclude_unset=True, exclude={"source"})
    found = check_draft(body.source, fields, context.source_reader.read)
    return wire.CheckedEvaluator.model_validate(found)


@router.get("/templates")
def list_evaluator_templates(
    project: ProjectId,
    convention: Convention | None = None,
    language: Language | None = None,
) -> wire.EvaluatorTemplates:
    """List evaluators to start from, by convention and language."""
    del project
    found = [
        wire.EvaluatorTemplate(convention=one.convention, language=one.language, source=one.source)
        for one in templates()
        if convention in (None, one.convention) and language in (None, one.language)
    ]
    return wire.EvaluatorTemplates(items=found)


@router.get("/copilot-prompt")
def get_copilot_prompt(
    project: ProjectId,
    convention: Convention = Convention.VARIABLES,
    language: Language = "python",
    level: Annotated[Level | None, Query(description="trace_object only; else record")] = None,
) -> wire.CopilotPrompt:
    """Write what to paste into an AI assistant to have an evaluator written."""
    del project
    return wire.CopilotPrompt(text=copilot_prompt(convention, language, level))
