"""What `publish` made passes the audit against its source, whatever the table."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import reticent as rt
from tests.support import strategies
from tests.support.release_folders import columns_of, frame_of


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    strategies.tables(least_rows=3, most_rows=40, missing_sensitive=True, awkward=True, carried=True),
    strategies.promises(["k-anonymity", "beta-likeness", "t-closeness"], hierarchical=False),
    st.sampled_from(["parquet", "csv"]),
)
def test_a_release_passes_the_audit_against_its_source(table, promise, format):
    columns = {
        name: rt.Column(column.role, column.type, column.hierarchy, column.order, missing="category", acknowledge=True)
        for name, column in columns_of(table).items()
    }
    model = {"k-anonymity": rt.KAnonymity, "beta-likeness": rt.BetaLikeness, "t-closeness": rt.TCloseness}[
        promise["model"]
    ]
    asked = {name: value for name, value in promise.items() if name != "model"}
    job = rt.Job(columns=columns, promises=[model(**asked)], release=rt.Output(format=format))
    frame = frame_of(table)
    with tempfile.TemporaryDirectory() as folder:
        try:
            rt.publish(job, frame=frame, to=Path(folder) / "release", ledger=Path(folder) / "ledger")
        except rt.PromiseUnreachable:
            assume(False)
        found = rt.audit(Path(folder) / "release", source=frame, job=job)
    assert found.kept is True, str(found)
