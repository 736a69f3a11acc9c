"""Questions in SQL: text -> predicate and aggregate -> Answer, and the same question as plain SQL over a release's tables."""

from reticent.query.ask import How as How
from reticent.query.ask import ask as ask
