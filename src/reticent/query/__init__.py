"""Questions in SQL: text -> condition and aggregate -> `Answer`, and the same question as plain SQL over a release's tables."""

from reticent.query.run import QueryOptions as QueryOptions
from reticent.query.run import ask as ask
