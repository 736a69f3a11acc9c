"""Mondrian: strict cuts over cells, the nodes of a level, the judge of both sides of a cut, and the ways to choose one."""

from reticent.methods.mondrian.method import Mondrian as Mondrian
