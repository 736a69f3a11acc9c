"""Faults of a request gathered and told together, so that a job file is mended in one go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reticent.errors import JobError, RequestError


class Gathered:
    """`with gathered.one():` around each part that may be at fault; `settle` raises all faults as one error, or the only one."""

    def __init__(self) -> None:
        self.errors: list[RequestError] = []

    @contextmanager
    def one(self) -> Iterator[None]:
        try:
            yield
        except RequestError as error:
            self.errors.append(error)

    def settle(self) -> None:
        if len(self.errors) == 1:
            raise self.errors[0] from None
        if self.errors:
            kind = type(self.errors[0]) if len({type(error) for error in self.errors}) == 1 else JobError
            kind = JobError if kind.__init__ is not RequestError.__init__ else kind
            raise kind(f"{len(self.errors)} faults:\n" + "\n".join(f"- {error}" for error in self.errors)) from None
