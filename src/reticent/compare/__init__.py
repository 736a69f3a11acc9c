"""Several methods, promises or parameters on one source, measured side by side.  Nothing is published, nothing enters the ledger."""

from reticent.compare.compare import compare as compare
from reticent.compare.comparison import Comparison as Comparison
