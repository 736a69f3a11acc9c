"""A job whose method and one promise are those of the example plugin."""

from __future__ import annotations

JOB = """\
[source]
path = "people.csv"

[columns]
age     = "quasi-identifying"
city    = "quasi-identifying"
illness = "sensitive"

[[promise]]
model = "acme:crowds"
least = 4

[[promise]]
model = "k-anonymity"
k = 3

[method]
name = "acme:slices"
"""
