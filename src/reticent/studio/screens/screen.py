"""What a screen is: a question, why it is asked, what it shows, and what its buttons do to the job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import FormData, QueryParams
from starlette.responses import Response

from reticent.studio.desk import Desk

Action = Callable[[Desk, FormData], str | None]  # the screen to show next; None: the same
View = Callable[[Desk, QueryParams], Response]


@dataclass(frozen=True, slots=True)
class CommandLines:
    """The command and the Python lines that do what a screen does."""

    shell: str
    python: str


@dataclass(frozen=True, slots=True)
class Screen:
    """One screen of the studio.

    `show` returns what its template needs (`<name>.html`).  `actions` are its buttons: each takes the desk and the form,
    edits the job file or starts a run, and raises one of our errors where it refuses.  `find_obstacle` returns the reason
    why the next screen cannot be entered yet; empty where it can.  `views` are parts that are pages of their own: a report
    in a frame, a file to be kept.
    """

    name: str
    title: str
    question: str
    why: str
    example: str
    docs: str
    show: Callable[[Desk], Mapping[str, Any]]
    write_commands: Callable[[Desk], CommandLines]
    actions: Mapping[str, Action] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    find_obstacle: Callable[[Desk], str] = lambda desk: ""
    is_done: Callable[[Desk], bool] = lambda desk: False
