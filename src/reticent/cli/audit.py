"""`reticent audit RELEASE`: recount a release, or a table that another tool made, from its files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from reticent.cli.options import Json, Missing, ShowValues

EXAMPLE = "reticent audit patients-release --source patients.csv"


def audit(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A release folder, or a CSV or Parquet file made by another tool.", show_default=False)
    ],
    source: Annotated[
        Path | None,
        typer.Option("--source", metavar="DATA", help="Also compare with the data it was made from, and look for leaks.", show_default=False),
    ] = None,
    expect_digest: Annotated[
        str | None, typer.Option("--expect-digest", metavar="SHA256", help="Refuse a release whose digest is another: it was changed.", show_default=False)
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option("--job", metavar="JOB", help="For a plain file, a job with the roles and promises; for a release, the job to compare it with.", show_default=False),
    ] = None,
    population: Annotated[
        Path | None, typer.Option("--population", metavar="DATA", help="The population table that k-map promises about.", show_default=False)
    ] = None,
    quasi: Annotated[str | None, typer.Option("--quasi", metavar="A,B", help="A plain file's quasi-identifiers.", show_default=False)] = None,
    sensitive: Annotated[str | None, typer.Option("--sensitive", metavar="C", help="A plain file's sensitive columns.", show_default=False)] = None,
    hierarchy: Annotated[
        list[str] | None, typer.Option("--hierarchy", metavar="COLUMN=FILE", help="A plain file's hierarchies; may be repeated.", show_default=False)
    ] = None,
    missing: Missing = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:  # fmt: skip
    """Recount a release from its files, by formulas of its own, and say whether every promise is kept.

    Ends with 0 if all are kept (or the files cannot show it), with 3 if one is broken or the folder is damaged or changed.
    """
    from reticent.audit import audit as recount
    from reticent.cli.columns import files, names
    from reticent.cli.findings import say_findings
    from reticent.cli.printing import say_json, stages
    from reticent.errors import AuditFailed, RequestError
    from reticent.job import Job

    if not release.exists():
        raise RequestError(
            f"There is no {release}.", attempt="the folder that `reticent publish` made, or a plain file."
        )
    given: dict[str, Any] = {
        "source": source,
        "expect_digest": expect_digest,
        "job": None if job is None else Job.read(job),
        "missing": tuple(missing or ()),
        "population": population,
    }
    plain = {"--quasi": quasi, "--sensitive": sensitive, "--hierarchy": hierarchy}
    if release.is_dir():
        if asked := [name for name, value in plain.items() if value]:
            raise RequestError(f"{', '.join(asked)} describe a plain file; a release folder describes itself.")
        if missing and source is None and population is None:
            raise RequestError("--missing says how the source is read, and none is given.", attempt="--source DATA.")
    else:
        given |= {"quasi": names(quasi), "sensitive": names(sensitive), "hierarchy": files(hierarchy)}
    with stages(json) as progress:
        progress("recounting")
        found = recount(release, **given)
    if json:
        say_json(found.to_dict())
    else:
        say_findings(found.to_dict())
    return AuditFailed.exit_code if found.kept is False else 0
