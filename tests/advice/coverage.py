"""Proof that advice is followed: tests say which texts of the source they follow, and it is seen that they were given.

A test that follows advice is an ordinary test: it does what is refused, reads what is advised, does that, and it works.

    @follows("data/files.py", "a file, or a folder of Parquet files.")
    def test_a_folder_of_something_else(place):
        with pytest.raises(SourceError):
            publish(path="notes")
        publish(path="parts")

The test fails unless exactly this advice was given while it ran, by a line of that module. Short ones are rows of a table:
`Trial(module, text, what is refused, what is then accepted)`. `test_coverage.py` fails if a text of the source is followed
by no test, and does not stand in `unfollowed.py` with the reason.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from reticent.errors import ReticentError
from tests.advice.inventory import ROOT, Advice, list_advice

Test = TypeVar("Test", bound=Callable[..., Any])
FOLLOWED: set[tuple[str, str]] = set()
"""Module and text of all advice that a test follows; filled as the tests are imported."""


@dataclass(frozen=True)
class GivenAdvice:
    """What was advised while a test ran, and the lines of ours that were being run when it was."""

    attempt: str
    places: frozenset[tuple[str, int]]

    def is_from(self, advice: Advice) -> bool:
        lines = range(advice.line, advice.last_line + 1)
        is_there = any(
            module == advice.module and (line in lines or not advice.in_function) for module, line in self.places
        )
        return is_there and advice.matches(self.attempt)


def follows(module: str, *texts: str) -> Callable[[Test], Test]:
    """Say that a test follows these texts of a module, as `inventory.py` lists them; several modules need several lines."""
    FOLLOWED.update((module, text) for text in texts)

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(*arguments: Any, **named: Any) -> None:
            with note_advice() as given:
                test(*arguments, **named)
            for text in texts:
                require_given(module, text, given)

        return run  # type: ignore[return-value]

    return decorate


class Trial:
    """One text of a module, a call that is refused with it, and the call that it advises."""

    def __init__(self, module: str, text: str, refused: Callable[[], Any], accepted: Callable[[], Any]):
        self.module, self.text, self.refused, self.accepted = module, text, refused, accepted
        FOLLOWED.add((module, text))

    def __str__(self) -> str:
        return f"{self.module} {self.text}"[:60]

    def run(self) -> None:
        with note_advice() as given, pytest.raises(ReticentError):
            self.refused()
        require_given(self.module, self.text, given)
        self.accepted()


def require_given(module: str, text: str, given: list[GivenAdvice]) -> None:
    """Fail unless a text of the source was among what was advised."""
    places = [advice for advice in list_advice() if (advice.module, advice.text) == (module, text)]
    assert places, f"{module} advises no {text!r}"
    assert any(each.is_from(place) for each in given for place in places), (
        f"{module} did not advise {text!r}; advised was {[each.attempt for each in given]}"
    )


@contextmanager
def note_advice() -> Iterator[list[GivenAdvice]]:
    """Note what every error advises that is made meanwhile in this process."""
    given: list[GivenAdvice] = []
    make_error = ReticentError.__init__

    def make_noted_error(self: ReticentError, *arguments: Any, **named: Any) -> None:
        make_error(self, *arguments, **named)
        given.append(GivenAdvice(self.attempt, frozenset(_list_places())))

    ReticentError.__init__ = make_noted_error  # type: ignore[method-assign]
    try:
        yield given
    finally:
        ReticentError.__init__ = make_error  # type: ignore[method-assign]


def _list_places() -> Iterator[tuple[str, int]]:
    """Yield module and line of all our functions that are being run."""
    frame = sys._getframe(1)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            yield path.relative_to(ROOT).as_posix(), frame.f_lineno
        frame = frame.f_back


def list_followed() -> set[tuple[str, str]]:
    """Return module and text of all advice that the tests of this folder follow."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        importlib.import_module(f"tests.advice.{path.stem}")
    return FOLLOWED
