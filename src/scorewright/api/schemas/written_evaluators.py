"""Make wire models of evaluators."""

from __future__ import annotations

from scorewright.api.moments import moment, moment_or_none
from scorewright.api.schemas import evaluators as wire
from scorewright.domain.check import diagnostic_document, param_document, variable_document
from scorewright.domain.saved_evaluator import SavedEvaluator, SavedVersion
from scorewright.services.evaluator_drafts import ParsedDraft, definition_fields
from scorewright.services.saved_evaluators import Kept


def write_entry(saved: SavedEvaluator) -> wire.EvaluatorEntry:
    """Write an evaluator for a list."""
    return wire.EvaluatorEntry(
        id=saved.evaluator_id,
        name=saved.name,
        display_name=saved.display_name,
        description=saved.description,
        tags=list(saved.tags),
        type=saved.type,
        level=saved.level,
        convention=saved.convention,
        language=saved.language,
        latest_version=saved.latest_number,
        revision=saved.revision,
        created_at=moment(saved.created_us),
        updated_at=moment(saved.updated_us),
        deleted_at=moment_or_none(saved.deleted_us),
    )


def write_evaluator(kept: Kept) -> wire.Evaluator:
    """Write an evaluator with a version."""
    return wire.Evaluator(
        **write_entry(kept.saved).model_dump(), version=write_version(kept.version)
    )


def write_version_entry(version: SavedVersion) -> wire.EvaluatorVersionEntry:
    """Write a version for a list."""
    evaluator = version.evaluator
    return wire.EvaluatorVersionEntry(
        number=version.number,
        digest=evaluator.digest,
        score_range=evaluator.score_range,
        threshold=evaluator.threshold,
        created_at=moment(version.created_us),
    )


def write_version(version: SavedVersion) -> wire.EvaluatorVersion:
    """Write a version."""
    evaluator = version.evaluator
    declared = definition_fields(version.definition, "params", "score_range", "threshold")
    return wire.EvaluatorVersion.model_validate(
        {
            **write_version_entry(version).model_dump(),
            "source": evaluator.source,
            "variables": [variable_document(one) for one in evaluator.variables],
            "params": [param_document(one) for one in evaluator.params],
            "declared": declared,
            "mapping": evaluator.mapping,
            "correct_answer_key": evaluator.correct_answer_key,
            "warnings": [diagnostic_document(one) for one in evaluator.warnings],
        }
    )


def write_parsed(parsed: ParsedDraft, draft: wire.EvaluatorSource) -> wire.ParsedEvaluator:
    """Write what a source is."""
    found = parsed.evaluator
    return wire.ParsedEvaluator.model_validate(
        {
            "language": draft.language,
            "convention": found and found.convention,
            "level": found and found.level,
            "variables": [variable_document(one) for one in found.variables] if found else [],
            "params": [param_document(one) for one in found.params] if found else [],
            "score_range": found and found.score_range,
            "threshold": None if found is None else found.threshold,
            "diagnostics": parsed.diagnostics,
        }
    )
