"""Mondrian: strict cuts over cells, the nodes of a level, what accepts both sides of a cut, and the ways to choose one."""

from reticent.methods.mondrian.method import Mondrian as Mondrian
