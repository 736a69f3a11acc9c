"""The code that runs first on an executor.

It is sent by value, because the package may not be there yet: it imports nothing of the package. The package comes as
an archive that Spark unpacks in a folder of each executor, and precedes any installed version, so that executors run
the driver's own code.
"""

from __future__ import annotations

MISSING_MODULE_MARK = "reticent-lacks:"


def wrap_task(archive, payload, shared):
    """Make a function over the batches of a partition: it calls what `payload` names with its arguments and what is broadcast."""

    def task(batches):
        import os
        import pickle
        import sys

        if archive:
            from pyspark import SparkFiles

            folder = os.path.join(SparkFiles.getRootDirectory(), archive)
            if folder not in sys.path:
                sys.path.insert(0, folder)
        try:
            function, arguments = pickle.loads(payload)
        except ImportError as error:
            raise RuntimeError(f"{MISSING_MODULE_MARK}{error.name};") from None
        from reticent.engines.spark.error_translation import encode_fault

        try:
            yield from function(batches, *arguments, *(broadcast.value for broadcast in shared))
        except Exception as error:
            raise encode_fault(error) from None

    return task


def list_versions(rows):
    """List the versions that an executor has, for the check before any data is read."""
    import importlib
    import sys
    from importlib.metadata import PackageNotFoundError, version

    for _ in rows:
        versions: dict[str, str | None] = {"python": "{}.{}".format(*sys.version_info[:2])}
        for name in ("numpy", "polars", "pyarrow", "randomgen", "reticent"):
            try:
                module = importlib.import_module(name)
                versions[name] = version(name)
            except PackageNotFoundError:  # there, and not by pip; this is an ImportError too
                versions[name] = getattr(module, "__version__", "unknown")
            except ImportError:
                versions[name] = None
        yield versions
