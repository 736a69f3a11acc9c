"""`[about]` of a job: what the publisher says of a release to those who receive it.

Its texts are published as they are written, in manifest, README, report and exports. They are checked here for what the
publisher writes, and once more where a manifest is read (`format/schema_checks.py`): a release may come from a
stranger, and its texts are shown on pages and terminals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from reticent.catalogue import JOB_TABLES
from reticent.errors import JobError
from reticent.validation import check_parameters, document_parameters, is_about, require_known_options


@document_parameters(JOB_TABLES["about"])
@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the publisher says of a release; every text is optional, and all are published as they are written."""

    title: str | None = None
    publisher: str | None = None
    period: str | None = None
    contact: str | None = None
    licence: str | None = None
    citation: str | None = None
    purpose: str | None = None
    recipients: tuple[str, ...] | None = None
    earlier: tuple[str, ...] | None = None

    if TYPE_CHECKING:  # what may be given; the fields are what is kept

        def __init__(
            self,
            *,
            title: str | None = None,
            publisher: str | None = None,
            period: str | None = None,
            contact: str | None = None,
            licence: str | None = None,
            citation: str | None = None,
            purpose: str | None = None,
            recipients: str | Sequence[str] | None = None,
            earlier: str | Sequence[str] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_parameters(self, row=JOB_TABLES["about"], owner="about")
        for name in ("recipients", "earlier"):
            value: Any = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, (value,))

    def to_plain(self) -> dict[str, Any]:
        """Return the texts that are set, as a manifest and a job file have them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in values.items()
            if value is not None
        }


def resolve_about(about: Any) -> About | None:
    """Return the `About` of a table as in a job file, or of an `About`; None if nothing is said.

    Raises `RequestError` for a name that it does not have, and `JobError` for a text that cannot be published.
    """
    if about is None:
        return None
    if isinstance(about, Mapping):
        require_known_options(about, [field.name for field in fields(About)], "about")
        about = About(**about)
    try:
        is_about(about, "about")
    except JobError as error:
        raise JobError(error.what, attempt='about = {"title": "..."}, or rt.About(title="...").') from None
    return about if about.to_plain() else None
