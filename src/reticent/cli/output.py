"""Writing one file: whole or not at all, and never over another without being told to."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reticent.errors import OutputExists


@contextmanager
def new_file(target: Path, force: bool) -> Iterator[Path]:
    """A path to write to; what is there when the block ends takes the target's place."""
    from reticent.owner.store import staged
    from reticent.release.disk import writing

    if target.is_dir() or (target.exists() and not force):
        raise OutputExists(
            f"{target} exists.", attempt="another name" + (" (-o)." if target.is_dir() else " (-o), or --force.")
        )
    with staged(target) as folder:
        with writing(target):
            yield folder / target.name
            os.replace(folder / target.name, target)
        shutil.rmtree(folder, ignore_errors=True)
