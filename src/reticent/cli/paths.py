"""A path that is an address: refused before any command makes a file's or a folder's name of it, password and all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from reticent.errors import RequestError
from reticent.redaction import is_address


class Careful(TyperCommand):
    """A command that takes no address where it asks for a path."""

    def invoke(self, context: Any) -> Any:
        for parameter in self.params:
            given = context.params.get(parameter.name)
            for value in given if isinstance(given, list | tuple) else (given,):
                if isinstance(value, Path) and is_address(str(value)) and not value.exists():
                    _refuse(parameter, value)
        return super().invoke(context)


def _refuse(parameter: Any, value: Path) -> None:
    name = parameter.opts[0] if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name
    raise RequestError(
        f"{name} takes a path, and {value} is an address.",
        attempt="a file or folder; a database is named by url = ... in a job's [source].",
    )
