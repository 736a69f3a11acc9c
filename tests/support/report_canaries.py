"""Values of people that no report may show."""

from __future__ import annotations

IDENTIFIER = "Zquxname77"


DROPPED = "Zquxdropped77"


WITHHELD = "Zquxwithheld77"


HOSTILE = "<script>alert('x')</script>"


OUTLIER = 997733
