"""API keys."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from scorewright.api.moments import moment, moment_or_none
from scorewright.services.access import ApiKey, NewKey, Scope


class ApiKeyRequest(BaseModel):
    """A key to be made."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=128)]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)]
    expires_at: AwareDatetime | None = Field(None, description="null: never")


class ApiKeyResponse(BaseModel):
    """A key, without its secret."""

    id: str
    name: str
    prefix: str = Field(description="how the secret starts")
    scopes: list[Scope]
    all_projects: bool
    created_at: str
    expires_at: str | None
    last_used_at: str | None = Field(description="half a minute late")
    revoked_at: str | None


class NewApiKeyResponse(ApiKeyResponse):
    """A key that was just made."""

    secret: str = Field(description="send it as Authorization: Bearer SECRET; it is shown only now")


def describe_key(key: ApiKey) -> ApiKeyResponse:
    """Describe a key."""
    return ApiKeyResponse.model_validate(_fields(key))


def describe_new_key(new: NewKey) -> NewApiKeyResponse:
    """Describe a key with its secret."""
    return NewApiKeyResponse.model_validate({**_fields(new.key), "secret": new.secret})


def _fields(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": list(key.scopes),
        "all_projects": key.project_id is None,
        "created_at": moment(key.created_us),
        "expires_at": moment_or_none(key.expires_us),
        "last_used_at": moment_or_none(key.last_used_us),
        "revoked_at": moment_or_none(key.revoked_us),
    }
