"""Refuses to compute in a forked child of a process that has computed already: the child would wait for ever.

`os.fork` copies one thread.  Polars computes in threads of its own, which start with the first table and which a child
does not have: a child that computes waits for them until it is killed.  So a fork of a process in which they run is
recorded, and every call in the child is refused before it begins.  A process that has only imported this package may
fork.
"""

from __future__ import annotations

import os

from reticent.operating_system import list_thread_names

_POOL_THREAD = "polars-"  # and a number
_has_computed = False
_lost_threads = False


def require_not_forked() -> None:
    """Raise in a process that was forked from one that had computed; elsewhere, note that this one computes."""
    global _has_computed
    if _lost_threads:
        from reticent.errors import RequestError

        raise RequestError(
            "This process was forked from one that had computed tables already, and lacks its threads.",
            why="Polars computes in threads, which a fork does not copy: any call would wait for them for ever.",
            attempt='multiprocessing.get_context("spawn") or "forkserver" instead of "fork", workers that are started before the '
            "first call (gunicorn without --preload), or a subprocess that runs the reticent command.",
        )
    _has_computed = True


def _is_pool_running() -> bool:
    """Tell whether Polars' threads run, by their names; if a system does not show them, whether anything was computed."""
    names = list_thread_names()
    if names is None:
        return _has_computed
    return any(name.startswith(_POOL_THREAD) and name.removeprefix(_POOL_THREAD).isdigit() for name in names)


class _Fork:
    """The state that both sides of a fork share."""

    in_parent = False

    @classmethod
    def begin(cls) -> None:
        cls.in_parent = _lost_threads or _is_pool_running()

    @classmethod
    def in_child(cls) -> None:
        global _lost_threads
        _lost_threads = cls.in_parent


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_Fork.begin, after_in_child=_Fork.in_child)
