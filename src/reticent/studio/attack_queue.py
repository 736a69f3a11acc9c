"""Attacks one after the other, each a child process: what was reached is kept while the next one runs."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock, Thread

from reticent.errors import ReticentError
from reticent.studio.error_explanations import explain_error
from reticent.studio.runs import Run, Runs

SECONDS_BETWEEN_LOOKS = 0.05


@dataclass(frozen=True, slots=True)
class QueuedAttack:
    """An attack that waits: its name, the words of its command, and the key of its run."""

    name: str
    words: tuple[str, ...]
    key: str


class AttackQueue:
    """Attacks on one release that run one by one; a run that is cancelled ends the queue, unless it was skipped."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._waiting: deque[QueuedAttack] = deque()
        self._current: tuple[QueuedAttack, Run] | None = None
        self._skipped: str | None = None  # the id of the run that was skipped
        self._lock = Lock()
        self.is_active = False
        self.failure: ReticentError | None = None  # why the last attack could not be started

    @property
    def current(self) -> tuple[str, Run] | None:
        """The attack that runs, and its run."""
        current = self._current
        return None if current is None or not current[1].is_running else (current[0].name, current[1])

    @property
    def waiting(self) -> list[str]:
        with self._lock:
            return [attack.name for attack in self._waiting]

    def add(self, attacks: Sequence[QueuedAttack]) -> None:
        """Add attacks that neither wait nor run, and begin where nothing runs."""
        with self._lock:
            known = {attack.key for attack in self._waiting}
            if self._current is not None and self.is_active:
                known.add(self._current[0].key)
            self._waiting += [attack for attack in attacks if attack.key not in known]
            if self.is_active or not self._waiting:
                return
            self.is_active = True
            self.failure = None
        Thread(target=self._run_all, daemon=True).start()

    def skip(self) -> None:
        """Stop the attack that runs; the next one begins."""
        with self._lock:
            if self._current is not None:
                self._skipped = self._current[1].id
                self._current[1].cancel()

    def stop(self) -> None:
        """Stop the attack that runs, and those that wait."""
        with self._lock:
            self._waiting.clear()
            if self._current is not None:
                self._current[1].cancel()

    def _run_all(self) -> None:
        try:
            while self._run_next():
                pass
        except Exception as error:
            self.failure = explain_error(error)
            with self._lock:
                self._waiting.clear()
        finally:
            self.is_active = False

    def _run_next(self) -> bool:
        """Run the next attack to its end; False where there is none."""
        with self._lock:
            if not self._waiting:
                self.is_active = False
                return False
            attack = self._waiting.popleft()
            run = self._runs.start(attack.words, attack.key)
            self._current = (attack, run)
        while run.is_running:
            time.sleep(SECONDS_BETWEEN_LOOKS)
        with self._lock:
            if run.is_cancelled and run.id != self._skipped:
                self._waiting.clear()
        return True
