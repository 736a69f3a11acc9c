"""A plan in two levels: regions cut from a sample, each planned by itself against the whole table's distribution."""

from reticent.methods.regions.plan import fine as fine
from reticent.methods.regions.plan import plan as plan
from reticent.methods.regions.plan import refuse as refuse
