"""What declared the domain that a release draws sensitive values from."""

from __future__ import annotations

from reticent.release.manifest import Manifest


def declaration_of(manifest: Manifest) -> str | None:
    """What declared the domain that values were drawn from; None where it is the values that occur.

    Manifests of older versions do not say it: there a hierarchy, an order or the method's own list shows it.
    """
    if "declared" in manifest.own:
        return str(manifest.own["declared"])
    column = manifest.sensitive
    if column.hierarchy is not None:
        return "hierarchy"
    if column.order is not None:
        return "order"
    return "list" if "domain" in manifest.method.parameters else None
