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
            value = context.params.get(parameter.name)
            if isinstance(value, Path) and is_address(str(value)) and not value.exists():
                raise RequestError(
                    f"{parameter.opts[0]} takes a path, and {value} is an address.",
                    attempt="a file or folder; a database is named by url = ... in a job's [source].",
                )
        return super().invoke(context)
