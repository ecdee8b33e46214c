"""Edits that notice each other: what can be edited has an ETag, and is changed under the one it was read with."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Header
from starlette.exceptions import HTTPException

from scorewright.domain.errors import StaleError


def etag(revision: int) -> str:
    """Write a revision as an ETag."""
    return f'"{revision}"'


def expected_revision(
    if_match: Annotated[
        str | None, Header(max_length=100, description="the ETag it was read with; * for any")
    ] = None,
) -> int | None:
    """Return the revision that a request is about; None for any.

    Raises:
        HTTPException: The caller's: the header is missing.
        StaleError: The caller's: it is no ETag of ours.
    """
    if if_match is None:
        raise HTTPException(
            HTTPStatus.PRECONDITION_REQUIRED,
            'If-Match: say which state is to be changed: its ETag, as in If-Match: "3"',
        )
    if if_match.strip() == "*":
        return None
    tag = re.fullmatch(r'"(\d{1,9})"', if_match.strip(), re.ASCII)
    if tag is None:
        raise StaleError(
            'If-Match: not an ETag of this interface; send it as it was got, as in "3"'
        )
    return int(tag[1])


ExpectedRevision = Annotated[int | None, Depends(expected_revision)]
