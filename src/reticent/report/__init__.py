"""The report: what is known of a release as one dictionary of facts, rendered as a page, Markdown or JSON.

    rt.report("release").html()       the public edition: a function of the folder, byte for byte the same again

The public edition is made from the folder alone. The internal edition is made with the source too, and is for the
owner.
"""

from reticent.report.report import Report, report

__all__ = ["Report", "report"]
