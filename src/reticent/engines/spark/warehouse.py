"""Where a session that we start keeps its catalogue's folder: Spark would make one in the working directory of whoever runs it.

Nothing is written there, because we only read tables.  Whoever says where it is, or keeps tables by Hive, has it where they said.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

WHERE, CATALOGUE = "spark.sql.warehouse.dir", "spark.sql.catalogImplementation"


def apart(config: Mapping[str, str]) -> dict[str, str]:
    """The setting for a session with this configuration, if nobody has made it."""
    said = {**_defaults(), **config}
    if WHERE in said or said.get(CATALOGUE, "in-memory") != "in-memory":
        return {}
    return {WHERE: _folder().as_uri()}


@cache
def _folder() -> Path:
    """Gone when the process ends."""
    found = Path(tempfile.mkdtemp(prefix="reticent-catalogue-")).resolve()
    atexit.register(shutil.rmtree, found, ignore_errors=True)
    return found


def _defaults() -> dict[str, str]:
    """What spark-defaults.conf says, which Spark reads by itself: a name, and after a blank, "=" or ":" its value."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (os.path.join(home, "conf") if home else None)
    if folder is None:
        return {}
    try:
        lines = (Path(folder) / "spark-defaults.conf").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (
        line.replace("=", " ", 1).replace(":", " ", 1).split(None, 1) for line in lines if line.strip()[:1] not in "#!"
    )
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}
