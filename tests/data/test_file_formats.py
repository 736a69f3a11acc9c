"""Files of spreadsheets and statistics programs."""

from __future__ import annotations

import polars as pl
import pyreadstat
import pytest

import reticent as rt
from reticent.data.source import Source, scan_source
from reticent.errors import SourceError

FRAME = pl.DataFrame(
    {"age": [31, 32, 33, 34], "weight": [50.5, None, 61.0, 70.25], "illness": ["flu", "cold", "flu", "gout"]}
)
WRITERS = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}


@pytest.mark.parametrize("suffix", [".xlsx", *WRITERS])
def test_a_file_of_another_program_reads_as_the_table_it_holds(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    if suffix == ".xlsx":
        FRAME.write_excel(path)
    else:
        WRITERS[suffix](FRAME, str(path))
    back = scan_source(Source(path=str(path))).collect()
    assert back.equals(FRAME, null_equal=True)
    assert back.schema == FRAME.schema
    job = rt.Job(
        source=str(path),
        columns={"age": rt.quasi(), "weight": rt.quasi(), "illness": rt.sensitive()},
        promises=[rt.KAnonymity(2)],
    )
    assert rt.publish(job).manifest.rows == 4


@pytest.mark.parametrize("suffix", [".xlsx", ".sav", ".dta"])
def test_a_damaged_file_is_refused_without_quoting_it(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    path.write_bytes(b"canary-4711 " * 100)
    with pytest.raises(SourceError) as caught:
        scan_source(Source(path=str(path)))
    assert "canary" not in str(caught.value)
