"""Advice that no test can follow, by module, each with the reason."""

from __future__ import annotations

BROKEN_DISK = "a disk that is full or broken"
RESTARTED_SERVER = "a server of a database that is restarted, or at its limits, while it is read"
BUG = "a bug of ours, which is reported to us"
CLUSTER = "a cluster of several machines, and its settings"
UNKNOWN_FAULT = "an error of a database that nobody has met yet"

FORGED_MANIFEST = "a text column with a top or a bottom, which no job can declare: a manifest that somebody changed"

LARGE_TABLE = "a table, a folder or a question of a size that no quick test has"
BUILT_AT_IMPORT = "a check that is built when its module is imported: validation.py gives its advice, not a line of it"
TIME_LIMIT = "a time limit, which ends a computation wherever it is: one in some twenty runs ends in another refusal"

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
    "cli/attack.py": {"a greater --budget, or none.": TIME_LIMIT},
    "query/sql.py": {"… IN (...), with the values that are meant.": FORGED_MANIFEST},
    "publish.py": {"reporting it, with the job file.": BUG},
    "utility/workload.py": {"np.random.default_rng(1).": BUILT_AT_IMPORT},
    "attacks/group_membership.py": {
        "a sample of the data and its release, or fewer quasi-identifiers.": LARGE_TABLE,
    },
    "audit/byte_search.py": {
        "a machine with more memory, or writing the file with smaller pages.": LARGE_TABLE,
    },
    "audit/result.py": {
        "a function in audit/measure/ that the promise's row in the catalogue names.": BUG,
    },
    "estimate/condition.py": {"a question with fewer different constants.": LARGE_TABLE},
    "format/data_files.py": {"a machine with more memory.": LARGE_TABLE},
    "models/p_privacy.py": {"reporting it, with the job.": BUG},
    "query/analyses.py": {
        "a coarser column.": LARGE_TABLE,
        "fewer columns, or coarser ones.": LARGE_TABLE,
    },
    "query/group_by.py": {"fewer columns, or coarser ones.": LARGE_TABLE},
    "release/bundle.py": {
        "fewer different values in the sensitive column, or a smaller hierarchy.": LARGE_TABLE,
    },
    "release/export_files.py": {"a folder of CSV files (reticent export RELEASE FOLDER).": LARGE_TABLE},
}
