"""Cases of advice: a request that is refused, and the requests that its advice leads to.

A case is a generator of calls. The first is refused with the advice that the case is registered for; each of the others
follows one alternative of it and is accepted. A call returns, or runs a command line that ends with 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reticent.cli.main import main
from reticent.errors import ReticentError
from tests.advice.coverage import FOLLOWED, note_advice, require_given


@dataclass(frozen=True)
class CommandOutcome:
    """What a command line printed, and its exit code."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Desk:
    """Where a case is tried: a folder of its own, which is the working directory, and a command line."""

    folder: Path
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def run(self, *words: object) -> CommandOutcome:
        code = main([str(word) for word in words])
        return CommandOutcome(code, *self.capture.readouterr())

    def command(self, *words: object) -> Callable[[], CommandOutcome]:
        """Return a call of the command line."""
        return lambda: self.run(*words)

    def with_setting(self, target: Any, name: str, value: Any, call: Callable[[], Any]) -> Callable[[], Any]:
        """Return a call that runs while a limit, or another name of a module, has another value."""

        def run() -> Any:
            with self.patch.context() as patch:
                patch.setattr(target, name, value)
                return call()

        return run


Steps = Iterator[Callable[[], Any]]
Follow = Callable[[Desk], Steps]


@dataclass(frozen=True)
class Case:
    """A text that a module advises, and how it is provoked and followed."""

    module: str
    text: str
    follow: Follow

    def __str__(self) -> str:
        return self.follow.__name__

    def run(self, desk: Desk) -> None:
        """Fail unless the first call is refused with the advice, and all that follow it are accepted."""
        steps = self.follow(desk)
        refused = next(steps)
        with note_advice() as given:
            refusal = find_refusal(refused)
        assert refusal is not None, "the first request was not refused"
        require_given(self.module, self.text, given)
        followed = 0
        for step in steps:
            followed += 1
            further = find_refusal(step)
            assert further is None, f"{refusal}\n  and request {followed} that follows this is refused: {further}"
        assert followed, "nothing follows the advice"


@dataclass
class CaseTable:
    """The cases of some modules."""

    cases: list[Case] = field(default_factory=list)

    def follows(self, module: str, *texts: str) -> Callable[[Follow], Follow]:
        """Say that a case follows texts of a module, as `inventory.py` lists them."""
        FOLLOWED.update((module, text) for text in texts)

        def register(follow: Follow) -> Follow:
            self.cases += [Case(module, text, follow) for text in texts]
            return follow

        return register


def find_refusal(call: Callable[[], Any]) -> str | None:
    """Return None if a request is accepted, else what it is refused with."""
    try:
        outcome = call()
    except ReticentError as error:
        return str(error)
    return outcome.err if isinstance(outcome, CommandOutcome) and outcome.code != 0 else None
