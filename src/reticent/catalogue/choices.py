"""The choices of options as types, so that an editor completes them and a type checker finds a wrong word.

The fields of the catalogue hold the same choices as data; a test compares the two.
"""

from __future__ import annotations

from typing import Literal

ColumnType = Literal["numeric", "ordinal", "categorical", "date"]
MissingChoice = Literal["refuse", "category", "withhold"]
BeyondChoice = Literal["refuse", "withhold"]
AmbiguityChoice = Literal["refuse", "first"]
UndeclaredChoice = Literal["refuse", "drop"]
FileFormat = Literal["parquet", "csv"]
FormulaChoice = Literal["keep", "quote"]
EngineName = Literal["local", "stream", "spark"]
