"""Several methods, promises or parameters on one source, measured side by side.

Nothing is published, nothing enters the ledger.
"""

from reticent.compare.compare import Comparison as Comparison
from reticent.compare.compare import compare as compare
