"""Runs that take no process: the command line in this one, or answers that a test hands in."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from threading import Lock
from typing import Any

from reticent.studio.runs import Run, Runs

_printing = Lock()  # of this process there is one standard output, and requests come in threads


class EndedProcess:
    """What a run keeps of its child, once that has ended."""

    def send_signal(self, signal: int) -> None:
        raise ProcessLookupError

    def wait(self, seconds: float | None = None) -> int:
        return 0

    def kill(self) -> None:
        raise ProcessLookupError


class QuickRuns(Runs):
    """Each run ends before `start` returns; `answer` gives its exit code and result, by default the command line does."""

    answer: Callable[[Sequence[str]], tuple[int, Any]] | None = None

    def start(self, words: Sequence[str], key: str, *, program: Sequence[str] = ()) -> Run:
        if program:  # a module of ours that is no command
            return super().start(words, key, program=program)
        code, result = (self.answer or self._run_here)(words)
        run = Run(tuple(words), key, EndedProcess(), exit_code=code, result=result)  # type: ignore[arg-type]
        run.ended = run.began + 1
        self._runs[run.id] = run
        return run

    def _run_here(self, words: Sequence[str]) -> tuple[int, Any]:
        from reticent.cli.main import main

        output = io.StringIO()
        with _printing, chdir(self.folder), redirect_stdout(output), redirect_stderr(io.StringIO()):
            code = main([*words, "--json"])
        return code, json.loads(output.getvalue() or "null")


def use_quick_runs(desk: Any, answer: Callable[[Sequence[str]], tuple[int, Any]] | None = None) -> QuickRuns:
    """Give a desk runs that take no process."""
    runs = QuickRuns(desk.project.folder, dict(os.environ))
    runs.answer = answer
    desk.runs = runs
    desk.memory.clear()  # a queue may have been made of the runs before
    return runs
