"""Writing one file: whole or not at all, and never over another without being told to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.errors import OutputExists


@contextmanager
def new_file(target: Path, force: bool) -> Iterator[Path]:
    """A path to write to; what is there when the block ends takes the target's place."""
    from reticent.owner import staging

    if target.is_dir() or (target.exists() and not force):
        raise OutputExists(
            f"{target} exists.", attempt="another name" + (" (-o)." if target.is_dir() else " (-o), or --force.")
        )
    with staging.new_file(target) as path:
        yield path
