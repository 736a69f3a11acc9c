"""Mondrian: strict cuts over cells.

nodes        the nodes of a level, what spans lose, and where to start if labels must tell who is in which group
acceptance   whether both sides of a cut keep every promise cuts         the ways to choose a cut: by loss, or at the
median method       the method, and blind cuts
"""

from reticent.methods.mondrian.method import Mondrian as Mondrian
