"""Advice that no test can follow, by module, each with the reason."""

from __future__ import annotations

BROKEN_DISK = "a disk that is full or broken"
RESTARTED_SERVER = "a server of a database that is restarted, or at its limits, while it is read"
BUG = "a bug of ours, which is reported to us"
CLUSTER = "a cluster of several machines, and its settings"
UNKNOWN_FAULT = "an error of a database that nobody has met yet"

BUILT_AT_IMPORT = "a check that is built when its module is imported: validation.py gives its advice, not a line of it"

UNFOLLOWED: dict[str, dict[str, str]] = {
    "data/database_errors.py": {
        "again; the server was restarted, or somebody ended the connection.": RESTARTED_SERVER,
        "a query that reads less, or a higher limit on the server.": RESTARTED_SERVER,
        "more room on the disk of the database.": BROKEN_DISK,
        "more room, or another disk.": BROKEN_DISK,
        "a database that can be written, and a name that its client accepts.": UNKNOWN_FAULT,
    },
    "engines/spark/error_translation.py": {
        "{next((text for kind, text in _START_ADVICE.items() if master.startswith(kind)))}": CLUSTER,
        "more room, or spark.local.dir elsewhere.": BROKEN_DISK,
        "--regions, a greater spark.driver.maxResultSize, or fewer distinct values (round_to, a coarser column).": CLUSTER,
        "the logs of the executors, and partitions that all have the columns and types of the first.": CLUSTER,
    },
    "publish.py": {"reporting it, with the job file.": BUG},
    "utility/workload.py": {"np.random.default_rng(1).": BUILT_AT_IMPORT},
}
