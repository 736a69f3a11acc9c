"""Where a session that we start keeps its catalogue's folder and, on one machine, the rows that it spills.

Spark would make the first in the working directory of whoever runs it; nothing is written there, because we only read tables.
The second would stay in the temporary folder after a kill.  Whoever says where they are, or keeps tables by Hive, has them where
they said.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from reticent.engines.spark.session_folder import make_session_folder

WHERE, CATALOGUE = "spark.sql.warehouse.dir", "spark.sql.catalogImplementation"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
SPILLED, SPILLED_BY_ENVIRONMENT = "spark.local.dir", "SPARK_LOCAL_DIRS"


def apart(config: Mapping[str, str]) -> dict[str, str]:
    """The setting for a session with this configuration, if nobody has made it."""
    said = {**_defaults(), **config}
    if WHERE in said or said.get(CATALOGUE, "in-memory") != "in-memory":
        return {}
    return {WHERE: make_session_folder("catalogue").as_uri()}


def spill_settings(config: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that have a session on this machine spill, and Java keep its own files, in the session's folder.

    What somebody set is left as it is.
    """
    stated = {**_defaults(), **config}
    settings = {}
    if SPILLED not in stated and not os.environ.get(SPILLED_BY_ENVIRONMENT):
        settings[SPILLED] = str(make_session_folder("spilled"))
    if JAVA_OPTIONS not in stated:
        settings[JAVA_OPTIONS] = f'"-Djava.io.tmpdir={make_session_folder("java")}"'
    return settings


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
