"""Files of other programs: Excel, and SPSS, Stata and SAS, each by an extra."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from reticent.table.database import driver

EXCEL = {".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"}
STATISTICS = {
    ".sav": "read_sav",
    ".zsav": "read_sav",
    ".por": "read_por",
    ".dta": "read_dta",
    ".sas7bdat": "read_sas7bdat",
    ".xpt": "read_xport",
}


def read(path: Path) -> pl.DataFrame:
    """The first sheet, or the data of the file; codes as they are stored, not their labels."""
    if path.suffix.lower() in EXCEL:
        driver("fastexcel", "excel")
        return pl.read_excel(path, infer_schema_length=None)
    reader = getattr(driver("pyreadstat", "statfiles"), STATISTICS[path.suffix.lower()])
    frame, _ = reader(str(path), output_format="polars")
    return whole_numbers(frame)


def whole_numbers(frame: pl.DataFrame) -> pl.DataFrame:
    """These formats store every number as a float: a column of whole numbers becomes one again."""
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    whole = [name for name in floats if (frame[name].is_null() | (frame[name].round() == frame[name])).all()]
    return frame.with_columns(pl.col(whole).cast(pl.Int64)) if whole else frame
