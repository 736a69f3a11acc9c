"""Places on the disk as Spark is told of them: as they are named, whatever a name holds.

Spark's paths are no addresses of the web: `%20` is not a blank there, but a folder of that name, which nobody would remove.  And
it takes `a[1]` for a pattern, unless it is told not to.
"""

from __future__ import annotations

from pathlib import Path

AS_NAMED = {"__globPaths__": "false"}  # for whatever reads


def address(path: Path) -> str:
    return f"file://{path.resolve()}"
